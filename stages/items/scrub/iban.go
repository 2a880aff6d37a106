package scrub

import "strings"

// ibanLengths are the lengths of the IBAN registry (SWIFT, ISO 13616).
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// findIBANs finds account numbers by country, length and check digits (mod 97).
func findIBANs(s string, hit func(lo, hi int)) {
	for i := 2; i+1 < len(s); i++ {
		if !isDigit(s[i]) || !isDigit(s[i+1]) {
			continue
		}
		lo := i - 2
		if isIBANSeparator(s[i-1]) && i > 2 { // DE 89 3704 ...
			lo--
		}
		if !isAlpha(s[lo]) || !isAlpha(s[lo+1]) {
			continue
		}
		if c := at(s, lo-1); isAlpha(c) || isDigit(c) || c == '_' {
			continue
		}
		if hi := ibanEnd(s, lo); hi > 0 {
			hit(lo, hi)
			i = hi + 1
		}
	}
}

func isIBANSeparator(c byte) bool { return c == ' ' || c == '-' || c == '.' || c == '/' }

// ibanEnd returns where the IBAN that begins at lo ends, or 0. Its groups are of
// four, or of any length where all but the country is digits: a sentence has
// words between its numbers.
func ibanEnd(s string, lo int) int {
	length := ibanLengths[strings.ToUpper(s[lo:lo+2])]
	if length == 0 {
		return 0
	}
	buf := make([]byte, 0, 34)
	var sep byte
	letters, irregular := false, false
	i := lo
	for ; len(buf) < length; i++ {
		c := at(s, i)
		if n := len(buf); n > 0 && isIBANSeparator(c) && (sep == 0 || c == sep) {
			sep = c
			irregular = irregular || n%4 != 0
			i++
			c = at(s, i)
		} else if sep != 0 && n%4 == 0 && n > 0 {
			irregular = true
		}
		if !isAlpha(c) && !isDigit(c) || isLower(c) != isLower(s[lo]) && isAlpha(c) {
			return 0
		}
		letters = letters || len(buf) > 1 && isAlpha(c)
		buf = append(buf, c)
	}
	irregular = irregular || sep != 0 && at(s, lo+4) != sep
	if irregular && (letters || isLower(s[lo])) {
		return 0
	}
	if next := at(s, i); isAlpha(next) || isDigit(next) || next == '_' || !mod97(strings.ToUpper(string(buf))) {
		return 0
	}
	return i
}

// mod97 checks an IBAN: first four characters to the end, letters as 10 to 35,
// remainder 1.
func mod97(iban string) bool {
	rem := 0
	for _, c := range []byte(iban[4:] + iban[:4]) {
		if isDigit(c) {
			rem = (rem*10 + int(c-'0')) % 97
			continue
		}
		rem = (rem*100 + int(c-'A') + 10) % 97
	}
	return rem == 1
}
