package stats

import (
	"fmt"
	"math"
)

// GatePower is the exact probability that "lo > -margin" holds by interval auto
// for n independent 0/1 items of which the share disagree scores differently,
// when the candidate is truly better by truth (worse when negative).
func GatePower(n int, disagree, truth, margin, confidence float64) (float64, error) {
	if err := checkGate(n, disagree, truth, margin, confidence); err != nil {
		return 0, err
	}
	return passRates(n, disagree, []float64{truth}, autoOpens(n, margin, confidence))[0], nil
}

// GateSize is the smallest number of items at which GatePower reaches power, up
// to 1,000,000; ok is false beyond. GatePower is not quite monotone in n, so it
// is a crossing point.
func GateSize(disagree, truth, margin, confidence, power float64) (items int, ok bool, err error) {
	const most = 1_000_000
	if err := checkGate(1, disagree, truth, margin, confidence); err != nil {
		return 0, false, err
	}
	start, err := SizeNonInferior(disagree, margin, truth, (1-confidence)/2, power)
	if err != nil {
		return 0, false, err
	}
	if start.Items > most {
		return 0, false, nil
	}
	items, ok = smallest(1, start.Items, func(n int) bool {
		if n > 2*most {
			return true // ends the search; refused below
		}
		return passRates(n, disagree, []float64{truth}, autoOpens(n, margin, confidence))[0] >= power
	})
	return items, ok && items <= most, nil
}

func checkGate(n int, disagree, truth, margin, confidence float64) error {
	switch {
	case n < 1 || n > MaxItems:
		return fmt.Errorf("power: %d items; give 1 to %d", n, MaxItems)
	case !(disagree > 0 && disagree <= 1) || !(math.Abs(truth) <= disagree):
		return fmt.Errorf("power: a true difference of %v with disagreement %v; a difference is not larger than the disagreement, a share of at most 1", truth, disagree)
	case !(margin > -1 && margin < 1) || badConfidence(confidence):
		return fmt.Errorf("power: margin %v and confidence %v; give numbers below 1", margin, confidence)
	}
	return nil
}

// autoOpens is the gate on a paired 0/1 table, by what a Summary of its items
// would hold: no more than counts matter to the interval of 0/1 scores.
func autoOpens(n int, margin, confidence float64) func(b, c int) bool {
	return func(b, c int) bool {
		iv := Auto(Evidence{N: float64(n), B: float64(b), C: float64(c), Binary: true}, confidence)
		return iv.Defined && iv.Lo > -margin
	}
}

// passRates is the probability that the gate opens, for each true difference:
// the multinomial probabilities of all tables (b, c) of n items on which it
// does. For fixed b it opens from some c on, so that c is searched.
func passRates(n int, disagree float64, truths []float64, opens func(b, c int) bool) []float64 {
	out, weight := make([]float64, len(truths)), make([]float64, len(truths))
	first := 0
	for b := range n + 1 {
		heaviest := 0.0
		for i, t := range truths {
			pb := float64((disagree - t) / 2)
			weight[i] = binomialRaw(float64(b), float64(n), pb, 1-pb)
			heaviest = max(heaviest, weight[i])
		}
		if heaviest < 1e-13 {
			continue
		}
		first = firstOpen(first, n-b, func(c int) bool { return opens(b, c) })
		for i, t := range truths {
			pb, pc := float64((disagree-t)/2), float64((disagree+t)/2)
			if weight[i] > 0 && pb < 1 {
				out[i] += float64(weight[i] * atLeast(first, n-b, pc/(1-pb)))
			} else if weight[i] > 0 && first == 0 {
				out[i] += weight[i]
			}
		}
	}
	for i := range out {
		out[i] = min(1, out[i])
	}
	return out
}

// firstOpen is the smallest c in [0, m] with opens(c), or m+1; opens stays true
// once it is. The search starts at a guess.
func firstOpen(guess, m int, opens func(int) bool) int {
	lo, hi := -1, m+1 // by convention opens is false at lo and true at hi
	for at, step := max(0, min(guess, m)), 1; lo < at && at < hi; step *= 2 {
		if opens(at) {
			hi, at = at, at-step
		} else {
			lo, at = at, at+step
		}
		if lo >= 0 && hi <= m {
			break
		}
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; opens(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// atLeast is P(X >= k) for X ~ Binomial(m, p), summed over the shorter tail.
func atLeast(k, m int, p float64) float64 {
	p = min(1, max(0, p))
	switch {
	case k <= 0:
		return 1
	case k > m:
		return 0
	case float64(k) <= float64(m)*p:
		return 1 - binomialLower(k-1, m, p)
	}
	return binomialUpper(k, m, p)
}

// binaryCell enumerates one cell of the table for 0/1 scores.
func (o SimulateOptions) binaryCell(n int, p float64) BinaryCell {
	type table struct{ b, c int }
	known := map[table]bootVerdict{} // both columns ask for nearly the same tables
	boot := func(b, c int) bootVerdict {
		v, ok := known[table{b, c}]
		if !ok {
			v = o.bootstrapped(n, b, c)
			known[table{b, c}] = v
		}
		return v
	}
	return BinaryCell{
		Items: n, Disagree: p,
		Auto:      o.exact(n, p, autoOpens(n, o.Margin, o.Confidence)),
		Bootstrap: o.exact(n, p, func(b, c int) bool { return boot(b, c).plain }),
		Warned:    o.exact(n, p, func(b, c int) bool { return boot(b, c).warned }),
	}
}

func (o SimulateOptions) exact(n int, p float64, opens func(b, c int) bool) Opens {
	var truths []float64
	for _, t := range o.truths() {
		if math.Abs(t) <= p {
			truths = append(truths, t)
		}
	}
	rates := passRates(n, p, truths, opens)
	var shares [3]*Share
	for i, t := range o.truths() {
		if math.Abs(t) <= p {
			shares[i] = &Share{P: rates[0]}
			rates = rates[1:]
		}
	}
	return Opens{shares[0], shares[1], shares[2]}
}

// bootVerdict is whether a table opens the gate by interval bootstrap: by the
// interval alone, and with the warnings that keep a gate shut.
type bootVerdict struct{ plain, warned bool }

func (o SimulateOptions) bootstrapped(n, b, c int) bootVerdict {
	s := tableSample(n, b, c)
	opt := Options{Interval: MethodBootstrap, Generator: GeneratorFast, Resamples: o.Resamples, Confidence: o.Confidence}
	boot, err := Bootstrap(s.d, opt.bootstrap())
	if err != nil {
		return bootVerdict{}
	}
	out, _ := s.describe(opt)
	out.settle(boot.Interval, "", opt)
	warned := o.opens(out)
	out.Warnings = nil
	return bootVerdict{o.opens(out), warned}
}

// tableSample makes n items of which only A passes b and only B passes c; on all
// others both score 1.
func tableSample(n, b, c int) sample {
	s := sample{a: make([]float64, n), b: make([]float64, n), cluster: make([]string, n)}
	for i := range n {
		switch {
		case i < b:
			s.a[i] = 1
		case i < b+c:
			s.b[i] = 1
		default:
			s.a[i], s.b[i] = 1, 1
		}
	}
	s.d = differences(s.a, s.b)
	return s
}
