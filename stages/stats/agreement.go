package stats

import (
	"fmt"
	"math"
	"slices"
)

// kappaResamples is how often the labels are drawn again for an interval of
// kappa; the seed is 0, so equal labels have equal intervals.
const kappaResamples = 4000

// Agreement tells how well a judge's scores follow those of people for the
// same items, all in [0,1].
type Agreement struct {
	N          int        `json:"n"`
	Exact      Proportion `json:"exact"` // items on which both say the same
	MeanHuman  float64    `json:"mean_human"`
	MeanJudged float64    `json:"mean_judged"`

	// Kappa is Cohen's with quadratic weights (J. Cohen, 1968), which for 0/1
	// scores is his of 1960; nil when chance alone would always agree. Its
	// interval is a percentile bootstrap over items.
	Kappa         *float64 `json:"kappa"`
	KappaInterval Interval `json:"kappa_interval"`

	// Bias is the mean of judged - human: above 0 the judge is too kind.
	Bias         float64  `json:"bias"`
	BiasInterval Interval `json:"bias_interval"` // Tango's for 0/1 scores, else Student's t

	// Of 0/1 scores only: the share of right answers that the judge passes, and
	// of wrong ones that it fails.
	Sensitivity *Proportion `json:"sensitivity,omitempty"`
	Specificity *Proportion `json:"specificity,omitempty"`
}

// Proportion is k of n with Wilson's interval.
type Proportion struct {
	K        int      `json:"k"`
	N        int      `json:"n"`
	Interval Interval `json:"interval"`
}

// Value is k/n, nil without items.
func (p Proportion) Value() *float64 { return ratio(float64(p.K), float64(p.N)) }

func proportion(k, n int, confidence float64) Proportion {
	return Proportion{k, n, Wilson(k, n, confidence)}
}

// Agree compares a judge with people; human[i] and judged[i] belong to the same
// item.
func Agree(human, judged []float64, confidence float64) (Agreement, error) {
	if err := sameLength("agreement", len(human), len(judged)); err != nil {
		return Agreement{}, err
	}
	for i := range human {
		if !unit(human[i]) || !unit(judged[i]) {
			return Agreement{}, fmt.Errorf("agreement: item %d has the scores %v and %v; both must be in [0,1]", i, human[i], judged[i])
		}
	}
	a := Agreement{N: len(human)}
	diff, equal := make([]float64, a.N), 0
	for i := range human {
		diff[i] = judged[i] - human[i]
		if diff[i] == 0 {
			equal++
		}
	}
	a.Exact = proportion(equal, a.N, confidence)
	if a.N == 0 {
		a.KappaInterval, a.BiasInterval = undefined(MethodBootstrap, ReasonNoItems), undefined(MethodT, ReasonNoItems)
		return a, nil
	}
	a.MeanHuman, a.MeanJudged, a.Bias = Mean(human), Mean(judged), Mean(diff)
	a.Kappa = kappa(human, judged, nil)
	a.KappaInterval = kappaInterval(human, judged, confidence)
	if binary(human) && binary(judged) {
		a.binary(human, judged, confidence)
	} else {
		a.BiasInterval = PairedMean(diff).T(confidence)
	}
	return a, nil
}

func unit(v float64) bool { return v >= 0 && v <= 1 }

func (a *Agreement) binary(human, judged []float64, confidence float64) {
	var n [2][2]int // [human][judge]
	for i := range human {
		n[int(human[i])][int(judged[i])]++
	}
	sens, spec := proportion(n[1][1], n[1][0]+n[1][1], confidence), proportion(n[0][0], n[0][0]+n[0][1], confidence)
	a.Sensitivity, a.Specificity = &sens, &spec
	a.BiasInterval = Tango(float64(a.N), float64(n[1][0]), float64(n[0][1]), confidence)
}

// kappa is 1 - mean squared difference / the same between items that do not
// belong together; idx chooses the items, nil = all.
func kappa(human, judged []float64, idx []uint32) *float64 {
	n := len(human)
	if idx != nil {
		n = len(idx)
	}
	var sh, sj, shh, sjj, seen float64
	for k := range n {
		i := k
		if idx != nil {
			i = int(idx[k])
		}
		h, j := human[i], judged[i]
		sh, sj, shh, sjj = sh+h, sj+j, shh+h*h, sjj+j*j
		seen += (h - j) * (h - j)
	}
	// Multiplied out by n^2, so that 0/1 scores stay whole numbers and are exact.
	m := float64(n)
	chance := float64(m*(shh+sjj)) - float64(2*sh*sj)
	if !(chance > 1e-12*m*m) {
		return nil
	}
	k := 1 - float64(m*seen)/chance
	return &k
}

// kappaInterval leaves out resamples in which chance alone always agrees; when
// they are more than one in twenty there is no interval.
func kappaInterval(human, judged []float64, confidence float64) Interval {
	switch {
	case badConfidence(confidence):
		return undefined(MethodBootstrap, ReasonBadConfidence)
	case len(human) < 2:
		return undefined(MethodBootstrap, ReasonTooFewItems)
	}
	opt := BootstrapOptions{Resamples: kappaResamples, Generator: GeneratorFast}
	drawn := make([]float64, kappaResamples)
	eachResample(len(human), opt, func(k int, idx []uint32) {
		drawn[k] = math.Inf(1)
		if v := kappa(human, judged, idx); v != nil {
			drawn[k] = *v
		}
	})
	slices.Sort(drawn)
	usable, _ := slices.BinarySearch(drawn, math.Inf(1))
	if usable < kappaResamples-kappaResamples/20 {
		return undefined(MethodBootstrap, ReasonDegenerate)
	}
	lo, hi := tailPercents(confidence)
	return defined(MethodBootstrap, percentileSorted(drawn[:usable], lo), percentileSorted(drawn[:usable], hi))
}
