package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLocal  = 64 // bytes of the part before "@" (RFC 5321)
	maxDomain = 253
)

// findEmails finds addresses with a dotted domain, also with %40 as in URLs.
func findEmails(s string, hit func(lo, hi int)) {
	last := 0
	for i := 0; i < len(s); {
		next := strings.IndexAny(s[i:], "@%")
		if next < 0 {
			return
		}
		i += next
		sep := 1
		if s[i] == '%' {
			if !strings.HasPrefix(s[i:], "%40") {
				i++
				continue
			}
			sep = 3
		}
		lo, hi := localStart(s, i, last), domainEnd(s, i+sep)
		if hi == 0 {
			hi = hanDomainEnd(s, i+sep)
		}
		if lo == i && hi > 0 && at(s, lo-1) >= 0x80 {
			lo = hanStart(s, i, last)
		}
		if lo < i && hi > 0 && !isCode(s, lo, i, hi) {
			hit(lo, hi)
			i, last = hi, hi
			continue
		}
		i += sep
	}
}

// localStart returns where the part before i begins, i if there is none.
func localStart(s string, i, from int) int {
	lo := i
	for lo > from && i-lo < maxLocal {
		r, size := utf8.DecodeLastRuneInString(s[from:lo])
		if !isMailRune(r) && !strings.ContainsRune(".+-_'", r) {
			break
		}
		lo -= size
	}
	for lo < i && strings.IndexByte(".-+'", s[lo]) >= 0 {
		lo++
	}
	if at(s, lo-1) == '%' && lo+2 <= i && isHex(s[lo]) && isHex(s[lo+1]) {
		lo += 2 // the rest of %20
	}
	if lo < i && s[i-1] == '.' {
		return i
	}
	return lo
}

// isMailRune takes letters of scripts that separate words; in the others a
// sentence would become part of the address.
func isMailRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlpha(byte(r)) || isDigit(byte(r))
	}
	return r < 0x2e80 && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// domainEnd returns where a domain with a dot and an alphabetic end stops, 0 if
// there is none.
func domainEnd(s string, lo int) int {
	end, dots, label, plain := 0, 0, lo, true
	i := lo
	for i <= len(s) && i-lo <= maxDomain {
		r, size := utf8.DecodeRuneInString(s[min(i, len(s)):])
		switch {
		case size > 0 && (isMailRune(r) || r == '-'):
			plain = plain && !(r < utf8.RuneSelf && isDigit(byte(r))) && (r != '-' || strings.HasPrefix(s[label:], "xn--"))
			i += size
			continue
		case i == label || s[label] == '-' || s[i-1] == '-': // no label
			return end
		}
		if dots > 0 && i-label >= 2 && (plain || strings.HasPrefix(s[label:], "xn--")) {
			end = i
		}
		if r != '.' || size == 0 {
			return end
		}
		dots, i, plain = dots+1, i+1, true
		label = i
	}
	return end
}

// isCode is true of what has an address' shape in code: a@b.method(), the
// remote git@host.example:path, the picture icon@2x.png.
func isCode(s string, lo, at_, hi int) bool {
	local, domain := s[lo:at_], strings.TrimPrefix(s[at_:hi], "@")
	switch {
	case at(s, hi) == '(':
		return true
	case local == "git" && (at(s, hi) == ':' || at(s, hi) == '/'):
		return true
	}
	first, _, _ := strings.Cut(domain, ".")
	return len(first) == 2 && isDigit(first[0]) && first[1] == 'x'
}

// hanTLDs are the top-level domains in Chinese, Japanese and Korean that have
// many names. Nothing separates words in these scripts, so only a known one ends
// an address.
var hanTLDs = []string{"中国", "中國", "公司", "网络", "網絡", "在线", "中文网", "网址", "商城", "集团", "广告", "香港", "台湾", "台灣", "みんな", "한국"}

func isHan(r rune) bool {
	return r >= 0x2e80 && unicode.IsLetter(r)
}

// hanDomainEnd returns where a domain with labels in these scripts stops, 0 if
// there is none: 例子.广告, 例え.jp.
func hanDomainEnd(s string, lo int) int {
	i := lo
	for i < len(s) && i-lo <= maxDomain {
		label := i
		for i < len(s) && i-lo <= maxDomain {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isHan(r) && !isMailRune(r) && r != '-' {
				break
			}
			i += size
		}
		if i == label || at(s, i) != '.' {
			return 0
		}
		i++
		for _, tld := range hanTLDs {
			if strings.HasPrefix(s[i:], tld) {
				return i + len(tld)
			}
		}
		tld := i
		for isAlpha(at(s, i)) {
			i++
		}
		if i-tld >= 2 && at(s, i) != '.' && at(s, i) != '-' && !isDigit(at(s, i)) {
			return i
		}
		i = tld
	}
	return 0
}

// hanStart returns where the letters of these scripts before i begin. A word of
// the sentence may be among them: better that than a name.
func hanStart(s string, i, from int) int {
	lo := i
	for lo > from && i-lo < maxLocal {
		r, size := utf8.DecodeLastRuneInString(s[from:lo])
		if !isHan(r) && !isMailRune(r) {
			break
		}
		lo -= size
	}
	return lo
}
