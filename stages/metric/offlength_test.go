package metric

import "testing"

// A cell whose prompts are of another length than asked for is another cell; a
// stray prompt is told, and a nominal length promises nothing.
func TestOffLength(t *testing.T) {
	cell := func(nominal bool, tokens ...int64) Cell {
		trial := calm(Trial{WallNS: 3e9, Nominal: nominal})
		for _, n := range tokens {
			r := golden()
			r.PromptTokens, r.AskedPromptTokens = &n, 1000
			trial.Requests = append(trial.Requests, r)
		}
		return NewCell(at(1), []Trial{trial})
	}
	stray := make([]int64, 40)
	for i := range stray {
		stray[i] = 1005
	}
	stray[7] = 1100
	for name, tt := range map[string]struct {
		c      Cell
		marked bool
		doubt  string
	}{
		"on it":   {cell(false, 990, 1000, 1020), false, ""},
		"half":    {cell(false, 500, 499), true, "off-length: 2 of 2 prompts are more than 2 % off the length asked for; the furthest is 0.499 of it"},
		"stray":   {cell(false, stray...), false, "1 of 40 prompts are more than 2 %"},
		"nominal": {cell(true, 700, 700), false, "2 of 2 prompts are more than 2 %"},
	} {
		if tt.c.OffLength != tt.marked || tt.doubt != "" && count2(tt.c.Doubts, tt.doubt) != 1 || tt.doubt == "" && count2(tt.c.Doubts, "length asked for") != 0 {
			t.Errorf("%s: %v %q", name, tt.c.OffLength, tt.c.Doubts)
		}
	}
}
