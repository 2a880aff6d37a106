package energy

import (
	"math"
	"math/bits"
	"slices"
)

// tick is a change of a counter: it happened after the look before, and not later than
// the one that saw it.
type tick struct {
	before, look int64
	j            float64 // J since the first look
}

func (k tick) middle() int64 { return k.before + (k.look-k.before)/2 }

// placed says when changes happened, those aside that say nothing of it (see clear),
// and how long the period is, in ns.
//
// Of one change alone, all moments between two looks are equally likely, and the
// middle is the one that is not off in one direction. But counters are published by
// a clock. A change and its neighbours, moved by the whole periods between them, bound
// its moment from both sides, and looks that come at another place of each period see
// together more than one. As many neighbours are asked as agree: where even the
// nearest contradict one another, the counter is not published evenly, and the middle
// it is.
func placed(ticks []tick) (kept []tick, at []int64, period float64) {
	ticks, number, about := paced(ticks)
	if number == nil {
		for _, k := range ticks {
			at = append(at, k.middle())
		}
		return ticks, at, about
	}
	at = make([]int64, len(ticks))
	period = slope(ticks, number, about)
	low, high := newExtremes(len(ticks)), newExtremes(len(ticks))
	for i, k := range ticks {
		moved := number[i] * period
		low.of[0][i], high.of[0][i] = moved-float64(k.before), float64(k.look)-moved // least of both is the tightest
	}
	low.fill()
	high.fill()
	for i := range ticks {
		at[i] = ticks[i].among(low, high, i, number[i]*period)
		if i > 0 {
			at[i] = max(at[i], at[i-1])
		}
	}
	return ticks, at, about
}

// periodSteps are enough guesses where one look in three was missed.
const periodSteps = 4

// paced are the changes that say something, each with the number of periods up to
// it, and the period. A first guess of that is too long where looks were missed, so
// that a few are made; number is nil where fewer than two changes are left.
func paced(ticks []tick) (kept []tick, number []float64, about float64) {
	about = periodOf(ticks)
	for range periodSteps {
		var beyond []bool
		kept, beyond = clear(ticks, about)
		if len(kept) < 2 {
			return kept, nil, about
		}
		number = numbered(kept, beyond, about)
		about = max(float64(kept[len(kept)-1].middle()-kept[0].middle())/number[len(number)-1], 1)
	}
	return kept, number, about
}

// clear leaves the changes out between whose looks a period or more went by. The
// counter may have been published more than once in that time; what was seen is the
// last value, and which moment that was is not told by the looks. Its energy is in the
// next change, whose step is the longer. beyond says of each that is left whether one
// was left out right before it.
func clear(ticks []tick, period float64) (kept []tick, beyond []bool) {
	out := false
	for _, k := range ticks {
		if float64(k.look-k.before) >= period {
			out = true
			continue
		}
		kept, beyond, out = append(kept, k), append(beyond, out), false
	}
	return kept, beyond
}

// among is the moment of change i by as many neighbours as agree.
func (k tick) among(low, high *extremes, i int, moved float64) int64 {
	for n := low.n(); n >= tickLeast; n /= 4 {
		from, to := max(i-n/2, 0), min(i+n/2+1, low.n())
		a, b := moved-low.least(from, to), moved+high.least(from, to)
		if a-b > float64(k.look-k.before)/8 {
			continue
		}
		return min(max(int64((a+b)/2), k.before), k.look)
	}
	return k.middle()
}

// tickLeast is how many changes must agree to tell more than one alone.
const tickLeast = 32

// extremes answers what the least of a stretch is.
type extremes struct{ of [][]float64 } // of[k][i] = the least of 2^k from i on

func newExtremes(n int) *extremes { return &extremes{[][]float64{make([]float64, n)}} }

func (e *extremes) n() int { return len(e.of[0]) }

func (e *extremes) fill() {
	for half := 1; 2*half <= e.n(); half *= 2 {
		last := e.of[len(e.of)-1]
		next := make([]float64, len(last)-half)
		for i := range next {
			next[i] = min(last[i], last[i+half])
		}
		e.of = append(e.of, next)
	}
}

// least of those from on, up to and without to; there must be one.
func (e *extremes) least(from, to int) float64 {
	k := bits.Len(uint(to-from)) - 1
	return min(e.of[k][from], e.of[k][to-1<<k])
}

// numbered counts the periods up to each change. Of those that fit between the looks it
// is the least: a change that nobody saw is the exception. Beyond one that was left out
// it is the rule, and the number is the nearest to where the changes before put it.
func numbered(ticks []tick, beyond []bool, period float64) []float64 {
	number := make([]float64, len(ticks))
	at := float64(ticks[0].middle()) // of the change before, as far as all before it tell
	for i := 1; i < len(ticks); i++ {
		k := ticks[i]
		n := least(ticks[i-1], k, period)
		if beyond[i] {
			n = max(n, math.Round((float64(k.middle())-at)/period))
		}
		number[i] = number[i-1] + n
		at = min(max(at+n*period, float64(k.before)), float64(k.look))
	}
	return number
}

// slope is the period at which the looks at all changes leave the most room for where
// the first one was. The room is a concave function of the period, so that halving
// finds its top.
func slope(ticks []tick, number []float64, about float64) float64 {
	room := func(period float64) float64 {
		low, high := math.Inf(-1), math.Inf(1)
		for i, k := range ticks {
			low = max(low, float64(k.before-ticks[0].before)-number[i]*period)
			high = min(high, float64(k.look-ticks[0].before)-number[i]*period)
		}
		return high - low
	}
	n := number[len(number)-1]
	wide := float64(ticks[0].look-ticks[0].before+ticks[len(ticks)-1].look-ticks[len(ticks)-1].before) / n
	from, to := about-wide, about+wide
	for range slopeSteps {
		a, b := from+(to-from)*0.382, from+(to-from)*0.618
		if room(a) < room(b) {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// slopeSteps leave a millionth of where a search began.
const slopeSteps = 30

// periodOf is the time between changes, in ns, those left out in which the counter
// stood still. A change that came after a gap between looks says nothing of it, and one
// before which none was seen for longer counts as so many: the period is no longer for
// what was missed.
func periodOf(ticks []tick) float64 {
	period := meanApart(ticks)
	for range periodSteps {
		kept, beyond := clear(ticks, period)
		all, n := 0.0, 0.0
		for i := 1; i < len(kept); i++ {
			apart := float64(kept[i].middle() - kept[i-1].middle())
			if beyond[i] || apart > stillFor*period {
				continue
			}
			all, n = all+apart, n+least(kept[i-1], kept[i], period)
		}
		if n > 0 {
			period = max(all/n, 1)
		}
	}
	return period
}

// meanApart is the mean time between changes, in ns, those left out in which the
// counter stood still.
func meanApart(ticks []tick) float64 {
	apart := make([]int64, 0, len(ticks))
	for i := 1; i < len(ticks); i++ {
		apart = append(apart, ticks[i].middle()-ticks[i-1].middle())
	}
	if len(apart) == 0 {
		return 1
	}
	slices.Sort(apart)
	most := stillFor * max(float64(apart[len(apart)/2]), 1)
	all, n := 0.0, 0.0
	for _, a := range apart {
		if float64(a) <= most {
			all, n = all+float64(a), n+1
		}
	}
	return max(all/n, 1)
}

// least is how many periods fit between two changes at least.
func least(a, b tick, period float64) float64 {
	return max(math.Ceil(float64(b.before-a.look)/period-0.1), 1)
}
