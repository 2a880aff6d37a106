package tinyengine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// blockDot is one output of the reference engine for row i, written as its
// definition reads: quantise, sum integers per block, scale in float32.
func blockDot(t tensor, i int, x []float32) float32 {
	switch t.kind {
	case kindQ8_0, kindQ4_0:
		return byteDot(t, i, x)
	case kindQ2_K:
		return superDot(t, i, x)
	}
	var sum float64
	for j, v := range x {
		if t.kind == kindF16 {
			v = toHalf(v)
		}
		sum += weightAt(t, i, j) * float64(v)
	}
	return float32(sum)
}

func byteDot(t tensor, i int, x []float32) (sum float32) {
	for b := range t.cols / 32 {
		var top float32
		for _, v := range x[b*32 : b*32+32] {
			top = max(top, float32(math.Abs(float64(v))))
		}
		d := top / 127
		raw := t.block(i, b)
		dw := halfAt(raw)
		var n int
		for j := range 32 {
			q := 0
			if d != 0 {
				q = int(math.Round(float64(x[b*32+j] * (1 / d))))
			}
			n += q * int(math.Round(weightAt(t, i, b*32+j)/float64(dw)))
		}
		if t.kind == kindQ4_0 {
			sum += float32(float32(float32(n)*dw) * toHalf(d))
			continue
		}
		sum += float32(float32(n) * float32(dw*toHalf(d)))
	}
	return sum
}

func superDot(t tensor, i int, x []float32) (sum float32) {
	for b := range t.cols / 256 {
		var top float32
		for _, v := range x[b*256 : b*256+256] {
			if math.Abs(float64(v)) > math.Abs(float64(top)) {
				top = v
			}
		}
		var d float32
		var n, mins int
		raw := t.block(i, b)
		for j := range 256 {
			if top == 0 {
				break
			}
			inverse := -127 / top
			d = 1 / inverse
			q := int(math.RoundToEven(float64(inverse * x[b*256+j])))
			w := raw[16+j/128*32+j%32] >> (j % 128 / 32 * 2) & 3
			n += q * int(w) * int(raw[j/16]&15)
			mins += q * int(raw[j/16]>>4)
		}
		sum += float32(float32(d*halfAt(raw[80:]))*float32(n)) - float32(float32(d*halfAt(raw[82:]))*float32(mins))
	}
	return sum
}

// TestMatrix: packing, padding and blocking must not change one bit, whatever
// the number of rows and positions.
func TestMatrix(t *testing.T) {
	for _, kind := range allKinds {
		for _, rows := range []int{1, 2, 3, 4, 5, 7, 12} {
			for n := 1; n <= lanes; n++ {
				t.Run(fmt.Sprintf("%s/%d/%d", blockFormats[kind].label, rows, n), func(t *testing.T) {
					checkMatrix(t, kind, rows, n)
				})
			}
		}
	}
}

func checkMatrix(t *testing.T, kind blockKind, rows, n int) {
	const cols = 512
	r := rand.New(rand.NewPCG(uint64(rows), uint64(n)))
	w := tensor{kind: kind, rows: rows, cols: cols, raw: randomBlocks(r, kind, rows, cols, 0.5)}
	x := make([]float32, n*cols)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Exp(3*r.NormFloat64()))
	}
	clear(x[:32]) // a block without any value
	tl := newTile(cols)
	for i := range tl.q8 { // leftovers of an earlier request
		tl.half[i], tl.q8[i], tl.q8k[i] = 99, 99, 99
	}
	tl.set(x, n, cols)
	const stride = 16
	dst := make([]float32, n*stride)
	for i := range dst {
		dst[i] = -1
	}
	multiply(newMatrix(&w), dst, stride, tl)
	for l := range n {
		for i := range stride {
			want := float32(-1) // beyond the rows nothing is written
			if i < rows {
				want = blockDot(w, i, x[l*cols:(l+1)*cols])
			}
			if got := dst[l*stride+i]; !same(got, want) {
				t.Fatalf("lane %d row %d: %v, want %v", l, i, got, want)
			}
		}
	}
}

// same is equality with NaN equal to itself (the inputs go beyond halves).
func same(a, b float32) bool { return a == b || a != a && b != b }

// TestHalfMatrixReach: activations that would overflow the integer sums take
// the float path and give the same kind of answer, not garbage.
func TestHalfMatrixReach(t *testing.T) {
	const cols = 256
	r := rand.New(rand.NewPCG(1, 2))
	w := tensor{kind: kindF16, rows: 4, cols: cols, raw: randomBlocks(r, kindF16, 4, cols, 20)}
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(60000 * r.Float64())
	}
	tl, dst := newTile(cols), make([]float32, 4)
	for _, big := range []float32{1, 1e9} { // 1e9 is infinite as a half
		x[0] = big
		tl.set(x, 1, cols)
		m := newMatrix(&w)
		multiply(m, dst, 4, tl)
		if tl.halfMax <= m.(*halfMatrix).reach {
			t.Fatalf("max %v within reach %v: the case is not the one to test", tl.halfMax, m.(*halfMatrix).reach)
		}
		for i, got := range dst {
			if want := blockDot(w, i, x); got != want {
				t.Errorf("row %d: %v, want %v", i, got, want)
			}
		}
	}
	wide := tensor{kind: kindF16, rows: 1, cols: cols, raw: randomBlocks(r, kindF16, 1, cols, 2000)}
	if _, ok := newMatrix(&wide).(*floatMatrix); !ok {
		t.Error("weights beyond 128 must not be packed")
	}
}

// TestBrokenActivations: NaN and infinities come out as such and never spill
// into the neighbouring rows or lanes of a packed sum.
func TestBrokenActivations(t *testing.T) {
	const cols = 256
	for _, kind := range allKinds {
		r := rand.New(rand.NewPCG(3, 4))
		w := tensor{kind: kind, rows: 3, cols: cols, raw: randomBlocks(r, kind, 3, cols, 0.5)}
		x := make([]float32, 2*cols)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		x[7], x[9] = float32(math.NaN()), float32(math.Inf(1))
		tl, dst := newTile(cols), make([]float32, 2*3)
		tl.set(x, 2, cols)
		multiply(newMatrix(&w), dst, 3, tl)
		for i := range 3 {
			if !math.IsNaN(float64(dst[i])) && !math.IsInf(float64(dst[i]), 0) {
				t.Errorf("%s: broken lane, row %d: %v looks sound", blockFormats[kind].label, i, dst[i])
			}
			if want := blockDot(w, i, x[cols:]); dst[3+i] != want {
				t.Errorf("%s: sound lane, row %d: %v, want %v", blockFormats[kind].label, i, dst[3+i], want)
			}
		}
	}
}
