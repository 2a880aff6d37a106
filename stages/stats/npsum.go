package stats

// NumPy adds a contiguous float64 row in chunks of its ufunc buffer, each
// chunk pairwise. The order of the additions is part of the algorithm id.
const (
	sumChunk  = 8192
	sumBlock  = 128
	sumUnroll = 8
)

// Sum adds x in NumPy's order.
func Sum(x []float64) float64 {
	acc := 0.0
	for len(x) > sumChunk {
		acc += pairwise(x[:sumChunk])
		x = x[sumChunk:]
	}
	return acc + pairwise(x)
}

// Mean is Sum(x)/len(x), equal to numpy's mean to the last bit. x must not be
// empty.
func Mean(x []float64) float64 { return Sum(x) / float64(len(x)) }

func pairwise(x []float64) float64 {
	n := len(x)
	if n < sumUnroll {
		r := 0.0
		for _, v := range x {
			r += v
		}
		return r
	}
	if n > sumBlock {
		half := n / 2
		half -= half % sumUnroll
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	r := [sumUnroll]float64(x[:sumUnroll])
	for x = x[sumUnroll:]; len(x) >= sumUnroll; x = x[sumUnroll:] {
		for j := range r {
			r[j] += x[j]
		}
	}
	s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, v := range x {
		s += v
	}
	return s
}

// sumIndexed is Sum over d[idx[0]], d[idx[1]], ... without building that row.
func sumIndexed(d []float64, idx []uint32) float64 {
	acc := 0.0
	for len(idx) > sumChunk {
		acc += pairwiseIndexed(d, idx[:sumChunk])
		idx = idx[sumChunk:]
	}
	return acc + pairwiseIndexed(d, idx)
}

func pairwiseIndexed(d []float64, idx []uint32) float64 {
	n := len(idx)
	if n < sumUnroll {
		r := 0.0
		for _, i := range idx {
			r += d[i]
		}
		return r
	}
	if n > sumBlock {
		half := n / 2
		half -= half % sumUnroll
		return pairwiseIndexed(d, idx[:half]) + pairwiseIndexed(d, idx[half:])
	}
	return blockIndexed(d, idx)
}

// blockIndexed keeps its eight accumulators in registers; an array would be
// spilled, and this loop is half of a bootstrap's time.
func blockIndexed(d []float64, idx []uint32) float64 {
	r0, r1, r2, r3 := d[idx[0]], d[idx[1]], d[idx[2]], d[idx[3]]
	r4, r5, r6, r7 := d[idx[4]], d[idx[5]], d[idx[6]], d[idx[7]]
	for idx = idx[sumUnroll:]; len(idx) >= sumUnroll; idx = idx[sumUnroll:] {
		r0 += d[idx[0]]
		r1 += d[idx[1]]
		r2 += d[idx[2]]
		r3 += d[idx[3]]
		r4 += d[idx[4]]
		r5 += d[idx[5]]
		r6 += d[idx[6]]
		r7 += d[idx[7]]
	}
	s := ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
	for _, i := range idx {
		s += d[i]
	}
	return s
}
