package prompts

import (
	"testing"
	"unicode/utf8"
)

// FuzzAnswers: whatever a model says, the checks hold together.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"", "ANVIL_REQ_1_00002 code code", "REQ-0417 alpha bravo", "QUARTZ048213", "ababab", "K557508437185", "\xff\xfe", "ANVIL_REQ_1_00002\x1c", "ﬀ İ ß", "REQ-99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range []Prompt{
			{Builder: WordsV1, Marker: "REQ-0417", Words: []string{"alpha", "bravo"}, Answer: &Expect{Case: NativeNeedle, Want: "K557508437185"}},
			{Builder: AnvilN, Marker: "ANVIL_REQ_1_00002", Words: []string{"code", "code"}, Answer: &Expect{Case: "needle", Want: "QUARTZ048213"}},
		} {
			c, o, a := Canary(text, p), Output(text, p, "strict"), Answer(text, p)
			if c.Passed && (!c.AtStart || c.Foreign > 0 || text[:len(p.Marker)] != p.Marker) {
				t.Errorf("canary %+v of %q", c, text)
			}
			if o.Passed && (o.Got != 2 || o.Extra != 0) || o.Got < 0 || !Output(text, p, "observe").Passed {
				t.Errorf("output %+v of %q", o, text)
			}
			if utf8.RuneCountInString(a.Got) > gotLimit || !Answer(" "+p.Answer.Want+"\n", p).Passed {
				t.Errorf("answer %+v of %q", a, text)
			}
		}
		if n := Normalize(text); Normalize(n) != n && utf8.ValidString(text) {
			t.Errorf("%q is folded to %q and that to %q", text, n, Normalize(n))
		}
		if Degenerate(text) == DegenerateEmpty && Normalize(text) != "" && utf8.ValidString(text) && !blank(text) {
			t.Errorf("%q is empty", text)
		}
	})
}

// blank reports separators that Python and Unicode do not agree on.
func blank(text string) bool {
	for _, r := range text {
		if !pythonSpace(r) {
			return false
		}
	}
	return true
}

// FuzzTemplate: a template's text is never lost or doubled.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "{canary}", "{words}{word-list}", "{{filler}}", "{index", "é{index}é", "{word}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		back := ""
		for _, p := range parseTemplate(text) {
			if p.name != "" {
				p.text = "{" + p.name + "}"
			}
			back += p.text
		}
		if back != text {
			t.Errorf("%q is read as %q", text, back)
		}
	})
}

// FuzzCalibration: whatever an engine counts, a calibration ends, and what it
// says landed did.
func FuzzCalibration(f *testing.F) {
	f.Add(4096, []byte{10, 20, 30})
	f.Add(1, []byte{0})
	f.Fuzz(func(t *testing.T, want int, counts []byte) {
		want %= 1 << 24
		c, looks := Calibrate(want), 0
		for {
			chars, more := c.Next()
			if !more {
				break
			}
			if looks++; looks > CalibrationLooks || chars < 1 {
				t.Fatalf("look %d at %d characters", looks, chars)
			}
			tokens := chars / 3
			if len(counts) > 0 {
				tokens = tokens * int(counts[looks%len(counts)]) / 64
			}
			c.Tell(chars, tokens)
		}
		if cpt, counted, err := c.Result(); err == nil && (abs(counted-want) > max(1, want/50) || !(cpt > 0)) {
			t.Errorf("%d of %d tokens at %v", counted, want, cpt)
		}
	})
}
