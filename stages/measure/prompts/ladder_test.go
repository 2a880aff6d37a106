package prompts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/evidence"
)

func mustLadder(t testing.TB, tokens int, state string, trial int) LadderSet {
	t.Helper()
	s, err := Ladder("p", tokens, state, trial, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLadder(t *testing.T) {
	heads := map[string]string{}
	for _, state := range []string{Cold, Warm, PrefixCached} {
		for trial := 1; trial <= 2; trial++ {
			s := mustLadder(t, 2048, state, trial)
			codes := map[string]bool{}
			for i := range 8 {
				p := mustBuild(t, s.Timed, i)
				if n := len(p.Text); n > 4*2048 || n < 4*2048-16 || p.AskedTokens != 2048 || p.Length != len(strings.Fields(p.Text)) {
					t.Errorf("%s: %d characters, %d tokens, %d words", state, n, p.AskedTokens, p.Length)
				}
				at := strings.Index(p.Text, "archive is "+p.Answer.Want+".\n")
				if at < 0 || strings.Count(p.Text, p.Answer.Want) != 1 || codes[p.Answer.Want] || !isCode(Normalize(p.Answer.Want)) {
					t.Errorf("%s %d: code %s", state, i, p.Answer.Want)
				}
				codes[p.Answer.Want] = true
				name := strings.Fields(p.Text[strings.LastIndexByte(p.Text[:at], '\n')+1:])[5]
				if !strings.HasSuffix(p.Text, "the access code of the "+name+" archive? Answer with that code and nothing else.") {
					t.Errorf("%s %d asks for another archive than %s", state, i, name)
				}
				head := p.Text[:uniqueWithin]
				if of, seen := heads[head]; seen && (state != PrefixCached || of != state) {
					t.Errorf("%s %d begins like one of %s", state, i, of)
				}
				heads[head] = state
			}
		}
	}
}

func TestLadderBefore(t *testing.T) {
	cold, warm, cached := mustLadder(t, 4096, Cold, 1), mustLadder(t, 4096, Warm, 1), mustLadder(t, 4096, PrefixCached, 1)
	if cold.Before() != 0 || warm.Before() != 1 || cached.Before() != 1 {
		t.Errorf("before: %d, %d, %d", cold.Before(), warm.Before(), cached.Before())
	}
	before := mustBuild(t, warm.Untimed, 0)
	if first := mustBuild(t, warm.Timed, 0); before.Text[:uniqueWithin] == first.Text[:uniqueWithin] || len(before.Text) < len(first.Text)-16 {
		t.Error("the warm-up is not a new prompt of the same length")
	}
	before = mustBuild(t, cached.Untimed, 0)
	shared := before.Text[:strings.LastIndex(before.Text, "\nSay")]
	for i := range 12 {
		p := mustBuild(t, cached.Timed, i)
		if !strings.HasPrefix(p.Text, shared) || float64(len(shared)) < cached.Share*float64(len(p.Text))-1 || p.Text == before.Text {
			t.Errorf("prompt %d was not sent before", i)
		}
	}
	if cold.Share != 0 || cached.Share < 0.99 || before.Answer != nil {
		t.Errorf("shares %v, %v", cold.Share, cached.Share)
	}
	for _, c := range []struct {
		prompt   int
		template *int
		most     int
	}{{4096, nil, 64}, {100000, nil, 1000}, {4096, new(12), 40}, {4096, new(300), 300}, {100000, new(300), 1000}} {
		for _, s := range []LadderSet{cold, warm} {
			if low, high := s.Cached(c.prompt, c.template); low != 0 || high != c.most {
				t.Errorf("%s: %d to %d cached tokens of %d, want at most %d", s.State, low, high, c.prompt, c.most)
			}
		}
	}
	cached.Share = 0.5
	if low, high := cached.Cached(1000, nil); low != 484 || high != 1000 {
		t.Errorf("cached: %d to %d", low, high)
	}
}

func TestLadderRefuses(t *testing.T) {
	for name, try := range map[string]func() (LadderSet, error){
		"state":    func() (LadderSet, error) { return Ladder("p", 2048, "hot", 1, 0, 0) },
		"short":    func() (LadderSet, error) { return Ladder("p", 40, Cold, 1, 0, 0) },
		"shared":   func() (LadderSet, error) { return Ladder("p", 128, PrefixCached, 1, 0, 0) },
		"ratio":    func() (LadderSet, error) { return Ladder("p", 2048, Cold, 1, 0, -3) },
		"negative": func() (LadderSet, error) { return Ladder("p", -1, Warm, 1, 0, 0) },
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestNeedlesSpread: the needles of a few requests already stand all over the
// text.
func TestNeedlesSpread(t *testing.T) {
	for _, state := range []string{Cold, PrefixCached} {
		s, quarters := mustLadder(t, 4096, state, 1), map[int]bool{}
		for i := range 8 {
			p := mustBuild(t, s.Timed, i)
			quarters[4*strings.Index(p.Text, p.Answer.Want)/len(p.Text)] = true
		}
		if len(quarters) != 4 {
			t.Errorf("%s: needles in quarters %v only", state, quarters)
		}
	}
}

func TestNeedleAnswer(t *testing.T) {
	p := Prompt{Answer: &Expect{Case: "needle", Position: "0.42", Want: "QUARTZ048213"}}
	for text, passed := range map[string]bool{
		"QUARTZ048213":                         true,
		" quartz048213.\n":                     true,
		"The code is **QUARTZ048213**.":        true,
		"_QUARTZ048213_":                       true,
		"Meridian: `Quartz048213`":             true,
		"Request 123456: QUARTZ048213":         true,
		"QUARTZ048213 QUARTZ048213":            true,
		"":                                     false,
		"QUARTZ04821":                          false,
		"QUARTZ0482131":                        false,
		"XQUARTZ048213":                        false,
		"QUARTZ 048213":                        false,
		"QUARTZ048213 or AMBER111111":          false,
		"amber111111, quartz048213":            false,
		"not AMBER111111x but QUARTZ048213 it": true,
		"日本QUARTZ048213":                       false,
	} {
		want := evidence.Answer{Case: "needle", Position: "0.42", Want: "QUARTZ048213", Got: strings.TrimSpace(text), Passed: passed}
		if d := cmp.Diff(&want, Answer(text, p)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	if got := Answer(strings.Repeat("é", 300), p).Got; len([]rune(got)) != 200 {
		t.Errorf("%d characters are kept", len([]rune(got)))
	}
	if Answer("x", Prompt{}) != nil {
		t.Error("an answer to a prompt without a right one is judged")
	}
}

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"  a\n\tB  c ": "a b c", "STRASSE": "strasse", "straße": "strasse", "ΣΊΣΥΦΟΣ": "σίσυφοσ", "ς": "σ",
		"İ": "i\u0307", "ﬁn": "fin", "a\u00a0\u2003b\x1cc": "a b c", "": "", " \n": "",
	} {
		if got := Normalize(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCodesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rung{key: rapid.String().Draw(t, "key")}
		seen := map[string]bool{}
		for i := range 500 {
			c := code(random(key(r.key, i)), i)
			if digits := c[len(c)-4:]; seen[digits] || !isCode(Normalize(c)) {
				t.Fatalf("code %s of %d", c, i)
			} else {
				seen[digits] = true
			}
		}
	})
}
