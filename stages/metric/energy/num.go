package energy

import (
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
)

// Units.
const (
	unitJ       = "J"
	unitW       = "W"
	unitS       = "s"
	unitMS      = "ms"
	unitPct     = "%"
	unitShare   = "share"
	unitC       = "°C"
	unitReq     = "J/request"
	unitTok     = "J/token"
	unitMoney   = "currency" // where no price names one
	unitTokSW   = "tok/s/W"
	joulesInKWh = 3.6e6
)

// num is a number, or the reason code why there is none.
type num struct {
	v   float64
	why string
}

func have(v float64) num {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return num{why: metric.NotFinite}
	}
	return num{v: v}
}

func none(why string) num { return num{why: why} }

func (n num) in(unit string) metric.Value {
	if n.why != "" {
		return metric.Null(n.why, unit)
	}
	return metric.Of(n.v, unit)
}

// of applies f to both, and keeps the reason of the first that is not there.
func of(a, b num, f func(a, b float64) num) num {
	switch {
	case a.why != "":
		return a
	case b.why != "":
		return b
	}
	return f(a.v, b.v)
}

// per is a/b, or none when b is not positive.
func per(a, b num, why string) num {
	return of(a, b, func(a, b float64) num {
		if !(b > 0) {
			return none(why)
		}
		return have(a / b)
	})
}

func minus(a, b num) num { return of(a, b, func(a, b float64) num { return have(a - b) }) }
func times(a, b num) num { return of(a, b, func(a, b float64) num { return have(a * b) }) }

// sum of all, or the reason of the first that is not there.
func sum(ns []num) num {
	s := num{}
	for _, n := range ns {
		s = of(s, n, func(a, b float64) num { return have(a + b) })
	}
	return s
}

// worst is the largest, or the reason of the first that is not there.
func worst(ns []num) num {
	if len(ns) == 0 {
		return none(metric.NoRequests)
	}
	w := ns[0]
	for _, n := range ns[1:] {
		w = of(w, n, func(a, b float64) num { return have(max(a, b)) })
	}
	return w
}

// median of n values is the middle one, or the mean of the middle two. xs is sorted.
func median(xs []float64) float64 {
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
