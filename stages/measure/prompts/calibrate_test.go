package prompts

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// calibrate runs a calibration against an engine and returns what it asked.
func calibrate(c *Calibration, count func(chars int) int) (asked []int) {
	for range 100 {
		chars, more := c.Next()
		if !more {
			break
		}
		asked = append(asked, chars)
		c.Tell(chars, count(chars))
	}
	return asked
}

func TestCalibration(t *testing.T) {
	linear := func(overhead, ratio float64) func(int) int {
		return func(chars int) int { return int(overhead + float64(chars)/ratio) }
	}
	limited := func(limit int, count func(int) int) func(int) int {
		return func(chars int) int { return min(limit, count(chars)) }
	}
	for name, c := range map[string]struct {
		want  int
		count func(int) int
		err   error
		looks int // at most
	}{
		"as nominal":       {8192, linear(0, 3), nil, 2},
		"dense":            {8192, linear(20, 4.6), nil, 3},
		"loose":            {8192, linear(20, 1.3), nil, 4},
		"long preamble":    {512, linear(400, 4), nil, 5},
		"short":            {64, linear(30, 4), nil, 5},
		"tiny":             {16, linear(9, 4), nil, 6},
		"at the limit":     {4096, limited(4096, linear(20, 4.2)), nil, 4},
		"cut off below":    {8192, limited(4096, linear(20, 4.2)), ErrTruncates, 3},
		"cut off at once":  {4096, limited(4096, linear(20, 2)), ErrTruncates, 3},
		"cut to half":      {4096, func(n int) int { return map[bool]int{true: n / 3, false: 2048}[n < 12000] }, ErrTruncates, 4},
		"falls":            {4096, func(n int) int { return max(1, 6000-n/4) }, ErrNotMonotone, 3},
		"says nothing":     {4096, func(int) int { return 0 }, ErrNoCount, 1},
		"preamble too big": {100, linear(400, 4), ErrNoLength, 8},
		"nothing wanted":   {0, linear(0, 3), ErrNoLength, 0},
	} {
		k := Calibrate(c.want)
		asked := calibrate(k, c.count)
		cpt, counted, err := k.Result()
		if !errors.Is(err, c.err) || len(asked) > c.looks {
			t.Errorf("%s: %v, asked %v", name, err, asked)
			continue
		}
		if c.err != nil {
			if cpt != 0 || counted != 0 {
				t.Errorf("%s: failed, and yet %v and %d", name, cpt, counted)
			}
			continue
		}
		chars := int(math.Round(cpt * float64(c.want)))
		if counted != c.count(chars) || math.Abs(float64(counted-c.want)) > max(1, accepted*float64(c.want)) {
			t.Errorf("%s: %d tokens in %d characters, asked %v", name, counted, chars, asked)
		}
	}
}

func TestCalibrationIsNotDoneEarly(t *testing.T) {
	c := Calibrate(4096)
	if _, _, err := c.Result(); err == nil {
		t.Error("a result before any look")
	}
	chars, _ := c.Next()
	c.Tell(chars, 4096)
	if _, _, err := c.Result(); err == nil {
		t.Error("a count that may be the engine's limit is a result")
	}
}

// TestCalibrationLands: whatever the tokenizer and the chat template, a length
// that can be had is found.
func TestCalibrationLands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratio, overhead := rapid.Float64Range(1, 8).Draw(t, "ratio"), rapid.IntRange(0, 300).Draw(t, "overhead")
		want := overhead + rapid.IntRange(20, 300000).Draw(t, "want")
		noise := rapid.SliceOfN(rapid.Float64Range(-0.004, 0.004), CalibrationLooks, CalibrationLooks).Draw(t, "noise")
		short := rapid.IntRange(0, 8).Draw(t, "characters cut off at a word")
		c := Calibrate(want)
		var asked []int
		for chars, more := c.Next(); more; chars, more = c.Next() {
			sent := max(1, chars-short)
			c.Tell(sent, overhead+int(float64(sent)/ratio*(1+noise[len(asked)])))
			asked = append(asked, chars)
		}
		if _, counted, err := c.Result(); err != nil || math.Abs(float64(counted-want)) > max(1, accepted*float64(want)) || len(asked) > CalibrationLooks {
			t.Fatalf("%d of %d tokens, asked %v: %v", counted, want, asked, err)
		}
	})
}
