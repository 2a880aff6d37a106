package scrub

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyShape is a published form of keys: a prefix and what follows.
type keyShape struct {
	prefix string
	chars  func(byte) bool
	least  int // bytes after the prefix
	most   int
	run    int // longest part without - _ . has at least so many, which no hyphenated words have
}

func isAlnum(c byte) bool      { return isAlpha(c) || isDigit(c) }
func isUpperDigit(c byte) bool { return isUpper(c) || isDigit(c) }
func isLowerHex(c byte) bool   { return isDigit(c) || c-'a' <= 5 }
func isURL64(c byte) bool      { return isAlnum(c) || c == '-' || c == '_' }
func isDotted64(c byte) bool   { return isURL64(c) || c == '.' }

const anyLength = 1024

var keyShapes = []keyShape{
	{"sk-", isURL64, 20, anyLength, 16},                                                // OpenAI (sk-proj-, sk-svcacct-), Anthropic (sk-ant-), OpenRouter (sk-or-), DeepSeek
	{"sk_live_", isAlnum, 16, anyLength, 16}, {"sk_test_", isAlnum, 16, anyLength, 16}, // Stripe
	{"rk_live_", isAlnum, 16, anyLength, 16}, {"rk_test_", isAlnum, 16, anyLength, 16},
	{"whsec_", isAlnum, 24, anyLength, 24},
	{"SK", isLowerHex, 32, 32, 32}, {"AC", isLowerHex, 32, 32, 32}, // Twilio
	{"AKIA", isUpperDigit, 16, 16, 16}, {"ASIA", isUpperDigit, 16, 16, 16}, // AWS
	{"AIza", isURL64, 35, 35, 8}, {"ya29.", isDotted64, 20, anyLength, 12}, {"GOCSPX-", isURL64, 28, 28, 8}, // Google
	{"ghp_", isAlnum, 36, 255, 36}, {"gho_", isAlnum, 36, 255, 36}, {"ghu_", isAlnum, 36, 255, 36}, // GitHub
	{"ghs_", isAlnum, 36, 255, 36}, {"ghr_", isAlnum, 36, 255, 36}, {"github_pat_", isURL64, 40, 255, 20},
	{"glpat-", isDotted64, 20, 255, 8}, {"gldt-", isURL64, 20, 255, 8}, // GitLab
	{"glrt-", isDotted64, 20, 255, 8}, {"glptt-", isURL64, 20, 255, 8}, {"glsoat-", isURL64, 20, 255, 8}, {"glagent-", isURL64, 20, 255, 8},
	{"glcbt-", isURL64, 20, 255, 8}, {"glft-", isURL64, 20, 255, 8}, {"glimt-", isURL64, 20, 255, 8},
	{"xoxb-", isURL64, 20, anyLength, 10}, {"xoxp-", isURL64, 20, anyLength, 10}, {"xoxa-", isURL64, 20, anyLength, 10}, // Slack
	{"xoxe.", isDotted64, 20, anyLength, 10}, {"xoxe-", isURL64, 20, anyLength, 10}, {"xoxc-", isURL64, 20, anyLength, 10}, {"xoxd-", isURL64, 20, anyLength, 10},
	{"xoxs-", isURL64, 20, anyLength, 10}, {"xoxr-", isURL64, 20, anyLength, 10}, {"xapp-", isURL64, 20, anyLength, 10},
	{"hf_", isAlnum, 30, 64, 30}, {"gsk_", isAlnum, 40, 80, 40}, {"r8_", isAlnum, 32, 64, 32}, // Hugging Face, Groq, Replicate
	{"nvapi-", isURL64, 40, 255, 16}, {"xai-", isAlnum, 60, 255, 40}, {"pplx-", isAlnum, 40, 80, 40},
	{"npm_", isAlnum, 36, 36, 36}, {"pypi-AgEI", isURL64, 40, anyLength, 16}, // package registries
	{"SG.", isDotted64, 60, 80, 12}, {"dop_v1_", isHex, 64, 64, 64}, {"shpat_", isHex, 32, 32, 32}, // SendGrid, DigitalOcean, Shopify
	{"AGE-SECRET-KEY-1", isUpperDigit, 58, 58, 58}, {"hvs.", isURL64, 24, anyLength, 16}, // age, Vault
}

// shapesByFirst avoids a search for each prefix.
var shapesByFirst = func() (table [256][]keyShape) {
	for _, k := range keyShapes {
		table[k.prefix[0]] = append(table[k.prefix[0]], k)
	}
	return table
}()

// findAPIKeys finds keys of known shapes and JSON Web Tokens.
func findAPIKeys(s string, hit func(lo, hi int)) {
	for i := 0; i < len(s); i++ {
		shapes := shapesByFirst[s[i]]
		if len(shapes) == 0 && s[i] != 'e' {
			continue
		}
		if prev := at(s, i-1); isAlnum(prev) || prev == '_' || prev == '-' {
			continue
		}
		if hi := keyEnd(s, i, shapes); hi > 0 {
			hit(i, hi)
			i = hi - 1
		}
	}
}

func keyEnd(s string, i int, shapes []keyShape) int {
	for _, k := range shapes {
		if !strings.HasPrefix(s[i:], k.prefix) {
			continue
		}
		lo := i + len(k.prefix)
		hi := lo
		for hi < len(s) && hi-lo <= k.most && k.chars(s[hi]) {
			hi++
		}
		for hi > lo && s[hi-1] == '.' {
			hi--
		}
		if n := hi - lo; n >= k.least && n <= k.most && !isAlnum(at(s, hi)) && hasRun(s[lo:hi], k.run) {
			return hi
		}
	}
	return jwtEnd(s, i)
}

// hasRun wants one part of at least n letters and digits, with a digit in the
// whole: sk-learn-some-long-package-name is no key. Thirty letters in one piece
// need none if both cases are among them: Hugging Face's tokens have no digits.
func hasRun(s string, n int) bool {
	run, longest, digits, upper, lower := 0, 0, 0, 0, 0
	for i := range len(s) {
		run++
		if !isAlnum(s[i]) {
			run = 0
		}
		switch {
		case isDigit(s[i]):
			digits++
		case isUpper(s[i]):
			upper++
		case isAlpha(s[i]):
			lower++
		}
		longest = max(longest, run)
	}
	return longest >= n && (digits > 0 || n >= 30 && upper > 0 && lower > 0)
}

// jwtEnd returns the end of header.payload.signature, all base64url, both JSON;
// the signature of alg none is empty, and encrypted tokens have two parts more.
func jwtEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return 0
	}
	if hi := jweEnd(s, i); hi > 0 {
		return hi
	}
	for part, least := range []int{10, 10, 0} {
		lo := i
		if part < 2 && !strings.HasPrefix(s[i:], "eyJ") {
			return 0
		}
		for i < len(s) && i-lo < 1<<14 && isURL64(s[i]) {
			i++
		}
		if i-lo < least {
			return 0
		}
		if part < 2 {
			if at(s, i) != '.' {
				return 0
			}
			i++
		}
	}
	return i
}

// jweEnd returns the end of header.key.iv.ciphertext.tag; the key may be empty.
func jweEnd(s string, i int) int {
	for part, least := range []int{10, 0, 16, 4, 20} {
		lo := i
		for i < len(s) && i-lo < 1<<14 && isURL64(s[i]) {
			i++
		}
		if i-lo < least || part < 4 && at(s, i) != '.' {
			return 0
		}
		if part < 4 {
			i++
		}
	}
	return i
}

// findBearers finds the token of "Bearer <token>" and of "Authorization: Basic
// <credentials>"; without a digit it is a word.
func findBearers(s string, hit func(lo, hi int)) {
	for i := 0; i+7 < len(s); i++ {
		n := schemeLen(s, i)
		if n == 0 {
			continue
		}
		lo := i + n
		for at(s, lo) == ' ' {
			lo++
		}
		hi := lo
		for hi < len(s) && hi-lo < 1<<13 && (isURL64(s[hi]) || strings.IndexByte(".~+/=", s[hi]) >= 0) {
			hi++
		}
		for hi > lo && s[hi-1] == '.' {
			hi--
		}
		if lo > i+n && (hi-lo >= 16 && hasDigitByte(s[lo:hi]) || n == len("basic") && isUserPassword(s[lo:hi])) {
			hit(lo, hi)
			i = hi - 1
		}
	}
}

// isUserPassword reports whether s is base64 of user:password.
func isUserPassword(s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && len(b) >= 5 && bytes.IndexByte(b, ':') > 0 && utf8.Valid(b) && bytes.IndexFunc(b, unicode.IsControl) < 0
}

// schemeLen returns the length of the scheme that begins at i, 0 for none.
func schemeLen(s string, i int) int {
	if c := s[i] | 0x20; c != 'b' || isWord(at(s, i-1)) {
		return 0
	}
	if strings.EqualFold(s[i:i+6], "bearer") {
		return 6
	}
	before := strings.TrimRight(s[max(0, i-24):i], ` :"'=`)
	if strings.EqualFold(s[i:i+5], "basic") && len(before) >= 13 && strings.EqualFold(before[len(before)-13:], "authorization") {
		return 5
	}
	return 0
}

const maxPrivateKey = 32 << 10

// findPrivateKeys finds PEM blocks of private keys, also with \n for line ends
// and also when the end is missing.
func findPrivateKeys(s string, hit func(lo, hi int)) {
	const begin, end = "-----BEGIN ", "-----END "
	for i := 0; ; {
		next := strings.Index(s[i:], begin)
		if next < 0 {
			return
		}
		lo := i + next
		i = lo + len(begin)
		head := s[i:min(len(s), i+64)]
		label, _, ok := strings.Cut(head, "-----")
		if !ok || !strings.HasSuffix(strings.TrimSuffix(label, " BLOCK"), "PRIVATE KEY") {
			continue
		}
		i += len(label) + len("-----")
		body := i
		for i < len(s) && i-body < maxPrivateKey && (isAlnum(s[i]) || strings.IndexByte("+/=\\ \t\r\n:,.()-", s[i]) >= 0) && !strings.HasPrefix(s[i:], end) {
			i++
		}
		if tail := end + label + "-----"; strings.HasPrefix(s[i:], tail) {
			i += len(tail)
		}
		hit(lo, i)
	}
}
