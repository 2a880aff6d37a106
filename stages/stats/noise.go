package stats

import "fmt"

// NoiseFloor is what the baseline differs from itself by: two runs of the same
// pin on the same items.
type NoiseFloor struct {
	N             int
	Disagreements int
	Rate          float64
	Wilson        Interval
	Paired        Paired
	// McNemar is nil for fractional scores.
	McNemar *McNemar
	// Drift: the floor's own interval excludes 0, so something other than
	// noise changed between the runs and the comparison is invalid.
	Drift bool
}

// NewNoiseFloor compares run2 with run1, item by item.
func NewNoiseFloor(run1, run2 []float64, confidence float64) (NoiseFloor, error) {
	if err := sameLength("noise floor", len(run1), len(run2)); err != nil {
		return NoiseFloor{}, err
	}
	d := differences(run1, run2)
	b, c := discordant(d)
	f := NoiseFloor{
		N:             len(d),
		Disagreements: b + c,
		Wilson:        Wilson(b+c, len(d), confidence),
		Paired:        PairedMean(d),
	}
	if len(d) > 0 {
		f.Rate = float64(b+c) / float64(len(d))
	}
	iv := f.Paired.T(confidence)
	if binary(run1) && binary(run2) {
		t := McNemarTest(b, c)
		f.McNemar = &t
		iv = Tango(float64(len(d)), float64(b), float64(c), confidence)
	}
	f.Drift = iv.Defined && (iv.Lo > 0 || iv.Hi < 0)
	return f, nil
}

// Excess is how much more often a candidate disagrees with the baseline than
// the baseline with itself, as a paired mean of indicator differences.
type Excess struct {
	FloorRate, CandidateRate float64
	Paired                   Paired
}

// ExcessDisagreement compares a candidate and a second baseline run with the
// first baseline run, item by item; there must be items.
func ExcessDisagreement(run1, run2, candidate []float64) (Excess, error) {
	if err := sameLength("excess disagreement", len(run1), len(run2), len(candidate)); err != nil {
		return Excess{}, err
	}
	if len(run1) == 0 {
		return Excess{}, fmt.Errorf("excess disagreement: there are no items")
	}
	e := make([]float64, len(run1))
	floor, moved := 0, 0
	for i := range e {
		if run2[i] != run1[i] {
			floor++
			e[i]--
		}
		if candidate[i] != run1[i] {
			moved++
			e[i]++
		}
	}
	n := float64(len(e))
	return Excess{float64(floor) / n, float64(moved) / n, PairedMean(e)}, nil
}

func sameLength(what string, n int, others ...int) error {
	for _, m := range others {
		if m != n {
			return fmt.Errorf("%s: runs have %d and %d items; pair them by id first", what, n, m)
		}
	}
	return nil
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = b[i] - a[i]
	}
	return d
}

// discordant counts negative and positive differences: items that only A and
// that only B passes, for 0/1 scores.
func discordant(d []float64) (b, c int) {
	for _, v := range d {
		if v < 0 {
			b++
		}
		if v > 0 {
			c++
		}
	}
	return b, c
}

func binary(x []float64) bool {
	for _, v := range x {
		if v != 0 && v != 1 {
			return false
		}
	}
	return true
}
