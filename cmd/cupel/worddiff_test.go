package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordDiff(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"the sum is 42", "the sum is 43", "the sum is [-42-] {+43+}"},
		{"same", "same", ""},
		{"", "new words", "{+new words+}"},
		{"gone", "", "[-gone-]"},
		{"a b c d", "a x c", "a [-b-] {+x+} c [-d-]"},
		{strings.Repeat("w ", 401), "w", ""},
	} {
		if got := wordDiff(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// Either side comes back when the other side's words are taken out.
func TestWordDiffKeepsBoth(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		x, y := words.Draw(t, "x"), words.Draw(t, "y")
		d := wordDiff(strings.Join(x, " "), strings.Join(y, " "))
		if d == "" {
			return
		}
		var a, b []string
		for _, part := range splitMarks(d) {
			switch {
			case strings.HasPrefix(part, "[-"):
				a = append(a, strings.Fields(part[2:len(part)-2])...)
			case strings.HasPrefix(part, "{+"):
				b = append(b, strings.Fields(part[2:len(part)-2])...)
			default:
				a, b = append(a, part), append(b, part)
			}
		}
		if strings.Join(a, " ") != strings.Join(x, " ") || strings.Join(b, " ") != strings.Join(y, " ") {
			t.Fatalf("%q: %q and %q", d, a, b)
		}
	})
}

func splitMarks(d string) (out []string) {
	for d != "" {
		end := strings.IndexByte(d, ' ')
		for _, m := range []string{"-]", "+}"} {
			if strings.HasPrefix(d, "[-") && m == "-]" || strings.HasPrefix(d, "{+") && m == "+}" {
				end = strings.Index(d, m) + 2
			}
		}
		if end < 0 || end > len(d) {
			end = len(d)
		}
		out, d = append(out, d[:end]), strings.TrimPrefix(d[end:], " ")
	}
	return out
}
