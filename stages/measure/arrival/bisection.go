package arrival

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/metric"
)

// MaxProbes bounds a search, its confirmations of one answer not counted.
const MaxProbes = 40

// Look is one probe of a search and what it showed.
type Look struct {
	At    float64 // req/s or requests in flight
	Trial int     // 1 = the bisection's own, 2 and up confirm
	Holds bool
}

// Found is where a search stands; what it found, once it is done.
type Found struct {
	// At is the largest load that held, and still held in every confirmation
	// when Confirmed; nil = none does.
	At        *float64
	Confirmed bool
	// AtLeast: the upper end of the search held too, so At is a lower bound.
	AtLeast bool
	// Above is the smallest load that did not hold, nil = none was seen.
	Above *float64
	// Why says why there is no confirmed answer: "low-fails" or
	// "probes-exhausted"; "" = there is one.
	Why   string
	Looks []Look // in order
}

// Bisection searches for the largest load that holds: the lower end first,
// then the upper end, then between the two, rates by the geometric mean until
// upper/lower <= 1 + tolerance, concurrencies by the middle until they are
// neighbours. The answer is then looked at again in further trials. One of
// those that does not hold counts as the load not holding: the search goes on
// below it, from the next load that held.
//
//	low ─fails─▶ none
//	 │holds
//	high ─holds──────────────▶ confirm ─all hold─▶ done
//	 │fails                    ▲  │fails: upper = it, lower = next that held
//	 ▼                         │  ▼
//	between ─narrow enough─────┘◀─┘ (back to between while it is wide)
//
// It assumes that what holds at a load holds at every smaller one. With noise
// that is true of the chance to hold, not of each look: a load that could hold
// and fails once is given up for good, one that holds by luck must be as lucky
// 1 + confirm times. The answer therefore errs to the low side, more so the
// more trials confirm it, and is never above a load that was seen to fail.
//
// The zero value is not usable; see NewBisection. Not safe for concurrent use.
type Bisection struct {
	whole     bool // concurrencies
	tolerance float64
	confirm   int

	low, high float64
	held      []float64 // loads that hold so far, ascending, each below upper
	upper     float64   // smallest load that failed, +Inf = none

	at    float64 // the probe that is due
	trial int
	done  bool
	why   string
	looks []Look
}

// NewBisection begins a search with the ends, tolerance and confirmations of s.
func NewBisection(s spec.Search) (*Bisection, error) {
	b := &Bisection{
		whole: s.Over == "concurrency", tolerance: s.Tolerance, confirm: s.Confirm,
		low: s.Low, high: s.High, upper: math.Inf(1), at: s.Low, trial: 1,
	}
	switch {
	case s.Over != "rate" && s.Over != "concurrency":
		return nil, fmt.Errorf("search over %q: known are rate and concurrency", s.Over)
	case !(s.Low > 0 && s.High >= s.Low && s.High <= MaxRate):
		return nil, fmt.Errorf("search from %v to %v: want 0 < low <= high <= %d", s.Low, s.High, MaxRate)
	case b.whole && (s.Low != math.Trunc(s.Low) || s.High != math.Trunc(s.High)):
		return nil, fmt.Errorf("search from %v to %v: concurrencies are whole numbers", s.Low, s.High)
	case !b.whole && !(s.Tolerance > 0 && s.Tolerance < 1):
		return nil, fmt.Errorf("search tolerance %v: want more than 0 and less than 1", s.Tolerance)
	case s.Confirm < 0 || s.Confirm > 20:
		return nil, fmt.Errorf("search confirms %d times: want 0 to 20", s.Confirm)
	}
	return b, nil
}

// Next is the probe that is due, the same one until Tell is called. done means
// that there is none.
func (b *Bisection) Next() (at float64, trial int, done bool) {
	if b.done {
		return 0, 0, true
	}
	return b.at, b.trial, false
}

// Tell says whether the load of the due probe held. After the end it does
// nothing.
func (b *Bisection) Tell(holds bool) {
	if b.done {
		return
	}
	b.looks = append(b.looks, Look{At: b.at, Trial: b.trial, Holds: holds})
	switch {
	case !holds:
		b.fail()
	case b.trial == 1:
		b.held = append(b.held, b.at)
	}
	b.choose(holds)
	if !b.done && len(b.looks) >= MaxProbes+b.confirm {
		b.end(metric.ProbesExhausted)
	}
}

// fail takes the due load and everything above it out of what holds.
func (b *Bisection) fail() {
	b.upper = min(b.upper, b.at)
	for len(b.held) > 0 && b.held[len(b.held)-1] >= b.upper {
		b.held = b.held[:len(b.held)-1]
	}
}

// choose decides what is looked at next.
func (b *Bisection) choose(held bool) {
	if len(b.held) == 0 {
		b.end(metric.LowFails)
		return
	}
	lower := b.held[len(b.held)-1]
	switch mid, ok := b.between(lower); {
	case math.IsInf(b.upper, 1) && lower < b.high:
		b.at, b.trial = b.high, 1
	case ok:
		b.at, b.trial = mid, 1
	case held && b.trial > b.confirm && b.at == lower:
		b.end("")
	case held && b.at == lower:
		b.trial++
	default:
		b.at, b.trial = lower, 2
		if b.confirm == 0 {
			b.end("")
		}
	}
}

func (b *Bisection) end(why string) { b.done, b.why = true, why }

// between is the next load between lower and the smallest that failed; ok is
// false when the two are close enough.
func (b *Bisection) between(lower float64) (mid float64, ok bool) {
	switch {
	case math.IsInf(b.upper, 1):
		return 0, false
	case b.whole:
		mid = math.Floor((lower + b.upper) / 2)
		return mid, mid > lower
	case b.upper/lower <= 1+b.tolerance:
		return 0, false
	}
	mid = math.Sqrt(lower * b.upper)
	if short := fourDigits(mid); short > lower && short < b.upper {
		mid = short // a rate that people can read
	}
	return mid, mid > lower && mid < b.upper
}

func fourDigits(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // cannot fail: it was just written
	return short
}

// Result is what is known so far, and the answer once Next says done.
func (b *Bisection) Result() Found {
	f := Found{Why: b.why, Looks: append([]Look(nil), b.looks...)}
	if n := len(b.held); n > 0 {
		at := b.held[n-1]
		f.At, f.Confirmed = &at, b.done && b.why == ""
		f.AtLeast = f.Confirmed && at == b.high
	}
	if !math.IsInf(b.upper, 1) {
		above := b.upper
		f.Above = &above
	}
	return f
}
