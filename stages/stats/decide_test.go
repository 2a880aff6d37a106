package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func above(limit float64) func(Interval) bool {
	return func(iv Interval) bool { return iv.Defined && iv.Lo > limit }
}

func TestItemsToDecide(t *testing.T) {
	for _, c := range []struct {
		n, b, c int
		limit   float64
		want    int
		ok      bool
	}{
		{50, 0, 0, -0.02, 189, true},
		{189, 0, 0, -0.02, 189, true},
		{188, 0, 0, -0.02, 189, true},
		{1000, 0, 0, -0.02, 1000, true},
		{500, 10, 0, -0.02, 0, false},
		{0, 0, 0, -0.02, 0, false},
		{100, 0, 0, -1e-9, 0, false},
	} {
		if got, ok := ItemsToDecide(c.n, c.b, c.c, 0.95, above(c.limit)); got != c.want || ok != c.ok {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
}

// At 10 % even disagreement the answer is near z^2 p/M^2 = 960 items.
func TestItemsToDecideIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(10, 2000).Draw(t, "n")
		b := rapid.IntRange(0, n/4).Draw(t, "b")
		c := rapid.IntRange(b, n/2).Draw(t, "c")
		decided := above(-rapid.Float64Range(0.005, 0.05).Draw(t, "margin"))
		items, ok := ItemsToDecide(n, b, c, 0.95, decided)
		e := Evidence{N: float64(n), B: float64(b), C: float64(c), Binary: true}
		at := func(n int) bool { return decided(Auto(e.Scaled(float64(n)), 0.95)) }
		if !ok || !at(items) || items > n && at(items-1) {
			t.Fatalf("%d, %v is not the smallest", items, ok)
		}
		if auto, _ := ItemsToDecideAuto(e, 0.95, decided); auto != items {
			t.Fatalf("auto says %d, tango %d", auto, items)
		}
	})
	if got, ok := ItemsToDecide(100, 5, 5, 0.95, above(-0.02)); !ok || math.Abs(float64(got)-960) > 40 {
		t.Errorf("10 %% even disagreement: %d", got)
	}
}

func TestItemsToDecideFractional(t *testing.T) {
	p := Paired{N: 50, Mean: 0.001, SD: 0.2}
	got, ok := ItemsToDecideMean(p, 0.95, above(-0.02))
	// z^2 sd^2 / 0.021^2 = 348.4, a little more with t.
	if !ok || got < 349 || got > 353 {
		t.Errorf("%d, %v", got, ok)
	}
	// Auto needs 100 items and 10 differences, however small the spread.
	e := Evidence{N: 50, B: 1, C: 1, Mean: 0.001, SD: 0.0001}
	if got, ok := ItemsToDecideAuto(e, 0.95, above(-0.02)); !ok || got != 250 {
		t.Errorf("%d, %v; want 250 items for 10 differences", got, ok)
	}
}

func TestSummaryItemsToDecide(t *testing.T) {
	for _, c := range []struct {
		pairs    []Pair
		interval string
		ok       bool
		lo, hi   int
	}{
		{tablePairs(50, 0, 0), "auto", true, 189, 189},
		{tablePairs(50, 0, 0), "tango", true, 189, 189},
		{tablePairs(100, 5, 5), "bootstrap", true, 700, 1300},
		{tablePairs(100, 5, 5), "t", true, 900, 1050},
		{tablePairs(50, 0, 0), "t", false, 0, 0},
		{nil, "auto", false, 0, 0},
	} {
		s := mustCompare(t, c.pairs, Options{Interval: c.interval}).Overall
		got, ok := s.ItemsToDecide(above(-0.02))
		if ok != c.ok || got < c.lo || got > c.hi {
			t.Errorf("%s with %d items: %d, %v", c.interval, len(c.pairs), got, ok)
		}
	}
}
