package scrub

import "strings"

const maxAuthority = 512

// secretParams are the names of query parameters whose value opens something.
var secretParams = []string{"access_token", "api_key", "apikey", "api-key", "auth_token", "client_secret", "code_verifier",
	"id_token", "password", "passwd", "pwd", "private_token", "refresh_token", "secret", "sig", "signature", "token",
	"x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-signature"}

// findURLCredentials finds the user and password before the host of a URL and
// the values of parameters such as access_token. The rest of the URL stays.
func findURLCredentials(s string, hit func(lo, hi int)) {
	for i := 0; ; {
		next := strings.Index(s[i:], "://")
		if next < 0 {
			return
		}
		i += next + len("://")
		if !isAlpha(at(s, i-4)) && !isDigit(at(s, i-4)) {
			continue
		}
		end := authorityEnd(s, i)
		if at := strings.LastIndexByte(s[i:end], '@'); at > 0 && isUserinfo(s[i:i+at]) {
			hit(i, i+at)
		}
		i = secretsOf(s, end, hit)
	}
}

func authorityEnd(s string, i int) int {
	end := i
	for end < len(s) && end-i < maxAuthority && !isURLEnd(s[end]) && !strings.ContainsRune("/?#", rune(s[end])) {
		end++
	}
	return end
}

func isURLEnd(c byte) bool { return c <= ' ' || strings.IndexByte("\"'`<>|^\\", c) >= 0 }

// isUserinfo wants a password that is one: not empty, not a variable such as
// ${PASSWORD}, {password} or %s. A user without one, git@host, is no credential.
func isUserinfo(s string) bool {
	user, password, ok := strings.Cut(s, ":")
	if !ok {
		return len(user) >= 20 && hasDigitByte(user) && !isVariable(user) // a token as user
	}
	return password != "" && !isVariable(password)
}

func isVariable(s string) bool {
	return strings.ContainsAny(s, "${}<>[]()*") || s == "%s" || s == "%v" || strings.HasPrefix(s, "...")
}

func hasDigitByte(s string) bool { return strings.ContainsAny(s, "0123456789") }

// secretsOf looks through the parameters of one URL and returns where it ends.
func secretsOf(s string, i int, hit func(lo, hi int)) int {
	name := -1
	for ; i < len(s) && !isURLEnd(s[i]); i++ {
		switch s[i] {
		case '?', '&', ';', '#':
			name = i + 1
		case '=':
			if name < 0 || !isSecretParam(s[name:i]) {
				continue
			}
			end := i + 1
			for end < len(s) && !isURLEnd(s[end]) && strings.IndexByte("&;#),", s[end]) < 0 {
				end++
			}
			if v := s[i+1 : end]; len(v) >= 6 && !isVariable(v) {
				hit(i+1, end)
			}
			i, name = end-1, -1
		}
	}
	return i
}

func isSecretParam(name string) bool {
	for _, p := range secretParams {
		if strings.EqualFold(p, name) {
			return true
		}
	}
	return false
}
