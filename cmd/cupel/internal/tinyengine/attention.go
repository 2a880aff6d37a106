package tinyengine

import "math"

// attention is the scratch of one head: the query in float64, the scores of
// all cached positions, the accumulator.
type attention struct {
	q      []float64
	scores []float32
	acc    []float32
}

func newAttention(c config) attention {
	return attention{
		q:      make([]float64, c.headDim),
		scores: make([]float32, c.context+lanes),
		acc:    make([]float32, c.headDim),
	}
}

// cacheAt is where layer l keeps key/value head h: context rows of headDim, so
// that a head reads its history in one sweep.
func (s *sequence) cacheAt(l, h int) int {
	c := &s.m.cfg
	return (l*c.kvHeads + h) * c.context * c.headDim
}

// storeKeys rotates and caches the keys of one position. The cache holds
// halves; the keys are widened to float64 once, here, not at every use.
func (s *sequence) storeKeys(l, pos int, k []float32) {
	s.rotate(k, pos)
	d := s.m.cfg.headDim
	for h := range s.m.cfg.kvHeads {
		row := s.keys[s.cacheAt(l, h)+pos*d:][:d]
		for i := range row {
			row[i] = float64(toHalf(k[h*d+i]))
		}
	}
}

func (s *sequence) storeValues(l, pos int, v []float32) {
	d := s.m.cfg.headDim
	for h := range s.m.cfg.kvHeads {
		row := s.vals[s.cacheAt(l, h)+pos*d:][:d]
		for i := range row {
			row[i] = toHalf(v[h*d+i])
		}
	}
}

// attendAll computes every query head of one position.
func (s *sequence) attendAll(dst, q []float32, l, pos int) {
	c := &s.m.cfg
	d, group := c.headDim, c.heads/c.kvHeads
	for h := range c.heads {
		at := s.cacheAt(l, h/group)
		keys, vals := s.keys[at:at+(pos+1)*d], s.vals[at:at+(pos+1)*d]
		s.attend.head(dst[h*d:(h+1)*d], q[h*d:(h+1)*d], keys, vals)
	}
}

// head is the reference engine's flash attention for one query: positions in
// order, a running maximum, and an accumulator kept in binary16. The half
// precision costs work here and accuracy there, but it decides near ties, so it
// is part of what "the same text" takes.
func (a *attention) head(dst, q []float32, keys []float64, vals []float32) {
	d := len(q)
	a.score(q, keys)
	clear(a.acc)
	top, sum := float32(math.Inf(-1)), float32(0)
	for i, s := range a.scores[:len(keys)/d] {
		weight := float32(1)
		if s > top {
			shrink := exp32(top - s)
			top = s
			for j, v := range a.acc {
				a.acc[j] = roundHalf(v * shrink)
			}
			sum = float32(sum*shrink) + 1
		} else {
			weight = exp32(s - top)
			sum += weight
		}
		blend(a.acc, vals[i*d:(i+1)*d], weight)
	}
	inverse := 1 / sum
	for j, v := range a.acc {
		dst[j] = v * inverse
	}
}

// blend adds v*weight to acc in binary16. Both are at most the largest half
// times a few, far from where roundHalf and a real half part.
func blend(acc, v []float32, weight float32) {
	v = v[:len(acc)]
	for j, x := range acc {
		acc[j] = roundHalf(x + float32(v[j]*weight))
	}
}

// score fills scores with q.k/sqrt(d), four keys at a time.
func (a *attention) score(q []float32, keys []float64) {
	d := len(q)
	for i, v := range q {
		a.q[i] = float64(toHalf(v))
	}
	scale := 1 / float32(math.Sqrt(float64(d)))
	n := len(keys) / d
	i := 0
	for ; i+4 <= n; i += 4 {
		k := keys[i*d : (i+4)*d]
		s := dot4(a.q, k[:d], k[d:2*d], k[2*d:3*d], k[3*d:])
		for j, v := range s {
			a.scores[i+j] = float32(v) * scale
		}
	}
	for ; i < n; i++ {
		var s float64
		for j, v := range keys[i*d : (i+1)*d] {
			s += a.q[j] * v
		}
		a.scores[i] = float32(s) * scale
	}
}

// dot4 is one query against four keys; products of halves are exact in
// float64, so the order of the sum is of no consequence.
func dot4(q, k0, k1, k2, k3 []float64) (s [4]float64) {
	k0, k1, k2, k3 = k0[:len(q)], k1[:len(q)], k2[:len(q)], k3[:len(q)]
	for i, v := range q {
		s[0] += v * k0[i]
		s[1] += v * k1[i]
		s[2] += v * k2[i]
		s[3] += v * k3[i]
	}
	return s
}
