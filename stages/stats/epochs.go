package stats

import (
	"fmt"
	"math"
)

// Epochs describes several samples per item. The standard error of a score
// comes from the item means and never from all samples as if independent.
type Epochs struct {
	Mean, SE float64
	// Pooled is that wrong standard error, kept to show by how much it lies.
	Pooled float64
	// Within is the mean variance of one sample inside an item, Between the
	// unbiased variance over items; SELimit is SE with infinitely many samples.
	Within, Between, SELimit float64
}

// NewEpochs takes the samples of each item: at least 2 items, and the same
// number, at least 2, of samples for each.
func NewEpochs(scores [][]float64) (Epochs, error) {
	n := len(scores)
	if n < 2 || len(scores[0]) < 2 {
		return Epochs{}, fmt.Errorf("epochs: %d items; at least 2 items with at least 2 samples each are needed", n)
	}
	k := len(scores[0])
	means, within, all := make([]float64, n), 0.0, []float64{}
	for i, s := range scores {
		if len(s) != k {
			return Epochs{}, fmt.Errorf("epochs: item %d has %d samples and the first has %d; compare items with equal numbers", i, len(s), k)
		}
		means[i] = Mean(s)
		within += covariance(s, s)
		all = append(all, s...)
	}
	within /= float64(n)
	items := covariance(means, means)
	between := items - within/float64(k)
	return Epochs{
		Mean:    Mean(means),
		SE:      math.Sqrt(items / float64(n)),
		Pooled:  math.Sqrt(covariance(all, all) / float64(len(all))),
		Within:  within,
		Between: between,
		SELimit: math.Sqrt(max(0, between) / float64(n)),
	}, nil
}

// PassAtK is the unbiased chance that at least one of k samples passes, over
// items with passed[i] of samples passes (M. Chen et al., 2021).
func PassAtK(passed []int, samples, k int) (float64, error) {
	return passShare("pass@k", passed, samples, k, func(c int) float64 {
		return 1 - chooseRatio(samples-c, samples, k)
	})
}

// PassHatK is the chance that all of k samples pass.
func PassHatK(passed []int, samples, k int) (float64, error) {
	return passShare("pass^k", passed, samples, k, func(c int) float64 {
		return chooseRatio(c, samples, k)
	})
}

func passShare(name string, passed []int, samples, k int, of func(c int) float64) (float64, error) {
	if len(passed) == 0 || k < 1 || k > samples {
		return 0, fmt.Errorf("%s: k is %d with %d samples and %d items; k is between 1 and the number of samples", name, k, samples, len(passed))
	}
	each := make([]float64, len(passed))
	for i, c := range passed {
		if c < 0 || c > samples {
			return 0, fmt.Errorf("%s: item %d passes %d of %d samples", name, i, c, samples)
		}
		each[i] = of(c)
	}
	return Mean(each), nil
}

// chooseRatio is C(c, k)/C(n, k).
func chooseRatio(c, n, k int) float64 {
	if c < k {
		return 0
	}
	r := 1.0
	for i := range k {
		r *= float64(c-i) / float64(n-i)
	}
	return r
}
