package tinyengine

// matrix multiplies the rows of a weight tensor with a tile.
type matrix interface {
	// form is the activation form that mul reads; prepare it first.
	form() form
	// mul writes row r of lane l to dst[l*stride+r].
	mul(dst []float32, stride int, t *tile)
}

// newMatrix lays out a tensor for mul. The layouts trade memory (2.7 to 4 bytes
// a weight) for speed; they change no result, because integer sums are exact in
// any order and the float steps keep the reference engine's order.
func newMatrix(t *tensor) matrix {
	switch t.kind {
	case kindF16:
		if m, ok := newHalfMatrix(t); ok {
			return m
		}
	case kindQ8_0, kindQ4_0:
		return newByteMatrix(t)
	case kindQ2_K:
		return newSuperMatrix(t)
	}
	return newFloatMatrix(t)
}

// multiply prepares the tile for m and multiplies.
func multiply(m matrix, dst []float32, stride int, t *tile) {
	t.prepare(m.form())
	m.mul(dst, stride, t)
}

// floatMatrix is the plain case: products and sums in float64.
type floatMatrix struct {
	cols int
	half bool // round activations to binary16 first
	w    []float32
}

func newFloatMatrix(t *tensor) *floatMatrix {
	m := &floatMatrix{cols: t.cols, half: t.kind == kindF16, w: make([]float32, t.rows*t.cols)}
	for i := range t.rows {
		t.row(i, m.w[i*t.cols:(i+1)*t.cols])
	}
	return m
}

func (m *floatMatrix) form() form { return formFloat }

func (m *floatMatrix) mul(dst []float32, stride int, t *tile) {
	for l := range t.n {
		x := t.lane(l)
		for r := 0; r*m.cols < len(m.w); r++ {
			var sum float64
			for k, w := range m.w[r*m.cols : (r+1)*m.cols] {
				v := x[k]
				if m.half {
					v = toHalf(v)
				}
				sum += float64(w) * float64(v)
			}
			dst[l*stride+r] = float32(sum)
		}
	}
}
