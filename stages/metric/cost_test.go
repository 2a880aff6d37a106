package metric

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBusy(t *testing.T) {
	const s = 1_000_000_000
	for name, c := range map[string]struct {
		spans []Span
		want  float64
		why   string
	}{
		"none":             {nil, 0, NoRequests},
		"one":              {[]Span{{5 * s, 7 * s}}, 2, ""},
		"side by side":     {[]Span{{0, 3 * s}, {s, 2 * s}, {2 * s, 5 * s}}, 5, ""},
		"a pause":          {[]Span{{100 * s, 101 * s}, {0, s}}, 2, ""},
		"touching":         {[]Span{{0, s}, {s, 2 * s}}, 2, ""},
		"no length":        {[]Span{{s, s}}, 0, ""},
		"backwards":        {[]Span{{0, s}, {2 * s, s}}, 0, InconsistentTime},
		"a wall clock now": {[]Span{{1_764_000_000 * s, 1_764_000_001 * s}}, 1, ""},
	} {
		got := Busy(c.spans, nil)
		if got.Reason != c.why || c.why == "" && math.Abs(*got.Value-c.want) > 1e-6 {
			t.Errorf("%s: %+v, want %v %s", name, got, c.want, c.why)
		}
	}
}

// The union equals counting, tick by tick, where a span is.
func TestBusyByCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, 60)
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
			a, b := at.Draw(t, "a"), at.Draw(t, "b")
			return Span{min(a, b), max(a, b)}
		}), 1, 12).Draw(t, "spans")
		want := 0
		for tick := range int64(60) {
			if slices.ContainsFunc(spans, func(s Span) bool { return s.Start <= tick && tick < s.End }) {
				want++
			}
		}
		if got := *Busy(spans, nil).Value * 1e9; math.Abs(got-float64(want)) > 1e-6 {
			t.Fatalf("%v ticks, counted %d", got, want)
		}
	})
}

// Whatever part of a set is kept, the parts together take what all took.
func TestBusyShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, 1e12)
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
			a, b := at.Draw(t, "a"), at.Draw(t, "b")
			return Span{1_764_000_000e9 + min(a, b), 1_764_000_000e9 + max(a, b)}
		}), 2, 12).Draw(t, "spans")
		n := rapid.IntRange(1, len(spans)-1).Draw(t, "kept")
		all, kept, rest := *Busy(spans, nil).Value, *Busy(spans[:n], spans[n:]).Value, *Busy(spans[n:], spans[:n]).Value
		if math.Abs(kept+rest-all) > 1e-5 || kept < 0 || kept > all+1e-5 {
			t.Fatalf("%v s and %v s of %v s", kept, rest, all)
		}
	})
	const s = 1_000_000_000
	for name, c := range map[string]struct {
		spans, beside []Span
		want          float64
		why           string
	}{
		"alike":          {[]Span{{0, 10 * s}}, []Span{{0, 10 * s}}, 5, ""},
		"in part":        {[]Span{{0, 10 * s}}, []Span{{8 * s, 20 * s}}, 9, ""},
		"two of three":   {[]Span{{0, 3 * s}, {0, 3 * s}}, []Span{{0, 3 * s}}, 2, ""},
		"apart":          {[]Span{{0, 3 * s}}, []Span{{4 * s, 5 * s}}, 3, ""},
		"none":           {nil, []Span{{0, s}}, 0, NoRequests},
		"backwards":      {[]Span{{0, s}}, []Span{{2 * s, s}}, 0, InconsistentTime},
		"no time at all": {[]Span{{s, s}}, []Span{{s, s}}, 0, ""},
	} {
		got := Busy(c.spans, c.beside)
		if got.Reason != c.why || c.why == "" && math.Abs(*got.Value-c.want) > 1e-6 {
			t.Errorf("%s: %+v, want %v %s", name, got, c.want, c.why)
		}
	}
}

func TestNewCost(t *testing.T) {
	eur := &Price{GPUHour: 2.5, Currency: "EUR"}
	// 1,440 s on 2 GPUs are 0.8 GPU hours, 2 EUR: for 400 items, 320 right.
	c := NewCost(CostInput{Busy: Of(1440, unitS), GPUs: 2, Price: eur, Items: 400, Correct: Of(320, "items")})
	for name, x := range map[string]struct {
		got  Value
		want float64
		unit string
	}{
		"GPU hours":     {c.GPUHours, 0.8, unitGPUHours},
		"hours per 1k":  {c.Per1kItemsGPU, 2, unitGPUHours},
		"per 1k items":  {c.Per1kItems, 5, "EUR"},
		"per 1k right":  {c.Per1kCorrect, 6.25, "EUR"},
		"busy as given": {c.BusyS, 1440, unitS},
	} {
		if x.got.Value == nil || math.Abs(*x.got.Value-x.want) > 1e-12 || x.got.Unit != x.unit {
			t.Errorf("%s: %+v, want %v %s", name, x.got, x.want, x.unit)
		}
	}
}

// What is not known is null with its reason, never 0; a price of 0 is a price.
func TestCostReasons(t *testing.T) {
	eur := &Price{GPUHour: 2, Currency: "EUR"}
	busy, right := Of(60, unitS), Of(5, "items")
	for name, c := range map[string]struct {
		in                    CostInput
		hours, items, correct string
	}{
		"all there":    {CostInput{busy, 1, eur, 10, right}, "", "", ""},
		"free":         {CostInput{busy, 1, &Price{Currency: "EUR"}, 10, right}, "", "", ""},
		"no price":     {CostInput{busy, 1, nil, 10, right}, "", NoPrice, NoPrice},
		"no GPU count": {CostInput{busy, 0, eur, 10, right}, NoGPUCount, NoGPUCount, NoGPUCount},
		"no time":      {CostInput{Busy(nil, nil), 1, eur, 10, right}, NoRequests, NoRequests, NoRequests},
		"no items":     {CostInput{busy, 1, eur, 0, right}, "", NoAnswers, ""},
		"none correct": {CostInput{busy, 1, eur, 10, Of(0, "items")}, "", "", NoCorrectItems},
		"unscored":     {CostInput{busy, 1, eur, 10, Null(Unscored, "items")}, "", "", Unscored},
		"too much":     {CostInput{Of(math.MaxFloat64, unitS), 9999, eur, 10, right}, NotFinite, NotFinite, NotFinite},
	} {
		got := NewCost(c.in)
		for what, x := range map[string]struct {
			v   Value
			why string
		}{"hours": {got.GPUHours, c.hours}, "items": {got.Per1kItems, c.items}, "correct": {got.Per1kCorrect, c.correct}} {
			if x.v.Reason != x.why || (x.v.Value == nil) != (x.why != "") || x.v.Unit == "" {
				t.Errorf("%s, %s: %+v, want reason %q", name, what, x.v, x.why)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"gpu_hours", "cost.per_1k_items", "cost.per_1k_correct"} {
		if d, ok := Lookup(id); !ok || d.Scope != scopeQuality {
			t.Errorf("%s is not in the dictionary", id)
		}
	}
}
