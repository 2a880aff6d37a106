package stats

import "fmt"

// SimulateOptions choose what [Simulate] looks at. The zero value is the gate
// "lo > -0.02" at confidence 0.95 over the grid of docs/gate.md, with 10000
// resamples of the plain bootstrap and 5000 drawn comparisons, seed 0.
type SimulateOptions struct {
	Margin     float64   // the gate is lo > -Margin, in (0, 1)
	Confidence float64   // two-sided
	Items      []int     // numbers of items
	Disagree   []float64 // shares of items whose scores differ
	Better     float64   // a true gain, for the power of the gate
	Resamples  int       // of the plain bootstrap
	Runs       int       // comparisons drawn where enumeration is not possible; a fifth for power
	Seed       uint64
}

// Simulation is how often the gate opens. Each table holds one cell for each
// number of items and each disagreement.
type Simulation struct {
	Margin     float64 `json:"margin"`
	Confidence float64 `json:"confidence"`
	Better     float64 `json:"better"`
	Resamples  int     `json:"resamples"`
	Runs       int     `json:"runs"`
	Seed       uint64  `json:"seed"`
	// Binary is for independent 0/1 scores, exact.
	Binary []BinaryCell `json:"binary"`
	// Other is for fractional and clustered scores.
	Other []OtherCell `json:"other"`
}

// BinaryCell compares three ways to choose the interval of 0/1 scores.
type BinaryCell struct {
	Items    int     `json:"items"`
	Disagree float64 `json:"disagreement"`
	// Auto is interval auto as the gate uses it. Bootstrap is the percentile
	// interval alone, Warned the same with cupel's warnings, which keep a gate
	// shut.
	Auto      Opens `json:"auto"`
	Bootstrap Opens `json:"bootstrap"`
	Warned    Opens `json:"bootstrap_warned"`
}

// OtherCell has the plain t interval, which takes items as independent and
// looks at nothing but mean and variance, beside auto.
type OtherCell struct {
	Scores   string  `json:"scores"`
	Items    int     `json:"items"`
	Disagree float64 `json:"disagreement"`
	Auto     Opens   `json:"auto"`
	T        Opens   `json:"t"`
}

// Opens is the chance that the gate opens for a candidate that is exactly on
// the limit (false passes), truly equal, and truly better. A share is null when
// no candidate with this disagreement can be that much better or worse.
type Opens struct {
	OnLimit *Share `json:"on_limit"`
	Equal   *Share `json:"equal"`
	Better  *Share `json:"better"`
}

// Share is a probability. SE is its standard error, 0 when it was enumerated.
type Share struct {
	P  float64 `json:"p"`
	SE float64 `json:"se,omitempty"`
}

func (o SimulateOptions) filled() (SimulateOptions, error) {
	def := func(x *float64, v float64) {
		if *x == 0 {
			*x = v
		}
	}
	def(&o.Margin, 0.02)
	def(&o.Confidence, 0.95)
	def(&o.Better, 0.01)
	if o.Items == nil {
		o.Items = []int{20, 50, 100, 200, 500, 2000}
	}
	if o.Disagree == nil {
		o.Disagree = []float64{0.02, 0.05, 0.1, 0.2}
	}
	if o.Resamples == 0 {
		o.Resamples = DefaultResamples
	}
	if o.Runs == 0 {
		o.Runs = 5000
	}
	switch {
	case !(o.Margin > 0 && o.Margin < 1) || !(o.Better > 0 && o.Better < 1):
		return o, fmt.Errorf("simulate: margin %v and true gain %v must lie between 0 and 1", o.Margin, o.Better)
	case badConfidence(o.Confidence):
		return o, fmt.Errorf("simulate: confidence %v must lie between 0 and 1", o.Confidence)
	case o.Resamples < 1 || o.Runs < 5:
		return o, fmt.Errorf("simulate: %d resamples and %d runs; give at least 1 and 5", o.Resamples, o.Runs)
	}
	for _, n := range o.Items {
		if n < 2 || n > maxSimulated {
			return o, fmt.Errorf("simulate: %d items; give 2 to %d", n, maxSimulated)
		}
	}
	for _, p := range o.Disagree {
		if !(p > 0 && p <= 1) {
			return o, fmt.Errorf("simulate: disagreement %v; give a share above 0 and at most 1", p)
		}
	}
	return o, nil
}

// maxSimulated keeps a table from running for hours.
const maxSimulated = 100_000

// Simulate puts candidates on the limit of a gate and counts how often it
// opens, by the code that judges a comparison. The same options give the same
// numbers on any number of CPUs.
func Simulate(o SimulateOptions) (Simulation, error) {
	o, err := o.filled()
	if err != nil {
		return Simulation{}, err
	}
	sim := Simulation{Margin: o.Margin, Confidence: o.Confidence, Better: o.Better, Resamples: o.Resamples, Runs: o.Runs, Seed: o.Seed}
	for _, n := range o.Items {
		for _, p := range o.Disagree {
			sim.Binary = append(sim.Binary, o.binaryCell(n, p))
		}
	}
	for m, model := range Models {
		for i, n := range o.Items {
			for j, p := range o.Disagree {
				sim.Other = append(sim.Other, o.otherCell(model, n, p, uint64(m)<<48|uint64(i)<<40|uint64(j)<<32))
			}
		}
	}
	return sim, nil
}

// Worst is the largest chance of a false pass by interval auto.
func (s Simulation) Worst() Share {
	var worst Share
	look := func(o Opens) {
		if o.OnLimit != nil && o.OnLimit.P > worst.P {
			worst = *o.OnLimit
		}
	}
	for _, c := range s.Binary {
		look(c.Auto)
	}
	for _, c := range s.Other {
		look(c.Auto)
	}
	return worst
}

// truths are the true differences of [Opens], in its order.
func (o SimulateOptions) truths() [3]float64 { return [3]float64{-o.Margin, 0, o.Better} }

// opens is the gate: the lower limit is above the limit, and nothing is in
// doubt.
func (o SimulateOptions) opens(s Summary) bool {
	return s.Lo != nil && *s.Lo > -o.Margin && len(s.Warnings) == 0
}
