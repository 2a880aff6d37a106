package scrub

import (
	"slices"
	"strings"
)

// secretValue returns the value that begins behind an assignment whose operator is
// s[op:lo], hi = 0 for none.
func secretValue(ends *tokenEnds, op, lo int, kind secretKind) (int, int) {
	s := ends.s
	word := isAlpha(s[op]) // "is"
	spaces := lo
	for lo < len(s) && lo-spaces < 4 && (s[lo] == ' ' || s[lo] == '\t') {
		lo++
	}
	for at(s, lo) == '\\' && strings.IndexByte(`"'`, at(s, lo+1)) >= 0 && lo+1 < len(s) { // JSON in a string
		lo++
	}
	quote := at(s, lo)
	if quote == '"' || quote == '\'' || quote == '`' {
		lo++
		hi := lo
		for hi < len(s) && hi-lo <= maxSecret && s[hi] != quote && s[hi] > ' ' {
			hi++
		}
		if at(s, hi) != quote {
			return 0, 0 // several words
		}
		end := hi
		for end > lo && s[end-1] == '\\' {
			end--
		}
		if isSecret(s[lo:end], kind, true) && at(s, hi+1) != '.' && at(s, hi+1) != '[' {
			return lo, end
		}
		return 0, 0
	}
	element := s[op] == '>'
	machine := element || !word && spaces == lo && s[op] == '=' && namedByMachine(s, op)
	hi := ends.after(lo)
	if element && !strings.HasPrefix(s[hi:], "</") {
		return 0, 0
	}
	if next := at(s, hi); next == '<' && !element || next == '"' || next == '\'' || next == '`' && machine {
		return 0, 0 // a placeholder or a call goes on
	}
	for hi > lo && strings.IndexByte(".,:!?)]}\\|", s[hi-1]) >= 0 {
		hi--
	}
	if v := s[lo:hi]; isSecret(v, kind, machine) && !isVariableName(v) {
		return lo, hi
	}
	return 0, 0
}

// isNextField is true of &name= in a form or query.
func isNextField(s string) bool {
	if s[0] != '&' {
		return false
	}
	i := 1
	for i < lookback && (isWord(at(s, i)) || at(s, i) == '-') {
		i++
	}
	return i > 1 && at(s, i) == '='
}

// isVariableName is true of testRSA2048PrivateKey: without quotes that is code.
func isVariableName(v string) bool {
	words := nameWords(v)
	return len(words) > 1 && isAlpha(v[len(v)-1]) && keep(v, isWord) == v &&
		(slices.Contains(passwordWords, words[len(words)-1]) || slices.Contains([]string{"key", "token", "secret"}, words[len(words)-1]))
}

const maxSecret = 2048

// tokenEnds finds where the token at a place ends. It keeps the last end: a long
// token may hold many places.
type tokenEnds struct {
	s      string
	lo, hi int
}

func (t *tokenEnds) after(lo int) int {
	if lo >= t.lo && lo < t.hi {
		return t.hi
	}
	hi := lo
	for hi < len(t.s) && t.s[hi] > ' ' && strings.IndexByte("\"'`<>;", t.s[hi]) < 0 && !isNextField(t.s[hi:]) {
		hi++
	}
	t.lo, t.hi = lo, hi
	return hi
}

// namedByMachine reports whether name=value begins a line, a field or an option:
// in f(a, password=b) it is code.
func namedByMachine(s string, op int) bool {
	lo := op
	for lo > 0 && op-lo < lookback && (isWord(s[lo-1]) || s[lo-1] == '-' || s[lo-1] == '.') {
		lo--
	}
	name := s[lo:op]
	switch {
	case name == strings.ToUpper(name), strings.HasPrefix(name, "--"):
		return true
	}
	switch at(s, lo-1) {
	case 0, '\n', ';', '&', '?':
		return true
	}
	fields := strings.TrimRight(s[max(0, lo-lookback):lo], " ") // User Id=a; Password=b
	return strings.HasSuffix(fields, ";")
}

// isSecret judges one token. In machine-readable places letters suffice.
func isSecret(v string, kind secretKind, machine bool) bool {
	if len(v) < 4 || len(v) > maxSecret || isStandIn(v) {
		return false
	}
	digits, lower, upper, marks := 0, 0, 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case isDigit(c):
			digits++
		case isLower(c):
			lower++
		case isUpper(c):
			upper++
		default:
			marks++
		}
	}
	letters := lower + upper
	if letters == 0 && marks == 0 { // digits only: a count, unless a password is spoken of
		return kind == passwordOf && digits >= 6
	}
	least := map[secretKind]int{passwordOf: 5, keyOf: 8, bareTokenOf: 16}[kind]
	mixed := digits > 0 && (letters > 0 || strings.ContainsAny(v, "!@#$%^&*?")) && !isTerm(v)
	signed := strings.ContainsAny(v, "!@#%^&*?") && letters > 0 && !strings.ContainsAny(v[:1]+v[len(v)-1:], "*?!") && !strings.Contains(v, "/")
	switch {
	case len(v) >= least && mixed:
		return true
	case len(v) >= 8 && signed && kind == passwordOf:
		return true
	}
	return machine && len(v) >= max(6, least) && !isWordOf(v)
}

// isStandIn is true of what stands where a value would: a variable, a call, a
// placeholder, stars, an address of documentation.
func isStandIn(v string) bool {
	if strings.ContainsAny(v, "{}<>[]()") || strings.HasPrefix(v, "$") || strings.HasPrefix(v, "%") && len(v) <= 3 || strings.Contains(v, "://") ||
		strings.Contains(v, "...") || strings.Contains(v, "&quot") || strings.Contains(v, "&#") || strings.Contains(v, "&lt") || strings.Contains(v, "…") || strings.Contains(v, "&&") || strings.HasPrefix(v, "@") || strings.HasPrefix(v, "-") {
		return true
	}
	if len(v) > 2 && v[1] == ':' && v[2] == '\\' { // a path of Windows
		return true
	}
	for _, masked := range []string{"*", "x", "X", "•", "#", ".", "_", "-", "?", "0"} {
		if strings.Trim(v, masked) == "" {
			return true
		}
	}
	return isPath(v)
}

// isPath is true of code and files: os.environ, self.token, config/secret.yaml.
func isPath(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return r == '.' || r == '/' || r == '\\' })
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || keep(p, func(c byte) bool { return isAlpha(c) || c == '_' || c == '-' }) != p || len(p) > 24 {
			return false
		}
	}
	return true
}

// terms are words with digits in them.
var terms = []string{"sha", "md", "base", "oauth", "utf", "aes", "rsa", "hmac", "hs", "rs", "es", "ed", "pbkdf", "argon", "http", "v", "tls",
	"web", "gpt", "bert", "llama", "ipv", "x", "int", "uint", "str", "char", "varchar", "level", "step", "room", "section", "table", "figure", "part"}

// isTerm is true of words, numbers and terms joined by marks: 8-16, SHA256-hashed,
// OAuth2.0, 2024-01-15.
func isTerm(v string) bool {
	for _, p := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./,:+", r) }) {
		word := strings.TrimRight(p, "0123456789")
		digits := len(p) - len(word)
		switch {
		case keep(word, isAlpha) != word:
			return false
		case word != "" && digits > 0 && (digits > 4 || !slices.Contains(terms, strings.ToLower(word))):
			return false
		}
	}
	return true
}

// notValues are words that stand behind such names in schemas, forms and code.
var notValues = []string{"required", "optional", "string", "number", "integer", "boolean", "object", "hidden", "invalid", "missing", "expired",
	"incorrect", "changed", "unchanged", "default", "disabled", "enabled", "undefined", "nothing", "unknown", "redacted", "removed",
	"encrypted", "hashed", "private", "public", "bearer", "basic", "example", "placeholder", "erforderlich", "obligatoire",
	"obligatorio", "forgotten", "forgot", "strong", "weak", "simple", "random", "generated", "secure", "plaintext", "config", "settings",
	"environ", "getenv", "process", "lambda", "return", "function", "current", "expected", "actual", "result", "response", "request",
	"confirm", "confirmation", "username", "account", "session", "refresh", "access"}

// isWordOf is true of a name in code or a usual word: letters, with words of
// secrets among them, or one of notValues.
func isWordOf(v string) bool {
	words := nameWords(v)
	if len(words) == 0 {
		return true
	}
	for _, w := range words {
		if slices.Contains(passwordWords, w) || slices.Contains(secretWords, w) || slices.Contains(notValues, w) ||
			slices.Contains([]string{"your", "my", "pass", "token", "tokens", "key", "keys", "none", "null", "true", "false"}, w) {
			return true
		}
	}
	return isTerm(v) && strings.ContainsAny(v, "0123456789")
}
