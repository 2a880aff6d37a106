package tinyengine

import (
	"context"
	"math"
)

// sequence is the state of one request: the cache and the scratch buffers.
type sequence struct {
	m    *Model
	n    int // positions in the cache
	keys []float64
	vals []float32

	x      []float32 // residual stream of the positions being added
	t      *tile
	norm   []float32 // one tile each
	q      []float32
	kv     []float32
	att    []float32
	out    []float32
	gate   []float32
	up     []float32
	logits []float32
	attend attention
}

func newSequence(m *Model) *sequence {
	c := m.cfg
	wide := max(c.width, c.heads*c.headDim, c.hidden)
	cache := c.layers * c.kvWidth() * c.context
	return &sequence{
		m:    m,
		keys: make([]float64, cache), vals: make([]float32, cache),
		x:    make([]float32, c.context*c.width),
		t:    newTile(wide),
		norm: make([]float32, lanes*c.width), q: make([]float32, lanes*c.heads*c.headDim),
		kv: make([]float32, lanes*c.kvWidth()), att: make([]float32, lanes*c.heads*c.headDim),
		out: make([]float32, lanes*c.width), gate: make([]float32, lanes*c.hidden),
		up: make([]float32, lanes*c.hidden), logits: make([]float32, c.vocab),
		attend: newAttention(c),
	}
}

// extend computes the positions of ids, which must fit the context, and
// returns the logits that follow the last one; they are valid until the next
// call. It looks at ctx once per tile and layer, well under a millisecond.
//
// Layer by layer, four positions at a time: a layer's weights stay in the cache
// while the whole prompt passes, and each weight is read once per four
// positions. In the last layer only the final position goes past its keys and
// values, nothing reads the others.
func (s *sequence) extend(ctx context.Context, ids []int32) ([]float32, error) {
	c := s.m.cfg
	for i, id := range ids {
		s.m.embedding.row(int(id), s.x[i*c.width:(i+1)*c.width])
	}
	for l := range s.m.layers {
		for at := 0; at < len(ids); at += lanes {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := min(lanes, len(ids)-at)
			done := l == len(s.m.layers)-1 && at+n < len(ids)
			s.layer(l, s.x[at*c.width:(at+n)*c.width], s.n+at, n, done)
		}
	}
	s.n += len(ids)
	last := s.x[(len(ids)-1)*c.width : len(ids)*c.width]
	s.rmsNorm(s.norm, last, s.m.norm)
	s.t.set(s.norm, 1, c.width)
	multiply(s.m.head, s.logits, c.vocab, s.t)
	return s.logits, nil
}

// layer adds attention and feed-forward of layer l to the n rows of x, which
// stand at positions pos and on.
func (s *sequence) layer(l int, x []float32, pos, n int, cacheOnly bool) {
	c, w := s.m.cfg, &s.m.layers[l]
	qWidth := c.heads * c.headDim
	s.normTile(x, n, w.attnNorm)
	multiply(w.k, s.kv, c.kvWidth(), s.t)
	for i := range n {
		s.storeKeys(l, pos+i, s.kv[i*c.kvWidth():(i+1)*c.kvWidth()])
	}
	multiply(w.v, s.kv, c.kvWidth(), s.t)
	for i := range n {
		s.storeValues(l, pos+i, s.kv[i*c.kvWidth():(i+1)*c.kvWidth()])
	}
	if cacheOnly {
		return
	}
	multiply(w.q, s.q, qWidth, s.t)
	for i := range n {
		q := s.q[i*qWidth : (i+1)*qWidth]
		s.rotate(q, pos+i)
		s.attendAll(s.att[i*qWidth:(i+1)*qWidth], q, l, pos+i)
	}
	s.t.set(s.att, n, qWidth)
	multiply(w.o, s.out, c.width, s.t)
	addTo(x, s.out)
	s.feedForward(w, x, n)
}

func (s *sequence) feedForward(w *layer, x []float32, n int) {
	c := s.m.cfg
	s.normTile(x, n, w.ffnNorm)
	multiply(w.gate, s.gate, c.hidden, s.t)
	multiply(w.up, s.up, c.hidden, s.t)
	for i, g := range s.gate[:n*c.hidden] {
		s.gate[i] = silu(g) * s.up[i]
	}
	s.t.set(s.gate, n, c.hidden)
	multiply(w.down, s.out, c.width, s.t)
	addTo(x, s.out)
}

// normTile points the tile at the normalised rows of x.
func (s *sequence) normTile(x []float32, n int, weight []float32) {
	d := s.m.cfg.width
	for i := range n {
		s.rmsNorm(s.norm[i*d:(i+1)*d], x[i*d:(i+1)*d], weight)
	}
	s.t.set(s.norm, n, d)
}

// rmsNorm sums squares in float64 and goes on in float32.
func (s *sequence) rmsNorm(dst, x, weight []float32) {
	var sum float64
	for _, v := range x {
		sum += float64(float32(v * v))
	}
	mean := float32(sum / float64(len(x)))
	scale := 1 / float32(math.Sqrt(float64(mean+s.m.cfg.eps)))
	for i, v := range x {
		dst[i] = float32(v*scale) * weight[i]
	}
}

func addTo(x, y []float32) {
	for i := range x {
		x[i] += y[i]
	}
}

// rotate applies the position to each head: pairs of neighbours.
func (s *sequence) rotate(v []float32, pos int) {
	half := s.m.cfg.headDim / 2
	cos, sin := s.m.cos[pos*half:(pos+1)*half], s.m.sin[pos*half:(pos+1)*half]
	for len(v) >= 2*half {
		for i := range half {
			a, b := v[2*i], v[2*i+1]
			v[2*i] = float32(a*cos[i]) - float32(b*sin[i])
			v[2*i+1] = float32(a*sin[i]) + float32(b*cos[i])
		}
		v = v[2*half:]
	}
}
