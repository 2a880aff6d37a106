package scrub

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Every decimal digit of Unicode is read as what it is.
func TestDigits(t *testing.T) {
	for lo := rune(0x80); lo <= unicode.MaxRune; lo++ {
		if !unicode.Is(unicode.Nd, lo) {
			continue
		}
		c, how := foldRune(lo)
		if how != folded || !isDigit(c) {
			t.Fatalf("%U is %q (%v)", lo, c, how)
		}
		if n := norm.NFKC.String(string(lo)); len(n) == 1 && n[0] != c {
			t.Errorf("%U is %q, NFKC says %s", lo, c, n)
		}
	}
}

// The view leads back to the bytes of the original.
func TestFold(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		seen       bool
	}{
		{"plain", "", false},
		{"süß und naïve", "", false},
		{"，（）：是的", "", false},
		{"a – b, 120\u00a0km, 👨\u200d👩", "", false},
		{"４１a\u200b１", "41a1", true},
		{"x\u2011y", "x-y", true},
		{"1\u30001", "1 1", true},
		{"x²４", "x²4", true},
		{"\xff４", "\xff4", true},
	} {
		v, seen := fold(tc.text)
		if seen != tc.seen || v.text != tc.want {
			t.Errorf("%q: %q, %v; want %q, %v", tc.text, v.text, seen, tc.want, tc.seen)
		}
		for i := range len(v.text) {
			if v.lo[i] >= v.hi[i] || v.hi[i] > len(tc.text) || i > 0 && v.lo[i] < v.hi[i-1] {
				t.Errorf("%q: byte %d of the view stands at [%d,%d)", tc.text, i, v.lo[i], v.hi[i])
			}
		}
	}
}
