package publish

import (
	"bytes"
	"regexp"
)

// shape is a kind of credential that is easy to tell from other text. Raw rows
// are tens of megabytes, so a plain search for a literal goes before the
// pattern, which begins at it.
type shape struct {
	what     string
	literals []string
	pattern  *regexp.Regexp // anchored; a group holds the value, when words match too
	word     bool           // no letter or digit stands before it
}

var credentials = []shape{
	{"an API key", []string{"sk-"}, regexp.MustCompile(`^sk-([A-Za-z0-9_-]{8,})`), true},
	{"a bearer token", []string{"Bearer", "bearer", "BEARER"}, regexp.MustCompile(`^(?i:bearer)(?:\s|\\[nrt]|%20)+([A-Za-z0-9._~+/=-]{8,})`), true},
	{"an access key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`^....[0-9A-Z]{16}`), true},
	{"an access token", []string{"hf_"}, regexp.MustCompile(`^hf_[A-Za-z0-9]{16,}`), true},
	{"an access token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`^gh._[A-Za-z0-9]{20,}`), true},
	{"an access token", []string{"github_pat_", "glpat-", "nvapi-"}, regexp.MustCompile(`^[a-z_]+-?[A-Za-z0-9_-]{16,}`), true},
	{"an access token", []string{"xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"}, regexp.MustCompile(`^xox.-[A-Za-z0-9-]{10,}`), true},
	{"an access token", []string{"AIza"}, regexp.MustCompile(`^AIza[A-Za-z0-9_-]{30,}`), true},
	{"a private key", []string{"-----BEGIN "}, regexp.MustCompile(`^-----BEGIN [A-Z ]*PRIVATE KEY-----`), false},
	{"a URL with credentials", []string{"://", `:\/\/`}, regexp.MustCompile(`^:(?:\\?/){2}[^\s/?#@$"'<>\\&]+@(?:sha256:)?`), false},
}

// window is how much text a pattern is shown.
const window = 512

// CredentialIn says what kind of credential a text holds, "" for none. It never
// returns the value.
func CredentialIn(text []byte) string { return credentialIn(text) }

// credentialIn says what kind of credential a text holds, "" for none. It
// never returns the value.
func credentialIn(text []byte) string {
	for _, s := range credentials {
		for _, l := range s.literals {
			for from := 0; ; {
				i := bytes.Index(text[from:], []byte(l))
				if i < 0 {
					break
				}
				if s.at(text, from+i) {
					return s.what
				}
				from += i + len(l)
			}
		}
	}
	return ""
}

func (s shape) at(text []byte, i int) bool {
	if s.word && !wordBegins(text[:i]) {
		return false
	}
	rest := text[i:min(len(text), i+window)]
	m := s.pattern.FindSubmatchIndex(rest)
	switch {
	case m == nil:
		return false
	case len(m) == 2: // what precedes the @ of an image digest is no credential: docker://engine@sha256:…
		return !bytes.HasSuffix(rest[:m[1]], []byte("@sha256:"))
	}
	value := rest[m[2]:m[3]] // "bearer certificates" is none
	return len(value) >= 24 || bytes.ContainsAny(value, "0123456789")
}

// wordBegins reports whether a word can begin after before. In JSON the letter
// of an escape may stand there, as in "\nsk-…".
func wordBegins(before []byte) bool {
	n := len(before)
	if n == 0 {
		return true
	}
	if c := before[n-1]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
		return true
	}
	return n > 1 && before[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), before[n-1]) >= 0
}
