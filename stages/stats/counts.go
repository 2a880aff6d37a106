package stats

import (
	"math"
	"slices"
)

// maxDistinct is the largest number of distinct differences for which the fast
// generator draws how often each is taken instead of n indices. 0/1 scores
// have three.
const maxDistinct = 16

// distinct returns the values of d in ascending order and how often each
// occurs, or nil when there are more than limit values or so few items that
// counting saves nothing.
func distinct(d []float64, limit int) (values []float64, counts []int) {
	if len(d) < 4*limit {
		return nil, nil
	}
	for _, v := range d {
		i, found := slices.BinarySearch(values, v)
		if found {
			counts[i]++
			continue
		}
		if len(values) == limit {
			return nil, nil
		}
		values = slices.Insert(values, i, v)
		counts = slices.Insert(counts, i, 1)
	}
	return values, counts
}

// countMeans draws multinomial counts as a chain of conditional binomials.
// The most frequent value comes last, so that its count is what remains.
func countMeans(values []float64, counts []int, opt BootstrapOptions) []float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	last := slices.Index(counts, slices.Max(counts))
	values = append(slices.Delete(slices.Clone(values), last, last+1), values[last])
	counts = append(slices.Delete(slices.Clone(counts), last, last+1), counts[last])
	means := make([]float64, opt.Resamples)
	eachBlock(opt, func(g *splitMix, first, end int) {
		draw := newCountDraw(counts, n)
		for k := first; k < end; k++ {
			means[k] = draw.mean(g, values)
		}
	})
	return means
}

// countDraw is one worker's set of binomials: levels[j] draws how many of the
// items that are left take value j.
type countDraw struct {
	n      int
	levels []binomialDraw
}

func newCountDraw(counts []int, n int) *countDraw {
	c := &countDraw{n: n}
	left := n
	for _, count := range counts[:len(counts)-1] {
		c.levels = append(c.levels, newBinomialDraw(float64(count)/float64(left)))
		left -= count
	}
	return c
}

func (c *countDraw) mean(g *splitMix, values []float64) float64 {
	left, sum := c.n, 0.0
	for j := range c.levels {
		x := c.levels[j].draw(g, left)
		sum += float64(values[j] * float64(x))
		left -= x
	}
	sum += float64(values[len(values)-1] * float64(left))
	return sum / float64(c.n)
}

// binomialDraw draws from Binomial(m, p) by inversion, walking from the mode
// outwards: about one standard deviation of steps, and no table whose size
// grows with the item count.
type binomialDraw struct {
	p, odds float64
	// modes remembers P(mode) by m; few different m occur in a bootstrap.
	modes map[int]float64
}

func newBinomialDraw(p float64) binomialDraw {
	return binomialDraw{p: p, odds: p / (1 - p), modes: map[int]float64{}}
}

func (b *binomialDraw) draw(g *splitMix, m int) int {
	if m == 0 || b.p == 0 {
		return 0
	}
	mode := min(m, int(math.Floor(float64(m+1)*b.p)))
	atMode, known := b.modes[m]
	if !known {
		atMode = binomialRaw(float64(mode), float64(m), b.p, 1-b.p)
		b.modes[m] = atMode
	}
	u := float64(g.Float64()) - atMode
	if u < 0 {
		return mode
	}
	up, down := mode, mode
	pUp, pDown := atMode, atMode
	for up < m || down > 0 {
		if up < m {
			pUp = float64(pUp * (float64(m-up) / float64(up+1) * b.odds))
			up++
			if u -= pUp; u < 0 {
				return up
			}
		}
		if down > 0 {
			pDown = float64(pDown * (float64(down) / (float64(m-down+1) * b.odds)))
			down--
			if u -= pDown; u < 0 {
				return down
			}
		}
		// Rounding can leave a sliver that no outcome covers.
		if pUp+pDown < 1e-18 {
			break
		}
	}
	return mode
}
