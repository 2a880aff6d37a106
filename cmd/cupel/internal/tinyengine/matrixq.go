package tinyengine

// byteMatrix holds Q8_0 or Q4_0 weights, three rows packed into one int64, so
// that one multiplication serves three rows: the products of an activation with
// w0 + w1<<21 + w2<<42 add up side by side. A block of 32 sums to at most
// 32*128*127 < 2^20, which a field of 21 bits holds with its sign.
type byteMatrix struct {
	rows, cols int
	q4         bool
	w          []int64   // [group of three rows][cols]
	scale      []float32 // [group][block][row in group]
}

func newByteMatrix(t *tensor) *byteMatrix {
	groups, blocks := (t.rows+packed-1)/packed, t.cols/blockLen
	groups += groups % 2 // mulPair takes two at a time
	m := &byteMatrix{rows: t.rows, cols: t.cols, q4: t.kind == kindQ4_0}
	m.w = make([]int64, groups*t.cols)
	m.scale = make([]float32, groups*blocks*packed)
	quants := quantsQ8_0
	if m.q4 {
		quants = quantsQ4_0
	}
	for r := range t.rows {
		g, field := r/packed, r%packed
		for b := range blocks {
			raw := t.block(r, b)
			m.scale[(g*blocks+b)*packed+field] = halfAt(raw)
			for k, q := range quants(raw) {
				m.w[g*m.cols+b*blockLen+k] += int64(q) << (field * fieldBits)
			}
		}
	}
	return m
}

func (m *byteMatrix) form() form { return formQ8_0 }

func (m *byteMatrix) mul(dst []float32, stride int, t *tile) {
	if t.width == 1 {
		m.mulPair(dst, t)
		return
	}
	m.mulWide(dst, stride, t)
}

func (m *byteMatrix) mulWide(dst []float32, stride int, t *tile) {
	blocks := m.cols / blockLen
	for g := 0; g*packed < m.rows; g++ {
		var acc [lanes][packed]float32
		w, scale := m.w[g*m.cols:(g+1)*m.cols], m.scale[g*blocks*packed:]
		for b := range blocks {
			s0, s1, s2, s3 := dotWide((*[blockLen]int64)(w[b*blockLen:]), (*[lanes * blockLen]int64)(t.q8[b*lanes*blockLen:]))
			d, a := (*[packed]float32)(scale[b*packed:]), (*[lanes]float32)(t.q8Scale[b*lanes:])
			m.add(&acc[0], s0, d, a[0])
			m.add(&acc[1], s1, d, a[1])
			m.add(&acc[2], s2, d, a[2])
			m.add(&acc[3], s3, d, a[3])
		}
		for l := range t.n {
			copy(dst[l*stride:][:m.rows][g*packed:], acc[l][:])
		}
	}
}

func (m *byteMatrix) mulPair(dst []float32, t *tile) {
	blocks := m.cols / blockLen
	for g := 0; g*packed < m.rows; g += 2 {
		var acc [2][packed]float32
		w, scale := m.w[g*m.cols:(g+2)*m.cols], m.scale[g*blocks*packed:]
		for b := range blocks {
			k := b * blockLen
			s0, s1 := dotPair((*[blockLen]int64)(w[k:]), (*[blockLen]int64)(w[m.cols+k:]), (*[blockLen]int64)(t.q8[k:]))
			m.add(&acc[0], s0, (*[packed]float32)(scale[b*packed:]), t.q8Scale[b])
			m.add(&acc[1], s1, (*[packed]float32)(scale[(blocks+b)*packed:]), t.q8Scale[b])
		}
		copy(dst[:m.rows][g*packed:], acc[0][:])
		if (g+1)*packed < m.rows {
			copy(dst[:m.rows][(g+1)*packed:], acc[1][:])
		}
	}
}

// add scales the three sums of one block. The two formats multiply in a
// different order in the reference engine, which decides near ties.
func (m *byteMatrix) add(acc *[packed]float32, sum int64, d *[packed]float32, a float32) {
	x, y, z := unpack3(sum)
	if m.q4 {
		acc[0] += float32(float32(float32(x)*d[0]) * a)
		acc[1] += float32(float32(float32(y)*d[1]) * a)
		acc[2] += float32(float32(float32(z)*d[2]) * a)
		return
	}
	acc[0] += float32(float32(x) * float32(d[0]*a))
	acc[1] += float32(float32(y) * float32(d[1]*a))
	acc[2] += float32(float32(z) * float32(d[2]*a))
}

// superMatrix holds Q2_K weights, packed by three like byteMatrix, with the
// group scale multiplied in: 0..45 times 127 over half a super block of 128 is
// 731,520 < 2^20. The group minima (0..15) meet the group sums of the
// activations (at most 16*127): 487,680 over a super block.
type superMatrix struct {
	rows, cols int
	w          []int64   // [group of three rows][cols]
	minimum    []int64   // [group][cols/16]
	scale      []float32 // [group][super block][row in group]
	minScale   []float32
}

func newSuperMatrix(t *tensor) *superMatrix {
	groups, supers := (t.rows+packed-1)/packed, t.cols/superLen
	m := &superMatrix{rows: t.rows, cols: t.cols}
	m.w = make([]int64, groups*t.cols)
	m.minimum = make([]int64, groups*t.cols/groupLen)
	m.scale = make([]float32, groups*supers*packed)
	m.minScale = make([]float32, groups*supers*packed)
	for r := range t.rows {
		for b := range supers {
			m.place(r, b, t.block(r, b))
		}
	}
	return m
}

func (m *superMatrix) place(r, b int, raw []byte) {
	g, field := r/packed, r%packed
	q, scale, minimum := quantsQ2K(raw)
	for k := range q {
		m.w[g*m.cols+b*superLen+k] += int64(q[k]) * int64(scale[k/groupLen]) << (field * fieldBits)
	}
	for k := range minimum {
		m.minimum[(g*m.cols+b*superLen)/groupLen+k] += int64(minimum[k]) << (field * fieldBits)
	}
	at := (g*(m.cols/superLen)+b)*packed + field
	m.scale[at], m.minScale[at] = halfAt(raw[80:]), halfAt(raw[82:])
}

func (m *superMatrix) form() form { return formQ8K }

func (m *superMatrix) mul(dst []float32, stride int, t *tile) {
	supers := m.cols / superLen
	for g := 0; g*packed < m.rows; g++ {
		var acc [lanes][packed]float32
		for b := range supers {
			var low, high, mins [lanes]int64
			m.sums(g, b, t, &low, &high, &mins)
			at := (g*supers + b) * packed
			d, dmin := (*[packed]float32)(m.scale[at:]), (*[packed]float32)(m.minScale[at:])
			for l := range t.n {
				addSuper(&acc[l], low[l], high[l], mins[l], d, dmin, t.q8kScale[b*t.width+l])
			}
		}
		for l := range t.n {
			copy(dst[l*stride:][:m.rows][g*packed:], acc[l][:])
		}
	}
}

// sums adds up one super block: the two halves (each fits its fields) and the
// minima, for every lane.
func (m *superMatrix) sums(g, b int, t *tile, low, high, mins *[lanes]int64) {
	w := m.w[g*m.cols+b*superLen:][:superLen]
	minimum := m.minimum[(g*m.cols+b*superLen)/groupLen:][:groupLen]
	sum := t.q8kSum[b*groupLen*t.width:][:groupLen*t.width]
	for k, v := range minimum {
		for l, s := range sum[k*t.width : (k+1)*t.width] {
			mins[l] += v * s
		}
	}
	a := t.q8k[b*superLen*t.width:][:superLen*t.width]
	if t.width == 1 {
		low[0], high[0] = dotHalves((*[superLen]int64)(w), (*[superLen]int64)(a))
		return
	}
	for k := 0; k < superLen; k += blockLen {
		into := low
		if k >= superLen/2 {
			into = high
		}
		s0, s1, s2, s3 := dotWide((*[blockLen]int64)(w[k:]), (*[lanes * blockLen]int64)(a[k*lanes:]))
		into[0] += s0
		into[1] += s1
		into[2] += s2
		into[3] += s3
	}
}

// dotHalves is the single position case: both halves of a super block.
func dotHalves(w, a *[superLen]int64) (low, high int64) {
	const half = superLen / 2
	for k := 0; k < half; k += 4 {
		p, r := (*[4]int64)(w[k:]), (*[4]int64)(w[half+k:])
		q, s := (*[4]int64)(a[k:]), (*[4]int64)(a[half+k:])
		low += p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3]
		high += r[0]*s[0] + r[1]*s[1] + r[2]*s[2] + r[3]*s[3]
	}
	return low, high
}

func addSuper(acc *[packed]float32, low, high, mins int64, d, dmin *[packed]float32, a float32) {
	x0, y0, z0 := unpack3(low)
	x1, y1, z1 := unpack3(high)
	mx, my, mz := unpack3(mins)
	acc[0] += superTerm(x0+x1, mx, d[0], dmin[0], a)
	acc[1] += superTerm(y0+y1, my, d[1], dmin[1], a)
	acc[2] += superTerm(z0+z1, mz, d[2], dmin[2], a)
}

func superTerm(sum, mins int32, d, dmin, a float32) float32 {
	return float32(float32(a*d)*float32(sum)) - float32(float32(a*dmin)*float32(mins))
}
