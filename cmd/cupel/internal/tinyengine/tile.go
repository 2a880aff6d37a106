package tinyengine

import "math"

// form is a shape of activations that some weights want. Several matrices read
// the same activations, so a tile converts each form once.
type form int

const (
	formFloat form = iota // float32 as it is, for F32 weights
	formHalf              // binary16 in units of 2^-24, for F16 weights
	formQ8_0              // blocks of 32 signed bytes and a half scale, for Q8_0 and Q4_0
	formQ8K               // blocks of 256 signed bytes, a float scale and group sums, for Q2_K
	forms
)

// superLen and groupLen are the K-quant block and the group within it.
const (
	superLen = 256
	groupLen = 16
)

// tile holds the activations of one to four positions. Converted values are
// interleaved, value k of lane l at k*width+l, where width is 1 for a single
// position and 4 otherwise (unused lanes are zero).
type tile struct {
	n, cols, width int
	x              []float32 // n rows of cols
	have           [forms]bool

	half    []int64
	halfMax float32 // largest magnitude in half; NaN when there is one

	q8      []int64
	q8Scale []float32 // per block

	q8k      []int64
	q8kScale []float32 // per super block
	q8kSum   []int64   // per group
}

func newTile(maxCols int) *tile {
	n := lanes * maxCols
	return &tile{
		half: make([]int64, n), q8: make([]int64, n), q8k: make([]int64, n),
		q8Scale:  make([]float32, n/blockLen+lanes),
		q8kScale: make([]float32, n/superLen+lanes),
		q8kSum:   make([]int64, n/groupLen+lanes),
	}
}

// set points the tile at n rows of cols values.
func (t *tile) set(x []float32, n, cols int) {
	t.n, t.cols, t.x = n, cols, x[:n*cols]
	t.have = [forms]bool{}
	t.width = lanes
	if n == 1 {
		t.width = 1
	}
}

func (t *tile) lane(l int) []float32 { return t.x[l*t.cols : (l+1)*t.cols] }

// prepare converts the activations to f unless that is done already.
func (t *tile) prepare(f form) {
	if t.have[f] {
		return
	}
	t.have[f] = true
	switch f {
	case formHalf:
		t.toHalf()
	case formQ8_0:
		t.toQ8_0()
	case formQ8K:
		t.toQ8K()
	}
}

// clearIdle zeroes the lanes that hold no position.
func clearIdle[T any](t *tile, v []T) {
	if t.n == t.width {
		return
	}
	for l := t.n; l < t.width; l++ {
		for i := l; i < len(v); i += t.width {
			var zero T
			v[i] = zero
		}
	}
}

func (t *tile) toHalf() {
	out := t.half[:t.cols*t.width]
	clearIdle(t, out)
	t.halfMax = 0
	for l := range t.n {
		for i, x := range t.lane(l) {
			h := toHalf(x)
			t.halfMax = max(t.halfMax, h, -h)
			out[i*t.width+l] = int64(h * 0x1p24)
		}
	}
}

func (t *tile) toQ8_0() {
	blocks := t.cols / blockLen
	out, scale := t.q8[:t.cols*t.width], t.q8Scale[:blocks*t.width]
	clearIdle(t, out)
	clearIdle(t, scale)
	for l := range t.n {
		x := t.lane(l)
		for b := range blocks {
			d := quantizeQ8_0(out[b*blockLen*t.width+l:], t.width, x[b*blockLen:(b+1)*blockLen])
			scale[b*t.width+l] = d
		}
	}
}

// quantizeQ8_0 writes round(x/d) with d = max|x|/127, ties away from zero, at
// every stride-th place and returns d as a half.
func quantizeQ8_0(out []int64, stride int, x []float32) float32 {
	var amax float32
	for _, v := range x {
		amax = max(amax, v, -v)
	}
	d := amax / 127
	inverse := 1 / d
	if !usable(inverse) {
		zeroQuants(out, stride, len(x))
		return toHalf(d)
	}
	for i, v := range x {
		q := float64(v * inverse)
		out[i*stride] = int64(q + math.Copysign(0.5, q))
	}
	return toHalf(d)
}

// usable is false for the infinities and NaN that an all-zero, denormal or
// broken block leads to. Its quants are zero, so that the packed sums cannot
// leave their fields whatever a broken model computes.
func usable(inverse float32) bool {
	return inverse <= math.MaxFloat32 && inverse >= -math.MaxFloat32 && inverse != 0
}

func zeroQuants(out []int64, stride, n int) {
	for i := range n {
		out[i*stride] = 0
	}
}

func (t *tile) toQ8K() {
	supers := t.cols / superLen
	out, scale, sum := t.q8k[:t.cols*t.width], t.q8kScale[:supers*t.width], t.q8kSum[:t.cols/groupLen*t.width]
	clearIdle(t, out)
	clearIdle(t, scale)
	clearIdle(t, sum)
	for l := range t.n {
		x := t.lane(l)
		for b := range supers {
			at := b * superLen
			scale[b*t.width+l] = quantizeQ8K(out[at*t.width+l:], t.width, x[at:at+superLen])
		}
		for g := range t.cols / groupLen {
			var s int64
			for i := range groupLen {
				s += out[(g*groupLen+i)*t.width+l]
			}
			sum[g*t.width+l] = s
		}
	}
}

// quantizeQ8K scales so that the value of largest magnitude becomes -127, ties
// to even, and returns the scale.
func quantizeQ8K(out []int64, stride int, x []float32) float32 {
	var amax, extreme float32
	for _, v := range x {
		if a := max(v, -v); a > amax {
			amax, extreme = a, v
		}
	}
	inverse := -127 / extreme
	if !usable(inverse) {
		zeroQuants(out, stride, len(x))
		return extreme * 0 // 0, or NaN when a value was infinite
	}
	for i, v := range x {
		out[i*stride] = int64(math.RoundToEven(float64(inverse * v)))
	}
	return 1 / inverse
}
