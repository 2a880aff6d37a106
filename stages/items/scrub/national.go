package scrub

import (
	"slices"
	"strconv"
	"strings"
)

// eachShape finds shapes at every place where an identifier may begin, and keeps
// what check takes. Either all shapes begin with a letter or none.
func eachShape(s string, hit func(lo, hi int), check func(lo int, compact string, separated bool) bool, shapes ...string) {
	letter, shortest := shapes[0][0] == 'A', len(shapes[0])-strings.Count(shapes[0], " ")
	for i := 0; i+shortest <= len(s); i++ {
		if letter && !isUpper(s[i]) || !letter && !isDigit(s[i]) || !openLeft(s, i) {
			continue
		}
		for _, shape := range shapes {
			hi, compact, separated, ok := matchShape(s, i, shape)
			if ok && openRight(s, hi) && check(i, compact, separated) {
				hit(i, hi)
				i = hi - 1
				break
			}
		}
	}
}

// findSSNs finds US social security numbers in the ranges that are issued: no
// area 000, 666 or 9xx, no group 00, no serial 0000. Without hyphens only where
// the text says what it is: any nine digits would do.
func findSSNs(s string, hit func(lo, hi int)) {
	eachShape(s, hit, func(lo int, d string, separated bool) bool {
		issued := d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
		return issued && !saysOrder(s, lo) && (separated || says(s, lo, ssnCues) || saysSocialSecurity(s, lo))
	}, "ddd dd dddd")
}

func saysSocialSecurity(s string, lo int) bool {
	words := wordsBefore(s, lo)
	return slices.Contains(words, "security") && slices.Contains(words, "social")
}

// findSteuerIDs finds German tax ids: eleven digits, one of the first ten digits
// twice or three times and the others once, check digit by ISO 7064 (mod 11,10).
func findSteuerIDs(s string, hit func(lo, hi int)) {
	eachShape(s, hit, func(lo int, d string, _ bool) bool {
		return isSteuerID(d) && !saysOrder(s, lo)
	}, "dd ddd ddd ddd")
}

func isSteuerID(d string) bool {
	if d[0] == '0' {
		return false
	}
	var times [10]int
	product := 10
	for _, c := range []byte(d[:10]) {
		n := int(c - '0')
		times[n]++
		sum := (n + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	repeated := 0
	for _, t := range times {
		if t > 3 {
			return false
		}
		if t > 1 {
			repeated++
		}
	}
	return repeated == 1 && (11-product)%10 == int(d[10]-'0')
}

// findNIRs finds French social security numbers: sex, year, month, department
// (Corsica: 2A, 2B), commune, order, and 97 minus the rest by 97.
func findNIRs(s string, hit func(lo, hi int)) {
	eachShape(s, hit, func(_ int, d string, _ bool) bool { return isNIR(d) }, "d dd dd d* ddd ddd dd")
}

func isNIR(d string) bool {
	if !strings.Contains("123478", d[:1]) {
		return false
	}
	month, _ := strconv.Atoi(d[3:5])
	if !(month >= 1 && month <= 12 || month >= 20 && month <= 42 || month >= 50) {
		return false
	}
	number := d[:13]
	switch d[6] {
	case 'A':
		number = d[:5] + "19" + d[7:13]
	case 'B':
		number = d[:5] + "18" + d[7:13]
	}
	if d[6] > '9' && d[5] != '2' {
		return false
	}
	n, err := strconv.ParseInt(number, 10, 64)
	key, _ := strconv.ParseInt(d[13:], 10, 64)
	return err == nil && key == 97-n%97
}

// findNINOs finds UK national insurance numbers; they have no check digit, but
// letters that are never used.
func findNINOs(s string, hit func(lo, hi int)) {
	eachShape(s, hit, func(lo int, d string, _ bool) bool {
		return !strings.Contains("DFIQUV", d[:1]) && !strings.Contains("DFIQUVO", d[1:2]) && strings.Contains("ABCD", d[8:]) &&
			!slices.Contains([]string{"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}, d[:2]) && !saysOrder(s, lo)
	}, "AA dd dd dd A")
}

const dniLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

// findDNIs finds Spanish identity numbers: eight digits and a letter, mod 23.
func findDNIs(s string, hit func(lo, hi int)) {
	check := func(_ int, d string, _ bool) bool { return isDNI(d) }
	eachShape(s, hit, check, "ddddddddA", "dddddddd-A", "dd.ddd.ddd-A")
}

// findNIEs finds those of foreigners: X, Y or Z stands for 0, 1 or 2.
func findNIEs(s string, hit func(lo, hi int)) {
	check := func(_ int, d string, _ bool) bool {
		i := strings.IndexByte("XYZ", d[0])
		return i >= 0 && isDNI(strconv.Itoa(i)+d[1:])
	}
	eachShape(s, hit, check, "AdddddddA", "A-ddddddd-A")
}

func isDNI(d string) bool {
	n, err := strconv.Atoi(d[:8])
	return err == nil && dniLetters[n%23] == d[8]
}
