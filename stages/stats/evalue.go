package stats

import (
	"fmt"
	"math"
)

// EValueDiscordant is the e-value against "discordant items split evenly" with
// a Beta(prior, prior) alternative: 2^(b+c) B(b+prior, c+prior)/B(prior, prior).
// prior is 1 (uniform) or 0.5 (Jeffreys). Rejecting when it reaches 1/alpha is
// valid at any time. Above 1e300 it is 1e300.
func EValueDiscordant(b, c int, prior float64) float64 {
	x, y := float64(b)+prior, float64(c)+prior
	l := float64(float64(b+c)*math.Ln2) + lgamma(x) + lgamma(y) - lgamma(x+y) -
		(2*lgamma(prior) - lgamma(2*prior))
	return expE(min(l, 690))
}

// EProcess tests H0: mean difference <= -margin by betting; items must arrive
// in an order fixed before looking, such as hash order. Make one with
// [NewEProcess].
type EProcess struct {
	margin     float64
	grid, logs []float64
}

// NewEProcess needs 0 <= lambda < 1/(1-margin) for every lambda of the grid,
// which keeps the wealth positive for differences of at least -1.
func NewEProcess(margin float64, grid []float64) (*EProcess, error) {
	for _, l := range grid {
		if !(l >= 0 && l*(1-margin) < 1) {
			return nil, fmt.Errorf("e-process: bet %v; give 0 or more and less than %v", l, 1/(1-margin))
		}
	}
	if len(grid) == 0 || !(margin >= 0 && margin < 1) {
		return nil, fmt.Errorf("e-process: margin %v with %d bets; give a margin of at least 0 and below 1, and at least one bet", margin, len(grid))
	}
	return &EProcess{margin: margin, grid: grid, logs: make([]float64, len(grid))}, nil
}

// Add takes the next difference, in [-1, 1], and returns the wealth, the mean
// over the grid of prod(1 + lambda (d + margin)); at most 1e300.
func (e *EProcess) Add(d float64) (float64, error) {
	if !(d >= -1 && d <= 1) {
		return 0, fmt.Errorf("e-process: difference %v; scores lie in [0, 1], so give a number in [-1, 1]", d)
	}
	wealth := 0.0
	for i, l := range e.grid {
		// Logarithms, because a long run of wins overflows the product.
		e.logs[i] += log1pE(float64(l * (d + e.margin)))
		wealth += expE(min(e.logs[i], 690))
	}
	return wealth / float64(len(e.grid)), nil
}

// SequenceRho is the tuning constant that makes the asymptotic confidence
// sequence narrowest at n items.
func SequenceRho(n int, alpha float64) float64 {
	l := float64(-2 * logE(alpha))
	return math.Sqrt((l + logE(l+1)) / float64(n))
}

// SequenceHalfWidth is the half width at n items of the Gaussian-mixture
// asymptotic confidence sequence, valid at all n together (I. Waudby-Smith et
// al., 2021).
func SequenceHalfWidth(sd float64, n int, rho, alpha float64) float64 {
	m, r2 := float64(n), rho*rho
	t := float64(m*r2) + 1
	return sd * math.Sqrt(2*t/(m*m*r2)*logE(math.Sqrt(t)/alpha))
}
