package stats

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Generator names that options accept.
const (
	GeneratorNumPy = "numpy"
	GeneratorFast  = "fast"
)

// Algorithm ids go into results and keys: the same id, seed and differences
// give the same bits for ever. A change of one draw is a new id.
const (
	AlgorithmNumPy = "numpy-pcg64-lemire32/1"
	AlgorithmFast  = "cupel-splitmix-blocks/1"
)

// DefaultResamples is what a zero Resamples means.
const DefaultResamples = 10000

// BootstrapOptions choose a bootstrap. The zero value is 10000 resamples, seed
// 0, confidence 0.95, generator "numpy".
type BootstrapOptions struct {
	Resamples  int
	Seed       uint64
	BigSeed    *big.Int // replaces Seed when not nil; must not be negative
	Confidence float64
	Generator  string
}

func (o BootstrapOptions) filled() (BootstrapOptions, error) {
	if o.Resamples == 0 {
		o.Resamples = DefaultResamples
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.Generator == "" {
		o.Generator = GeneratorNumPy
	}
	switch {
	case o.Resamples < 0:
		return o, fmt.Errorf("bootstrap: resamples is %d; give a positive number, or 0 for %d", o.Resamples, DefaultResamples)
	case badConfidence(o.Confidence):
		return o, fmt.Errorf("bootstrap: confidence is %v; give a number between 0 and 1, such as 0.95", o.Confidence)
	case o.Generator != GeneratorNumPy && o.Generator != GeneratorFast:
		return o, fmt.Errorf("bootstrap: unknown generator %q; use %q or %q", o.Generator, GeneratorFast, GeneratorNumPy)
	case o.BigSeed != nil && o.BigSeed.Sign() < 0:
		return o, fmt.Errorf("bootstrap: seed %s is negative; give 0 or more", o.BigSeed)
	}
	return o, nil
}

func (o BootstrapOptions) sequence(spawnKey ...uint32) SeedSequence {
	if o.BigSeed != nil {
		return BigSeedSequence(o.BigSeed, spawnKey...)
	}
	return NewSeedSequence(o.Seed, spawnKey...)
}

func (o BootstrapOptions) algorithm() string {
	if o.Generator == GeneratorFast {
		return AlgorithmFast
	}
	return AlgorithmNumPy
}

// Resampled is the outcome of a bootstrap of a mean.
type Resampled struct {
	N         int
	Delta     float64
	Interval  Interval
	Algorithm string
	// Means has one mean per resample in the order of drawing.
	Means  []float64
	sorted []float64
}

// Bootstrap is the percentile bootstrap of the mean of d, which must be in the
// order of the sorted item ids: with generator "numpy" the result then equals
//
//	rng = numpy.random.default_rng(seed)
//	numpy.percentile(d[rng.integers(0, n, (B, n))].mean(axis=1), [2.5, 97.5])
//
// to the last bit. With few or no non-zero differences its interval is far too
// narrow; see [Auto].
func Bootstrap(d []float64, opt BootstrapOptions) (Resampled, error) {
	opt, err := opt.filled()
	if err != nil {
		return Resampled{}, err
	}
	for i, v := range d {
		if !(math.Abs(v) <= math.MaxFloat64/float64(len(d))) {
			return Resampled{}, fmt.Errorf("bootstrap: difference %d is %v; its sum would not be finite", i, v)
		}
	}
	r := Resampled{N: len(d), Algorithm: opt.algorithm()}
	if len(d) == 0 {
		r.Interval = undefined(MethodBootstrap, ReasonNoItems)
		return r, nil
	}
	r.Delta = Mean(d)
	r.Means = resampleMeans(d, opt)
	r.finish(MethodBootstrap, opt.Confidence)
	return r, nil
}

func (r *Resampled) finish(method string, confidence float64) {
	r.sorted = slices.Clone(r.Means)
	slices.Sort(r.sorted)
	lo, hi := tailPercents(confidence)
	r.Interval = defined(method, percentileSorted(r.sorted, lo), percentileSorted(r.sorted, hi))
}

func resampleMeans(d []float64, opt BootstrapOptions) []float64 {
	if opt.Generator == GeneratorFast {
		if values, counts := distinct(d, maxDistinct); values != nil {
			return countMeans(values, counts, opt)
		}
	}
	n := float64(len(d))
	means := make([]float64, opt.Resamples)
	eachResample(len(d), opt, func(k int, idx []uint32) {
		means[k] = sumIndexed(d, idx) / n
	})
	return means
}
