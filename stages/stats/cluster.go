package stats

import "math"

// Clustered summarises differences whose items come in clusters, such as the
// turns of one conversation.
type Clustered struct {
	Paired
	Clusters int
	// Moved counts the clusters with a non-zero sum of differences.
	Moved int
	// CR0 is sqrt(sum S_c^2)/n with S_c the sum of deviations in cluster c;
	// CR1 is CR0 sqrt(C/(C-1)) and the one to use. OffDiagonal is the form of
	// E. Miller, arXiv 2411.00640: iid variance plus the covariances within
	// clusters.
	CR0, CR1, OffDiagonal float64
	// Effective is n^2 / sum n_c^2: the number of independent items when all
	// items of a cluster answer alike.
	Effective float64
	sizes     []int
	sums      []float64
}

// ClusteredMean groups d by cluster; the empty cluster name makes an item its
// own cluster. len(cluster) must be len(d).
func ClusteredMean(d []float64, cluster []string) Clustered {
	c := Clustered{Paired: PairedMean(d), sizes: make([]int, 0, len(d)), sums: make([]float64, 0, len(d))}
	index := map[string]int{}
	for i, v := range d {
		at, seen := -1, false
		if cluster[i] != "" {
			at, seen = index[cluster[i]]
		}
		if !seen {
			at = len(c.sizes)
			if cluster[i] != "" {
				index[cluster[i]] = at
			}
			c.sizes, c.sums = append(c.sizes, 0), append(c.sums, 0)
		}
		c.sizes[at]++
		c.sums[at] += v
	}
	c.Clusters = len(c.sizes)
	if len(d) > 0 {
		c.spread(d)
	}
	return c
}

func (c *Clustered) spread(d []float64) {
	n := float64(c.N)
	deviations := make([]float64, c.Clusters)
	squares := 0.0
	for i, size := range c.sizes {
		s := c.sums[i] - float64(float64(size)*c.Mean)
		deviations[i] = s * s
		squares += float64(float64(size) * float64(size))
		if c.sums[i] != 0 {
			c.Moved++
		}
	}
	c.Effective = n * n / squares
	if !varies(d) {
		return
	}
	between := Sum(deviations)
	c.CR0 = math.Sqrt(between) / n
	if c.Clusters > 1 {
		c.CR1 = c.CR0 * math.Sqrt(float64(c.Clusters)/float64(c.Clusters-1))
	}
	off := (between - sumSquares(d, c.Mean)) / (n * n)
	c.OffDiagonal = math.Sqrt(max(0, float64(c.SE*c.SE)+off))
}

// Grouped says whether any cluster holds more than one item.
func (c Clustered) Grouped() bool { return c.Clusters < c.N }

// DesignEffect is (CR1/SE)^2; ok is false when SE is 0 or C < 2.
func (c Clustered) DesignEffect() (deff float64, ok bool) {
	if c.SE == 0 || c.Clusters < 2 {
		return 0, false
	}
	return c.CR1 / c.SE * (c.CR1 / c.SE), true
}

// Interval is mean -+ t CR1 with C-1 degrees of freedom; undefined for C < 2.
func (c Clustered) Interval(confidence float64) Interval {
	if why := c.unusable(confidence); why != "" {
		return undefined(MethodClustered, why)
	}
	wide := Paired{N: c.Clusters, Mean: c.Mean, SE: c.CR1}
	return wide.around(MethodClustered, TQuantile((1+confidence)/2, float64(c.Clusters-1)))
}

func (c Clustered) unusable(confidence float64) Reason {
	switch {
	case badConfidence(confidence):
		return ReasonBadConfidence
	case c.N == 0:
		return ReasonNoItems
	case c.Clusters < 2:
		return ReasonTooFewClusters
	case c.CR1 == 0:
		return ReasonZeroVariance
	}
	return ""
}

// Bootstrap resamples whole clusters; a resampled mean is the ratio of the
// sums of differences and items. Undefined for C < 2.
func (c Clustered) Bootstrap(opt BootstrapOptions) (Resampled, error) {
	opt, err := opt.filled()
	if err != nil {
		return Resampled{}, err
	}
	r := Resampled{N: c.N, Delta: c.Mean, Algorithm: opt.algorithm()}
	if why := c.unusable(opt.Confidence); why != "" {
		r.Interval = undefined(MethodClusterBootstrap, why)
		return r, nil
	}
	r.Means = make([]float64, opt.Resamples)
	eachResample(c.Clusters, opt, func(k int, idx []uint32) {
		items := 0
		for _, i := range idx {
			items += c.sizes[i]
		}
		r.Means[k] = sumIndexed(c.sums, idx) / float64(items)
	})
	r.finish(MethodClusterBootstrap, opt.Confidence)
	return r, nil
}
