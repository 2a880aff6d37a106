package tinyengine

import "math"

// halfMatrix holds F16 weights as integers in units of 2^-24, the spacing of
// the smallest halves: exact, and so is every sum of products in int64 as long
// as it stays below 2^63. The reference engine sums in float64, whose error is
// a few parts in 1e15; both round to the same float32. Integers are half again
// as fast here as float64, which Go multiplies one at a time as well but has to
// widen first.
type halfMatrix struct {
	rows, cols int
	w          []int32 // [rows/4][cols][4]
	reach      float32 // largest |activation| for which no sum can overflow
}

// newHalfMatrix reports false when weights are too large for the layout.
func newHalfMatrix(t *tensor) (*halfMatrix, bool) {
	if t.cols%blockLen != 0 {
		return nil, false
	}
	quads := (t.rows + quad - 1) / quad
	m := &halfMatrix{rows: t.rows, cols: t.cols, w: make([]int32, quads*quad*t.cols)}
	row, worst := make([]float32, t.cols), 0.0
	for i := range t.rows {
		t.row(i, row)
		var sum float64
		for k, v := range row {
			if !(v < 128 && v > -128) {
				return nil, false
			}
			sum += math.Abs(float64(v))
			m.w[m.at(i, k)] = int32(v * 0x1p24)
		}
		worst = max(worst, sum)
	}
	m.reach = float32(0x1p14 / max(worst, 0x1p-10)) // half of 2^(63-48), to be safe
	return m, true
}

// at is where weight k of row r lies.
func (m *halfMatrix) at(r, k int) int { return (r/quad*m.cols+k)*quad + r%quad }

func (m *halfMatrix) form() form { return formHalf }

func (m *halfMatrix) mul(dst []float32, stride int, t *tile) {
	switch {
	case !(t.halfMax <= m.reach):
		m.mulFloat(dst, stride, t)
	case t.width == 1:
		m.mulQuad(dst, t)
	default:
		m.mulWide(dst, stride, t)
	}
}

// halfUnit is the value of 1 in a sum of products of two 2^-24 integers.
const halfUnit = 0x1p-48

func (m *halfMatrix) mulWide(dst []float32, stride int, t *tile) {
	for r := range m.rows {
		w := m.w[m.at(r, 0):]
		var sum [lanes]int64
		for k := 0; k < m.cols; k += blockLen {
			s0, s1, s2, s3 := dotWideHalf((*[quadRow]int32)(w[k*quad:]), (*[lanes * blockLen]int64)(t.half[k*lanes:]))
			sum[0] += s0
			sum[1] += s1
			sum[2] += s2
			sum[3] += s3
		}
		for l := range t.n {
			dst[l*stride+r] = float32(float64(sum[l]) * halfUnit)
		}
	}
}

func (m *halfMatrix) mulQuad(dst []float32, t *tile) {
	for r := 0; r < m.rows; r += quad {
		w := m.w[r*m.cols : (r+quad)*m.cols]
		var sum [quad]int64
		for k := 0; k < m.cols; k += blockLen {
			s0, s1, s2, s3 := dotQuadHalf((*[quadBlock]int32)(w[k*quad:]), (*[blockLen]int64)(t.half[k:]))
			sum[0] += s0
			sum[1] += s1
			sum[2] += s2
			sum[3] += s3
		}
		for i := range min(quad, m.rows-r) {
			dst[r+i] = float32(float64(sum[i]) * halfUnit)
		}
	}
}

// mulFloat is the slow way out for activations beyond reach.
func (m *halfMatrix) mulFloat(dst []float32, stride int, t *tile) {
	for l := range t.n {
		x := t.lane(l)
		for r := range m.rows {
			var sum float64
			for k := range m.cols {
				sum += float64(m.w[m.at(r, k)]) * 0x1p-24 * float64(toHalf(x[k]))
			}
			dst[l*stride+r] = float32(sum)
		}
	}
}
