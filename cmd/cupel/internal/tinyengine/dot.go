package tinyengine

// Width of the register block: positions that share one pass over the weights.
const lanes = 4

// blockLen is the number of columns per call of a dot product.
const blockLen = 32

// dotWide multiplies 32 weights with the columns of four positions (a[4*k+lane]).
// Fixed array sizes and four independent sums per weight are what the compiler
// needs to drop the bounds checks and keep the multiplier busy: 6e9 products a
// second on one core against 2.8e9 for the plain loop.
func dotWide(w *[blockLen]int64, a *[lanes * blockLen]int64) (s0, s1, s2, s3 int64) {
	for k := 0; k < blockLen; k += 4 {
		p := (*[4]int64)(w[k:])
		q := (*[16]int64)(a[4*k:])
		v := p[0]
		s0 += v * q[0]
		s1 += v * q[1]
		s2 += v * q[2]
		s3 += v * q[3]
		v = p[1]
		s0 += v * q[4]
		s1 += v * q[5]
		s2 += v * q[6]
		s3 += v * q[7]
		v = p[2]
		s0 += v * q[8]
		s1 += v * q[9]
		s2 += v * q[10]
		s3 += v * q[11]
		v = p[3]
		s0 += v * q[12]
		s1 += v * q[13]
		s2 += v * q[14]
		s3 += v * q[15]
	}
	return s0, s1, s2, s3
}

// dotPair multiplies two rows of 32 weights with one position: decoding has
// only one, so the block goes over rows instead.
func dotPair(w0, w1 *[blockLen]int64, a *[blockLen]int64) (s0, s1 int64) {
	var t0, t1 int64
	for k := 0; k < blockLen; k += 4 {
		p, r, q := (*[4]int64)(w0[k:]), (*[4]int64)(w1[k:]), (*[4]int64)(a[k:])
		s0 += p[0] * q[0]
		s1 += r[0] * q[0]
		t0 += p[1] * q[1]
		t1 += r[1] * q[1]
		s0 += p[2] * q[2]
		s1 += r[2] * q[2]
		t0 += p[3] * q[3]
		t1 += r[3] * q[3]
	}
	return s0 + t0, s1 + t1
}

// Four rows of 32 halves, interleaved: weight k of row r is at 4*k+r. One
// position reads them in order; four positions read one row with stride four.
const (
	quad      = 4
	quadBlock = quad * blockLen
	quadRow   = quadBlock - quad + 1 // from a row's first weight to its last
)

// dotWideHalf is dotWide for one row of a quad block.
func dotWideHalf(w *[quadRow]int32, a *[lanes * blockLen]int64) (s0, s1, s2, s3 int64) {
	for k := 0; k < quadBlock; k += 16 {
		p, q := (*[13]int32)(w[k:]), (*[16]int64)(a[k:])
		v := int64(p[0])
		s0 += v * q[0]
		s1 += v * q[1]
		s2 += v * q[2]
		s3 += v * q[3]
		v = int64(p[4])
		s0 += v * q[4]
		s1 += v * q[5]
		s2 += v * q[6]
		s3 += v * q[7]
		v = int64(p[8])
		s0 += v * q[8]
		s1 += v * q[9]
		s2 += v * q[10]
		s3 += v * q[11]
		v = int64(p[12])
		s0 += v * q[12]
		s1 += v * q[13]
		s2 += v * q[14]
		s3 += v * q[15]
	}
	return s0, s1, s2, s3
}

// dotQuadHalf multiplies the four rows with one position.
func dotQuadHalf(w *[quadBlock]int32, a *[blockLen]int64) (s0, s1, s2, s3 int64) {
	for k := 0; k < blockLen; k += 4 {
		p, q := (*[16]int32)(w[4*k:]), (*[4]int64)(a[k:])
		v := q[0]
		s0 += int64(p[0]) * v
		s1 += int64(p[1]) * v
		s2 += int64(p[2]) * v
		s3 += int64(p[3]) * v
		v = q[1]
		s0 += int64(p[4]) * v
		s1 += int64(p[5]) * v
		s2 += int64(p[6]) * v
		s3 += int64(p[7]) * v
		v = q[2]
		s0 += int64(p[8]) * v
		s1 += int64(p[9]) * v
		s2 += int64(p[10]) * v
		s3 += int64(p[11]) * v
		v = q[3]
		s0 += int64(p[12]) * v
		s1 += int64(p[13]) * v
		s2 += int64(p[14]) * v
		s3 += int64(p[15]) * v
	}
	return s0, s1, s2, s3
}

// Three signed sums share one int64: sum0 + sum1<<21 + sum2<<42. Each must stay
// within 20 bits and a sign; the callers' comments say why theirs do.
const (
	packed    = 3
	fieldBits = 21
)

func unpack3(s int64) (a, b, c int32) {
	const unused = 64 - fieldBits
	low := s << unused >> unused
	s = (s - low) >> fieldBits
	mid := s << unused >> unused
	return int32(low), int32(mid), int32((s - mid) >> fieldBits)
}
