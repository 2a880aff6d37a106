package spec

import (
	"bytes"
	"regexp"
	"strings"

	"cuelang.org/go/cue"
)

// secrets are the shapes of credentials that are easy to tell from other text.
// A reference to an environment variable ($KEY, ${KEY}) is none.
var secrets = []secretShape{
	{"an API key", regexp.MustCompile(`\bsk-([A-Za-z0-9_-]{8,})`)},
	{"a bearer token", regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})`)},
	{"basic credentials", regexp.MustCompile(`(?i)\bbasic\s+([A-Za-z0-9+/]{12,}={0,2})\b`)},
	{"an access token", regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|nvapi-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|AKIA[0-9A-Z]{16})`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a URL with credentials", regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#@$"'<>]+@`)},
	{"a key in a URL", regexp.MustCompile(`(?i)[?&](?:api[_-]?key|access[_-]?token|token|key|password|secret)=[^\s&"'$<{]{6,}`)},
	{"a key in a flag", regexp.MustCompile(`(?i)--?(?:api[_-]?key|auth[_-]?token|access[_-]?token|hf[_-]?token|password)[=\s"',]+[^\s"'$<{,-][^\s"'$,\]]{5,}`)},
}

type secretShape struct {
	what    string
	pattern *regexp.Regexp
}

// find returns where s begins to be a secret, -1 for nowhere. A pattern with a
// group is of a kind that words match too ("bearer certificates"): its group
// must hold a digit or be long.
func (k secretShape) find(s string) int {
	for _, m := range k.pattern.FindAllStringSubmatchIndex(s, 8) {
		if k.pattern.NumSubexp() != 1 || len(m) < 4 || m[2] < 0 {
			return m[0]
		}
		if group := s[m[2]:m[3]]; len(group) >= 24 || strings.ContainsAny(group, "0123456789") {
			return m[0]
		}
	}
	return -1
}

// secretIn says what kind of credential s contains, "" for none.
func secretIn(s string) string {
	for _, k := range secrets {
		if k.find(s) >= 0 {
			return k.what
		}
	}
	return ""
}

const secretHint = "put it in an environment variable and name that in the bindings (apiKeyEnv, headers); revoke it if the file was shared"

// findSecrets reports every credential in a file: in its values, with their
// path, and in the rest of its text.
func findSecrets(file string, src []byte, root *node) (errs Errors) {
	if root != nil {
		nodeSecrets(root, nil, &errs)
	}
	have := map[int]bool{}
	for _, e := range errs {
		have[e.Line] = e.File == file
	}
	for _, e := range scanSecrets(file, src) {
		if !have[e.Line] {
			errs = append(errs, e)
		}
	}
	return errs
}

// scanSecrets looks at the text of a file, comments included, one line at a
// time. The value itself is never repeated.
func scanSecrets(file string, src []byte) (errs Errors) {
	l := newLines(file, src)
	for i, line := range bytes.Split(src, []byte("\n")) {
		for _, k := range secrets {
			if m := k.find(string(line)); m >= 0 {
				errs.add(l.at(l.starts[i]+m), nil, k.what+" in plain text", secretHint)
				break
			}
		}
	}
	return errs
}

// nodeSecrets finds credentials that the file's own syntax hides from a scan
// by line: escapes, folded texts, computed values.
func nodeSecrets(n *node, p path, errs *Errors) {
	if n.kind == cue.StringKind {
		if what := secretIn(n.text); what != "" {
			errs.add(n.at, p, what+" in plain text", secretHint)
		}
	}
	for i, e := range n.elems {
		before := len(*errs)
		nodeSecrets(e, p.with(index(i)), errs)
		if i == 0 || len(*errs) > before {
			continue
		}
		// ["--api-key", "value"]
		flag, _ := n.elems[i-1].str()
		value, ok := e.str()
		if what := secretIn(flag + " " + value); ok && what != "" && secretIn(flag) == "" {
			errs.add(e.at, p.with(index(i)), what+" in plain text", secretHint)
		}
	}
	for _, f := range n.fields {
		if what := secretIn(f.name); what != "" {
			errs.add(f.at, p, what+" in plain text", secretHint)
		}
		nodeSecrets(f.val, p.with(f.name), errs)
	}
}
