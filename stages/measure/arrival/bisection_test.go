package arrival

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
)

// play runs a search to its end against a system.
func play(t interface{ Fatalf(string, ...any) }, s spec.Search, holds func(at float64, trial int) bool) Found {
	b, err := NewBisection(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for range 1000 {
		at, trial, done := b.Next()
		if done {
			return b.Result()
		}
		if again, _, _ := b.Next(); again != at {
			t.Fatalf("Next is %v, then %v", at, again)
		}
		b.Tell(holds(at, trial))
	}
	t.Fatalf("the search does not end")
	return Found{}
}

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// Each script is what the probes say in order; the search must ask for exactly
// these loads.
func TestBisectionSteps(t *testing.T) {
	rate := spec.Search{Over: "rate", Low: 1, High: 16, Tolerance: 0.5, Confirm: 2}
	whole := spec.Search{Over: "concurrency", Low: 1, High: 8, Confirm: 1}
	plain := whole
	plain.Confirm = 0
	for _, c := range []struct {
		name  string
		s     spec.Search
		looks []Look
		at    float64 // NaN = none
		above float64
		least bool
		why   string
	}{
		{"nothing holds", rate, []Look{{1, 1, false}}, math.NaN(), 1, false, "low-fails"},
		{"everything holds", rate, []Look{{1, 1, true}, {16, 1, true}, {16, 2, true}, {16, 3, true}}, 16, math.NaN(), true, ""},
		{"between", rate, []Look{{1, 1, true}, {16, 1, false}, {4, 1, true}, {8, 1, false}, {5.657, 1, true}, {5.657, 2, true}, {5.657, 3, true}}, 5.657, 8, false, ""},
		{"high does not confirm", rate, []Look{{1, 1, true}, {16, 1, true}, {16, 2, false}, {4, 1, true}, {8, 1, true}, {11.31, 1, true}, {11.31, 2, true}, {11.31, 3, true}}, 11.31, 16, false, ""},
		{"steps down", rate, []Look{{1, 1, true}, {16, 1, false}, {4, 1, true}, {8, 1, false}, {5.657, 1, true}, {5.657, 2, true}, {5.657, 3, false}, {4, 2, true}, {4, 3, true}}, 4, 5.657, false, ""},
		{"steps down to nothing", rate, []Look{{1, 1, true}, {16, 1, false}, {4, 1, false}, {2, 1, false}, {1.414, 1, false}, {1, 2, false}}, math.NaN(), 1, false, "low-fails"},
		{"neighbours", whole, []Look{{1, 1, true}, {8, 1, false}, {4, 1, true}, {6, 1, false}, {5, 1, true}, {5, 2, true}}, 5, 6, false, ""},
		{"back to between", whole, []Look{{1, 1, true}, {8, 1, true}, {8, 2, false}, {4, 1, false}, {2, 1, true}, {3, 1, false}, {2, 2, false}, {1, 2, true}}, 1, 2, false, ""},
		{"no confirmation", plain, []Look{{1, 1, true}, {8, 1, false}, {4, 1, false}, {2, 1, false}}, 1, 2, false, ""},
		{"one load", spec.Search{Over: "concurrency", Low: 3, High: 3}, []Look{{3, 1, true}}, 3, math.NaN(), true, ""},
	} {
		i := 0
		f := play(t, c.s, func(at float64, trial int) bool {
			if i == len(c.looks) || c.looks[i].At != at || c.looks[i].Trial != trial {
				t.Fatalf("%s: probe %d is %v trial %d, want %+v", c.name, i, at, trial, c.looks)
			}
			i++
			return c.looks[i-1].Holds
		})
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(value(f.At), c.at) || !same(value(f.Above), c.above) || f.AtLeast != c.least || f.Why != c.why || f.Confirmed != (c.why == "") || !reflect.DeepEqual(f.Looks, c.looks) {
			t.Errorf("%s: found %v below %v, %+v; want %v below %v", c.name, value(f.At), value(f.Above), f, c.at, c.above)
		}
	}
}

var searches = rapid.Custom(func(t *rapid.T) spec.Search {
	s := spec.Search{Over: "rate", Confirm: rapid.IntRange(0, 20).Draw(t, "confirm"), Tolerance: rapid.Float64Range(0.001, 0.9).Draw(t, "tolerance")}
	s.Low = rapid.Float64Range(0.01, 100).Draw(t, "low")
	s.High = s.Low * rapid.Float64Range(1, 1000).Draw(t, "times")
	if rapid.Bool().Draw(t, "whole") {
		s.Over, s.Low, s.High = "concurrency", math.Ceil(s.Low), math.Ceil(s.High)
	}
	return s
})

// edge is a true limit somewhere in or beside the range of the search.
func edge(t *rapid.T, s spec.Search) float64 {
	x := rapid.Float64Range(-0.1, 1.1).Draw(t, "limit")
	return s.Low * math.Pow(s.High/s.Low, x)
}

// step is how far below a load that fails the answer may lie.
func within(s spec.Search, answer, limit float64) bool {
	if s.Over == "concurrency" {
		return answer+1 > limit
	}
	return answer*(1+s.Tolerance) >= limit*(1-1e-9)
}

func TestBisectionFindsTheLimitOfASteadySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := searches.Draw(t, "search")
		limit := edge(t, s)
		f := play(t, s, func(at float64, _ int) bool { return at <= limit })
		switch {
		case limit < s.Low:
			if f.At != nil || f.Why != "low-fails" || f.Confirmed {
				t.Fatalf("found %v though the low end fails", value(f.At))
			}
		case limit >= s.High:
			if value(f.At) != s.High || !f.AtLeast || f.Above != nil {
				t.Fatalf("found %v, at least %v, though the high end holds", value(f.At), f.AtLeast)
			}
		case value(f.At) > limit || !within(s, value(f.At), limit) || f.AtLeast || !f.Confirmed:
			t.Fatalf("found %v (confirmed %v), the limit is %v", value(f.At), f.Confirmed, limit)
		}
		if len(f.Looks) > MaxProbes {
			t.Fatalf("%d probes", len(f.Looks))
		}
	})
}

// Between limit*(1-w) and limit*(1+w) a probe holds by chance, the less the
// higher its load. Whatever the chance does, a confirmed answer held every
// time it was looked at, lies below the band's end, and is not below what the
// band's beginning allows.
func TestBisectionHoldsUnderNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := searches.Draw(t, "search")
		limit, w := edge(t, s), rapid.Float64Range(0.01, 0.4).Draw(t, "width")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		from, to := limit*(1-w), limit*(1+w)
		f := play(t, s, func(at float64, _ int) bool { return rng.Float64() < (to-at)/(to-from) })
		if len(f.Looks) > MaxProbes+s.Confirm {
			t.Fatalf("%d probes", len(f.Looks))
		}
		if !f.Confirmed {
			if f.Why == "low-fails" && s.Low <= from || f.Why == "" {
				t.Fatalf("no answer (%q) from %v, though everything below %v holds", f.Why, s.Low, from)
			}
			return
		}
		if *f.At >= to || *f.At < s.High && !within(s, *f.At, from) {
			t.Fatalf("found %v, the band is from %v to %v", *f.At, from, to)
		}
		held := 0
		for _, l := range f.Looks {
			if l.At == *f.At && l.Holds {
				held++
			} else if l.At <= *f.At && !l.Holds {
				t.Fatalf("found %v though %v failed", *f.At, l.At)
			}
		}
		if held != 1+s.Confirm {
			t.Fatalf("the answer held %d times, want %d", held, 1+s.Confirm)
		}
	})
}

// Confirmation buys safety: the answer's true chance to hold grows with it.
func TestConfirmationErrsToTheLowSide(t *testing.T) {
	mean := func(confirm int) (sum float64) {
		rng := rand.New(rand.NewPCG(7, 7))
		s := spec.Search{Over: "rate", Low: 1, High: 100, Tolerance: 0.02, Confirm: confirm}
		for range 500 {
			f := play(t, s, func(at float64, _ int) bool { return rng.Float64() < 1/(1+math.Pow(at/20, 20)) })
			if f.Confirmed {
				sum += 1 / (1 + math.Pow(*f.At/20, 20)) / 500
			}
		}
		return sum
	}
	none, two, five := mean(0), mean(2), mean(5)
	if !(none < two && two < five && five > 0.8) {
		t.Errorf("the answers hold with chance %.2f, %.2f, %.2f after 0, 2 and 5 confirmations", none, two, five)
	}
}

func TestBisectionEndsWhenProbesAreUsedUp(t *testing.T) {
	s := spec.Search{Over: "rate", Low: 1, High: 100_000, Tolerance: 1e-15, Confirm: 3}
	f := play(t, s, func(at float64, _ int) bool { return at <= 77.7 })
	if f.Confirmed || f.Why != "probes-exhausted" || len(f.Looks) != MaxProbes+3 || value(f.At) > 77.7 || value(f.Above) <= 77.7 {
		t.Errorf("after %d probes: %v below %v, %q", len(f.Looks), value(f.At), value(f.Above), f.Why)
	}
}

func TestBisectionRefuses(t *testing.T) {
	good := spec.Search{Over: "rate", Low: 1, High: 2, Tolerance: 0.1}
	if _, err := NewBisection(good); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*spec.Search){
		func(s *spec.Search) { s.Over = "tokens" },
		func(s *spec.Search) { s.Low = 0 },
		func(s *spec.Search) { s.Low = math.NaN() },
		func(s *spec.Search) { s.High = 0.5 },
		func(s *spec.Search) { s.High = math.Inf(1) },
		func(s *spec.Search) { s.Tolerance = 0 },
		func(s *spec.Search) { s.Tolerance = 1 },
		func(s *spec.Search) { s.Confirm = -1 },
		func(s *spec.Search) { s.Confirm = 21 },
		func(s *spec.Search) { s.Over, s.Low = "concurrency", 1.5 },
	} {
		s := good
		change(&s)
		if _, err := NewBisection(s); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
