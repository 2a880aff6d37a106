package stats

import (
	"fmt"
	"math"
)

// Design states what a comparison should be able to see. All shares are of
// items: Disagree 0.1 means that one item in ten scores differently.
type Design struct {
	Disagree float64 // share of items whose score differs, in (0, 1]
	Delta    float64 // difference of the means, non-zero
	Alpha    float64 // two-sided; 0 means 0.05
	Power    float64 // 0 means 0.8
}

func (d Design) filled() (Design, error) {
	if d.Alpha == 0 {
		d.Alpha = 0.05
	}
	if d.Power == 0 {
		d.Power = 0.8
	}
	switch {
	case !(d.Disagree > 0 && d.Disagree <= 1):
		return d, fmt.Errorf("power: disagreement is %v; give a share above 0 and at most 1, such as 0.1", d.Disagree)
	case !(math.Abs(d.Delta) > 0 && math.Abs(d.Delta) <= d.Disagree):
		return d, fmt.Errorf("power: difference is %v with disagreement %v; a difference is not 0 and not larger than the disagreement", d.Delta, d.Disagree)
	case badConfidence(d.Alpha) || badConfidence(d.Power):
		return d, fmt.Errorf("power: alpha %v and power %v must lie between 0 and 1", d.Alpha, d.Power)
	}
	return d, nil
}

func (d Design) quantiles() (alpha, beta float64) {
	return zFor(1 - d.Alpha), NormalQuantile(d.Power)
}

// PowerNormal is the probability that the two-sided test with n items rejects,
// by the normal distribution with variance Disagree/n, both tails.
func (d Design) PowerNormal(n int) (float64, error) {
	d, err := d.filled()
	if err != nil {
		return 0, err
	}
	za, _ := d.quantiles()
	shift := math.Abs(d.Delta) / math.Sqrt(d.Disagree/float64(n))
	return NormalCDF(shift-za) + NormalCDF(-shift-za), nil
}

// PowerExact is the unconditional power of the exact two-sided McNemar test
// with n items: it sums over the number of items that disagree.
func (d Design) PowerExact(n int) (float64, error) {
	d, err := d.filled()
	if err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, nil
	}
	share := min(1, (d.Disagree+math.Abs(d.Delta))/(2*d.Disagree))
	mean := float64(float64(n) * d.Disagree)
	// Beyond 9 standard deviations (and 40 counts, for small means) the
	// binomial weights are below 1e-16.
	reach := float64(9*math.Sqrt(mean)) + 40
	power := 0.0
	for m := max(1, int(mean-reach)); m <= min(n, int(mean+reach)); m++ {
		k := criticalCount(m, d.Alpha)
		if k < 0 {
			continue
		}
		weight := binomialRaw(float64(m), float64(n), d.Disagree, 1-d.Disagree)
		reject := binomialUpper(m-k, m, share) + binomialLower(k, m, share)
		power += float64(weight * reject)
	}
	return min(1, power), nil
}

// criticalCount is the largest k whose two-sided exact p-value is <= alpha, or
// -1 when no outcome of m discordant items is significant.
func criticalCount(m int, alpha float64) int {
	lo, hi := -1, m/2
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if 2*halfTail(mid, m) <= alpha {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// MDE is the smallest true difference that n items detect with the given
// power: (z_alpha + z_beta) sd/sqrt(n), where sd^2 is the share of items that
// disagree for 0/1 scores.
func MDE(sd float64, n int, alpha, power float64) float64 {
	return (zFor(1-alpha) + NormalQuantile(power)) * sd / math.Sqrt(float64(n))
}
