package scrub

import "strings"

// Rule describes one kind of value.
type Rule struct {
	Name    string // as in options and counts, such as "us-ssn"
	Type    string // as in the placeholder, such as US_SSN
	Country string // of a national id, "" otherwise
	Example string // that the rule finds
}

// rule is a Rule with its matcher. find calls hit with each half-open range of
// bytes that it finds, from left to right. norm turns spellings of one value
// into one key; nil takes the bytes as they are.
type rule struct {
	Rule
	needs trigger
	find  func(s string, hit func(lo, hi int))
	norm  func(string) string
}

// trigger is a cheap property of a text without which a rule cannot match.
type trigger uint8

const (
	hasDigit trigger = 1 << iota
	hasAt            // "@" or "%40"
	hasColon
	hasDash
	hasHigh   // a byte above ASCII
	hasNumber // seven digits, the fewest of a phone number or an id
)

func triggers(s string) trigger {
	var t trigger
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x80:
			t |= hasHigh
		case isDigit(c):
			digits++
		case c == '@', c == '%':
			t |= hasAt
		case c == ':':
			t |= hasColon
		case c == '-':
			t |= hasDash
		}
	}
	if digits > 0 {
		t |= hasDigit
	}
	if digits >= 7 {
		t |= hasNumber
	}
	return t
}

// rules run in this order; where two overlap, the earlier one keeps its range.
// Those with a check digit or a fixed shape stand before those without.
var rules = []rule{
	{Rule{"private-key", "PRIVATE_KEY", "", "-----BEGIN PRIVATE KEY-----\nMIIB…\n-----END PRIVATE KEY-----"}, hasDash, findPrivateKeys, nil},
	{Rule{"url-credentials", "CREDENTIALS", "", "https://me:secret@db.example.org/x"}, hasColon, findURLCredentials, nil},
	{Rule{"api-key", "API_KEY", "", "AKIAIOSFODNN7EXAMPLE"}, 0, findAPIKeys, nil},
	{Rule{"bearer", "TOKEN", "", "Authorization: Bearer 4f9a8c7e6b5d4c3b2a19"}, 0, findBearers, nil},
	{Rule{"secret", "SECRET", "", "password: hunter2"}, 0, findSecrets, nil},
	{Rule{"email", "EMAIL", "", "ada@example.org"}, hasAt, findEmails, lowerMail},
	{Rule{"iban", "IBAN", "", "DE89 3704 0044 0532 0130 00"}, hasDigit, findIBANs, compactUpper},
	{Rule{"card", "CARD", "", "4111 1111 1111 1111"}, hasNumber, findCards, digitsOnly},
	{Rule{"us-ssn", "US_SSN", "us", "219-09-9999"}, hasNumber, findSSNs, digitsOnly},
	{Rule{"de-steuer-id", "DE_STEUER_ID", "de", "86 095 742 719"}, hasNumber, findSteuerIDs, digitsOnly},
	{Rule{"fr-nir", "FR_NIR", "fr", "2 55 08 14 168 025 38"}, hasNumber, findNIRs, compactUpper},
	{Rule{"gb-nino", "GB_NINO", "gb", "AB 12 34 56 C"}, hasDigit, findNINOs, compactUpper},
	{Rule{"es-dni", "ES_DNI", "es", "12345678Z"}, hasNumber, findDNIs, compactUpper},
	{Rule{"es-nie", "ES_NIE", "es", "X1234567L"}, hasNumber, findNIEs, compactUpper},
	{Rule{"ipv6", "IPV6", "", "2001:db8::8a2e:370:7334"}, hasColon, findIPv6s, strings.ToLower},
	{Rule{"ipv4", "IPV4", "", "192.168.10.42"}, hasDigit, findIPv4s, nil},
	{Rule{"phone", "PHONE", "", "+49 30 901820"}, hasNumber, findPhones, phoneKey},
}

func isDigit(c byte) bool { return c-'0' <= 9 }
func isLower(c byte) bool { return c-'a' <= 25 }
func isUpper(c byte) bool { return c-'A' <= 25 }
func isAlpha(c byte) bool { return isLower(c | 0x20) }

// isWord is true of letters in any script, too: bytes above 0x7f stand for them.
func isWord(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }
func isHex(c byte) bool  { return isDigit(c) || (c|0x20)-'a' <= 5 }

// at returns the byte at i, 0 outside the text.
func at(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

func keep(s string, f func(byte) bool) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if f(s[i]) {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func digitsOnly(s string) string { return keep(s, isDigit) }
func compactUpper(s string) string {
	return strings.ToUpper(keep(s, func(c byte) bool { return isAlpha(c) || isDigit(c) }))
}
func lowerMail(s string) string { return strings.ToLower(strings.Replace(s, "%40", "@", 1)) }

// phoneKey makes 0049 and +49 one, and +49 (0)30 and +49 30.
func phoneKey(s string) string {
	if before, after, ok := strings.Cut(s, "(0)"); ok && digitsOnly(before) != "" {
		s = before + after
	}
	d := digitsOnly(s)
	if rest, ok := strings.CutPrefix(d, "00"); ok {
		return "+" + rest
	}
	if strings.HasPrefix(strings.TrimLeft(s, "("), "+") {
		return "+" + d
	}
	return d
}
