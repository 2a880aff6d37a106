package serve

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const redacted = "[redacted]"

// shapes are credentials that can be told by what they look like. It is better
// to blank out too much of a log than too little.
var shapes = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`), redacted},
	{regexp.MustCompile(`(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{4,}`), "${1}" + redacted},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{8,}`), redacted},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}`), redacted},
	{regexp.MustCompile(`\b(?:hf|gh[pousr])_[A-Za-z0-9]{8,}`), redacted},
	{regexp.MustCompile(`\b(?:github_pat_|glpat-|nvapi-)[A-Za-z0-9_-]{8,}`), redacted},
	{regexp.MustCompile(`\bxox[abpr]-[A-Za-z0-9-]{8,}`), redacted},
	{regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), redacted},
	{regexp.MustCompile(`(://)[^\s/?#@"'<>\\&]+@`), "${1}" + redacted + " "}, // without the @, by which publish knows credentials
	{regexp.MustCompile(`(?i)(api[-_]?key|token|passw(?:or)?d|secret)(["']?\s*[=:]\s*["']?|["',]+\s*["'])[^\s"',}]{6,}`), "${1}${2}" + redacted},
	{regexp.MustCompile(`(?i)(--[a-z-]*(?:api-?key|token|passw(?:or)?d|secret)[ =])\S+`), "${1}" + redacted},
}

// minSecret is the length from which a value is blanked out: a shorter one
// would take ordinary words with it.
const minSecret = 6

// redact blanks out what must not be shown: values of the secrets that are
// known, and what looks like one.
func (h *Hooks) redact(text string) string {
	longest := slices.Clone(h.Secrets)
	slices.SortFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for _, s := range longest {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, redacted)
		}
	}
	for _, s := range shapes {
		text = s.pattern.ReplaceAllString(text, s.with)
	}
	return text
}

// secretName is what variables that hold secrets are called.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|credential|auth)`)

// SecretsIn lists the values of variables whose names sound like a secret, and
// of those that are named. environ is in the form of os.Environ.
func SecretsIn(environ []string, named ...string) (out []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) >= minSecret && (secretName.MatchString(name) || slices.Contains(named, name)) {
			out = append(out, value)
		}
	}
	return out
}

// escapes are what terminals are told.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)

// printable makes one line of a log fit to be shown.
func printable(line string) string {
	line = escapes.ReplaceAllString(strings.ToValidUTF8(line, "?"), "")
	if i := strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r'); i >= 0 {
		line = line[i+1:] // a progress bar: what stands there in the end
	}
	line = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, line)
	line = strings.TrimRight(line, " ")
	if len(line) > lineBytes {
		line = strings.ToValidUTF8(line[:lineBytes], "") + "…"
	}
	return line
}

// logName is the name of a candidate's log among the files of a run.
func logName(candidate string) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, candidate)
	return "serve-" + safe + ".log"
}

// words writes a command so that a shell would read it as it is.
func words(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		if out[i] = w; w == "" || strings.ContainsFunc(w, special) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./=:,+@%", r)
}

// Words is words, for those who print commands.
func Words(argv []string) string { return words(argv) }
