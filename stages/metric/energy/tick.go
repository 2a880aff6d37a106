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

// placed says when changes happened.
//
// Of one change alone, all moments between two looks are equally likely, and the
// middle is the one that is not off in one direction. But counters are published by
// a clock. A change and its neighbours, moved by the whole periods between them, bound
// its moment from both sides, and looks that come at another place of each period see
// together more than one. As many neighbours are asked as agree: where even the
// nearest contradict one another, the counter is not published evenly, and the middle
// it is.
func placed(ticks []tick) []int64 {
	at := make([]int64, len(ticks))
	if len(ticks) < 2 {
		for i, k := range ticks {
			at[i] = k.middle()
		}
		return at
	}
	about := periodOf(ticks)
	number := numbered(ticks, about)
	period := slope(ticks, number, about)
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
	return at
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

// numbered counts the periods up to each change. Of those that fit between the looks
// it is the least: a change that nobody saw is the exception.
func numbered(ticks []tick, period float64) []float64 {
	number := make([]float64, len(ticks))
	for i := 1; i < len(ticks); i++ {
		least := float64(ticks[i].before - ticks[i-1].look)
		number[i] = number[i-1] + max(math.Ceil(least/period-0.1), 1)
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
	wide := 2 * float64(ticks[0].look-ticks[0].before) / n
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

// periodOf is the mean time between changes, in ns, those left out in which the
// counter stood still.
func periodOf(ticks []tick) float64 {
	apart := make([]int64, 0, len(ticks)-1)
	for i := 1; i < len(ticks); i++ {
		apart = append(apart, ticks[i].middle()-ticks[i-1].middle())
	}
	slices.Sort(apart)
	most := stillFor * max(float64(apart[len(apart)/2]), 1)
	all, n := 0.0, 0.0
	for _, a := range apart {
		if float64(a) <= most {
			all += float64(a)
			n++
		}
	}
	return max(all/n, 1)
}
