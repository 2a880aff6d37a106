package scrub

import (
	"slices"
	"strings"
)

// findSecrets finds the value behind a name that says it is secret: "password: X",
// PASSWORD=X, "client_secret": "X", Server=...;Password=X. The value has no shape
// of its own, and after such a word prose comes as often. So it must be one token,
// and
//   - mix digits with letters or marks, as in hunter2 and not in "required", or
//   - stand where only a program reads: in quotes, at the start of a line, or
//     between the semicolons of a connection string, and be no known word.
//
// What stands for a value is none: $PASSWORD, <password>, ****, a call, null.
func findSecrets(s string, hit func(lo, hi int)) {
	ends := tokenEnds{s: s}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':', '=', '>', fullColon[0]:
		case 'i', 'l', 'e':
			if at(s, i-1) != ' ' {
				continue
			}
		default:
			continue
		}
		sep := assignment(s, i)
		if sep == 0 {
			continue
		}
		kind := secretName(s, i)
		if kind == notSecret {
			i += sep - 1
			continue
		}
		if lo, hi := secretValue(&ends, i, i+sep, kind); hi > 0 {
			hit(lo, hi)
			i = hi - 1
		}
	}
}

const fullColon = "："

// assignment returns the length of what stands between a name and its value: an
// operator, or the verb of "the password is X"; 0 for none.
func assignment(s string, i int) int {
	switch s[i] {
	case ':':
		switch at(s, i+1) {
		case '=':
			return 2
		case ':', '/', '\\':
			return 0
		}
		return 1
	case '=':
		switch at(s, i+1) {
		case '=':
			return 0
		case '>':
			return 2
		}
		if strings.IndexByte("!<>=", at(s, i-1)) >= 0 {
			return 0
		}
		return 1
	}
	if s[i] == '>' { // <password>X</password>
		lo := i
		for lo > 0 && i-lo < lookback && (isWord(s[lo-1]) || strings.IndexByte(":-.", s[lo-1]) >= 0) {
			lo--
		}
		if lo < i && at(s, lo-1) == '<' {
			return 1
		}
		return 0
	}
	if strings.HasPrefix(s[i:], fullColon) {
		return len(fullColon)
	}
	for _, verb := range []string{"is ", "ist ", "lautet ", "est ", "es "} {
		if strings.HasPrefix(s[i:], verb) {
			return len(verb) - 1
		}
	}
	return 0
}

type secretKind int

const (
	notSecret   secretKind = iota
	passwordOf             // may be digits only
	keyOf                  // client_secret, api_key, access token
	bareTokenOf            // "token" alone: also a word of language models
)

var (
	passwordWords = []string{"password", "passwd", "pwd", "passphrase", "passcode", "passwort", "kennwort", "contraseña", "senha", "密码", "密碼"}
	secretWords   = []string{"secret", "secrets", "apikey", "secretkey", "accesskey", "privatekey", "authtoken", "accesstoken", "apitoken"}
	keyWords      = []string{"api", "access", "secret", "private", "auth", "account", "encryption", "signing", "master", "session", "refresh",
		"bearer", "bot", "client", "deploy", "service", "storage", "id", "csrf", "webhook", "subscription", "shared", "user", "device", "admin", "root", "github", "gitlab", "slack", "npm", "hf", "openai"}
	forWords = []string{"for", "of", "für", "to", "zu", "zum", "zur"}
)

// secretName classifies the name that ends before i.
func secretName(s string, i int) secretKind {
	hi := i
	for hi > 0 && i-hi < 3 && strings.IndexByte(" \t\"'`]*\\", s[hi-1]) >= 0 {
		hi--
	}
	lo := hi
	for lo > 0 && hi-lo < lookback && (isWord(s[lo-1]) || s[lo-1] == '-' || s[lo-1] == '.' || s[lo-1] == ' ' && at(s, lo-2) != ' ') {
		lo--
	}
	name := s[lo:hi]
	if !mayBeSecret(name) {
		return notSecret
	}
	words := nameWords(name)
	n := len(words)
	if n == 0 {
		return notSecret
	}
	last := words[n-1]
	before := ""
	if n > 1 {
		before = words[n-2]
	}
	switch {
	case last == "pwd" && (strings.HasPrefix(strings.TrimLeft(s[min(i+1, len(s)):], " "), "/") || at(s, i+1) == '~'):
		return notSecret // the working directory
	case slices.Contains(passwordWords, last), last == "pass" && at(s, i) == '=', strings.HasSuffix(last, "password"),
		strings.HasSuffix(last, "密码"), strings.HasSuffix(last, "密碼"):
		return passwordOf
	case slices.Contains(secretWords, last):
		return keyOf
	case last == "key" && slices.Contains(keyWords, before):
		return keyOf
	case last == "token" && (slices.Contains(keyWords, before) || strings.HasSuffix(name, "_TOKEN")):
		return keyOf
	case last == "token":
		return bareTokenOf
	case last == "sig" && (at(s, lo-1) == '&' || at(s, lo-1) == '?'): // shared access signature
		return keyOf
	}
	for k := max(0, n-4); k < n-1; k++ { // password for the router
		if slices.Contains(passwordWords, words[k]) && slices.Contains(forWords, words[k+1]) {
			return passwordOf
		}
	}
	return notSecret
}

// mayBeSecret is a cheap look before secretName splits the name.
func mayBeSecret(name string) bool {
	for _, end := range []string{"word", "pwd", "key", "token", "secret", "secrets", "passwd", "phrase", "code", "wort", "senha", "seña", "码", "碼", "sig", "pass"} {
		if n := len(name) - len(end); n >= 0 && (name[len(name)-1]|0x20 == end[len(end)-1]|0x20) && strings.EqualFold(name[n:], end) {
			return true
		}
	}
	return strings.IndexByte(name, ' ') >= 0 && (strings.Contains(name, "assw") || strings.Contains(name, "ennwort"))
}

// secretMember returns what the name of a JSON member says of its value.
func secretMember(name string) secretKind { return secretName(name, len(name)) }
