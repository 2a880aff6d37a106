package scrub

import (
	"net/netip"
	"strings"
)

// findIPv4s finds addresses that may belong to somebody: not this host, not a
// mask, not four single digits, which are sections and public resolvers, not
// versions.
func findIPv4s(s string, hit func(lo, hi int)) {
	eachNumber(s, func(lo int) int {
		hi := quadEnd(s, lo)
		if hi == 0 || hi-lo == len("1.2.3.4") || versionAround(s, lo, hi) {
			return hi
		}
		addr, err := netip.ParseAddr(s[lo:hi])
		if err != nil {
			return hi
		}
		if first := addr.As4()[0]; first != 0 && first != 127 && first != 255 {
			hit(lo, hi)
		}
		return hi
	})
}

// quadEnd returns the end of four groups of digits with dots, 0 for any other
// number of groups.
func quadEnd(s string, lo int) int {
	i := lo
	for part := range 4 {
		start := i
		for isDigit(at(s, i)) {
			i++
		}
		if i == start || i-start > 3 {
			return 0
		}
		if part < 3 {
			if at(s, i) != '.' {
				return 0
			}
			i++
		}
	}
	if at(s, i) == '.' && (isDigit(at(s, i+1)) || isAlpha(at(s, i+1))) {
		return 0
	}
	return i
}

func versionAround(s string, lo, hi int) bool {
	switch next, after := at(s, hi), at(s, hi+1); {
	case isAlpha(next), next == '_', next == '+', next == '-' && isAlpha(after):
		return true
	case strings.IndexByte("=<>~^", at(s, lo-1)) >= 0 && strings.IndexByte("=<>~^!", at(s, lo-2)) >= 0: // package==1.2.3.10
		return true
	}
	return says(s, lo, versionCues)
}

// findIPv6s finds addresses that netip reads and that are neither a time, a
// hardware address, a key's fingerprint nor a name in code such as dead::beef.
func findIPv6s(s string, hit func(lo, hi int)) {
	for i := 0; i < len(s); {
		next := strings.IndexByte(s[i:], ':')
		if next < 0 {
			return
		}
		lo := i + next
		for lo > i && isHex(s[lo-1]) {
			lo--
		}
		hi := lo
		for hi < len(s) && (isHex(s[hi]) || s[hi] == ':' || s[hi] == '.') {
			hi++
		}
		i = max(hi, i+next+1)
		for hi > lo && (s[hi-1] == '.' || s[hi-1] == ':' && at(s, hi-2) != ':') {
			hi--
		}
		if isWord(at(s, lo-1)) || isWord(at(s, hi)) || hi-lo > 45 || hi-lo < 4 {
			continue
		}
		if addr, err := netip.ParseAddr(s[lo:hi]); err == nil && isPublicForm(s[lo:hi]) && !addr.IsLoopback() && !addr.IsUnspecified() {
			hit(lo, hi)
		}
	}
}

// isPublicForm wants a first group as real addresses have it (2001, fe80, fd00)
// when the address is shortened, and otherwise groups longer than a byte.
func isPublicForm(s string) bool {
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == ':' })
	if strings.Contains(s, "::") {
		return len(groups) > 1 && len(groups[0]) >= 3 && hasDigitByte(groups[0]) || strings.Contains(s, ".")
	}
	for _, g := range groups {
		if len(g) > 2 {
			return true
		}
	}
	return false
}
