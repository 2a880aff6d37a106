package tinyengine

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// reference is a second, slow implementation: float64, one position at a time,
// nested loops, no cache layout, its own decoding of the block formats. It
// shares nothing with the engine but the parsed file.
type reference struct {
	f           *ggufFile
	heads, kv   int
	dim, layers int
	weights     map[string][][]float64
	keys, vals  [][][]float64 // [layer][position]
}

func newReference(t *testing.T, file []byte) *reference {
	f, err := parseGGUF(file)
	if err != nil {
		t.Fatal(err)
	}
	n := func(k string) int { return int(f.meta["llama."+k].(uint64)) }
	r := &reference{f: f, heads: n("attention.head_count"), kv: n("attention.head_count_kv"), dim: n("attention.key_length"), layers: n("block_count")}
	r.weights = map[string][][]float64{}
	for name, tt := range f.tensors {
		r.weights[name] = decodeSlowly(tt)
	}
	r.keys, r.vals = make([][][]float64, r.layers), make([][][]float64, r.layers)
	return r
}

// decodeSlowly reads single weights by index, from the format's definition.
func decodeSlowly(t tensor) [][]float64 {
	out := make([][]float64, t.rows)
	for i := range out {
		for j := range t.cols {
			out[i] = append(out[i], weightAt(t, i, j))
		}
	}
	return out
}

func weightAt(t tensor, i, j int) float64 {
	h := func(b []byte) float64 {
		u := binary.LittleEndian.Uint16(b)
		e, m := int(u>>10&31), float64(u&1023)
		v := math.Ldexp(1+m/1024, e-15)
		if e == 0 {
			v = math.Ldexp(m, -24)
		}
		if u>>15 == 1 {
			v = -v
		}
		return v
	}
	n := i*t.cols + j
	switch t.kind {
	case kindF32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.raw[4*n:])))
	case kindF16:
		return h(t.raw[2*n:])
	case kindQ8_0:
		b := t.raw[n/32*34:]
		return h(b) * float64(int8(b[2+n%32]))
	case kindQ4_0:
		b, k := t.raw[n/32*18:], n%32
		return h(b) * float64(int(b[2+k%16]>>(k/16*4)&15)-8)
	}
	b, k := t.raw[n/256*84:], n%256
	q := b[16+k/128*32+k%32] >> (k % 128 / 32 * 2) & 3
	s := b[k/16]
	return h(b[80:])*float64(s&15)*float64(q) - h(b[82:])*float64(s>>4)
}

// activation is what the engine's integer formats leave of x.
func activation(kind blockKind, x []float64) []float64 {
	out := make([]float64, len(x))
	size, absmax := 32, true
	switch kind {
	case kindF32:
		return x
	case kindF16:
		for i, v := range x {
			out[i] = float64(roundHalf(float32(v)))
		}
		return out
	case kindQ2_K:
		size, absmax = 256, false
	}
	for at := 0; at < len(x); at += size {
		top := 0.0
		for _, v := range x[at : at+size] {
			if math.Abs(v) > math.Abs(top) {
				top = v
			}
		}
		d := top / 127
		stored := d
		if absmax {
			d = math.Abs(d)
			stored = float64(roundHalf(float32(d)))
		}
		for i, v := range x[at : at+size] {
			out[at+i] = stored * math.Round(v/d)
		}
	}
	return out
}

func (r *reference) mul(name string, x []float64) []float64 {
	t := r.f.tensors[name]
	x = activation(t.kind, x)
	y := make([]float64, t.rows)
	for i, row := range r.weights[name] {
		for j, w := range row {
			y[i] += w * x[j]
		}
	}
	return y
}

func (r *reference) normed(name string, x []float64) []float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	s = math.Sqrt(s/float64(len(x)) + 1e-5)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v / s * r.weights[name][0][i]
	}
	return y
}

func (r *reference) rope(v []float64, pos int) {
	for i := 0; i < len(v); i += 2 {
		angle := float64(pos) * math.Pow(10000, -float64(i%r.dim)/float64(r.dim))
		s, c := math.Sincos(angle)
		v[i], v[i+1] = v[i]*c-v[i+1]*s, v[i]*s+v[i+1]*c
	}
}

func (r *reference) step(id, pos int) []float64 {
	x := append([]float64(nil), r.weights["token_embd.weight"][id]...)
	for l := range r.layers {
		p := []string{"blk.0.", "blk.1."}[l]
		n := r.normed(p+"attn_norm.weight", x)
		q, k, v := r.mul(p+"attn_q.weight", n), r.mul(p+"attn_k.weight", n), r.mul(p+"attn_v.weight", n)
		r.rope(q, pos)
		r.rope(k, pos)
		r.keys[l], r.vals[l] = append(r.keys[l], k), append(r.vals[l], v)
		for i, v := range r.mul(p+"attn_output.weight", r.attention(l, q)) {
			x[i] += v
		}
		n = r.normed(p+"ffn_norm.weight", x)
		g, u := r.mul(p+"ffn_gate.weight", n), r.mul(p+"ffn_up.weight", n)
		for i := range g {
			g[i] = g[i] / (1 + math.Exp(-g[i])) * u[i]
		}
		for i, v := range r.mul(p+"ffn_down.weight", g) {
			x[i] += v
		}
	}
	return r.mul("token_embd.weight", r.normed("output_norm.weight", x))
}

func (r *reference) attention(l int, q []float64) []float64 {
	out := make([]float64, len(q))
	for h := range r.heads {
		kv := h / (r.heads / r.kv)
		var total float64
		for pos, k := range r.keys[l] {
			var s float64
			for i := range r.dim {
				s += q[h*r.dim+i] * k[kv*r.dim+i]
			}
			w := math.Exp(s / math.Sqrt(float64(r.dim)))
			total += w
			for i := range r.dim {
				out[h*r.dim+i] += w * r.vals[l][pos][kv*r.dim+i]
			}
		}
		for i := range r.dim {
			out[h*r.dim+i] /= total
		}
	}
	return out
}

// TestForward compares logits after prompts of every length modulo the tile and
// after single steps. The bounds are parts of the logits' size: half precision
// attention costs a thousandth, and of quantised activations it moves some to the
// other side of a tie; any wrong index or rotation costs everything. The dot
// products themselves are checked exactly in matrix_test.go.
func TestForward(t *testing.T) {
	for _, kind := range allKinds {
		t.Run(blockFormats[kind].label, func(t *testing.T) {
			file := micro(kind)
			m := loadMicro(t, kind)
			bound := 0.1
			if kind == kindF32 || kind == kindF16 {
				bound = 0.004
			}
			for _, prompt := range []int{1, 2, 3, 4, 5, 11} {
				checkForward(t, m, newReference(t, file), prompt, bound)
			}
		})
	}
}

func checkForward(t *testing.T, m *Model, ref *reference, prompt int, bound float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(prompt), 1))
	ids := make([]int32, prompt+3)
	for i := range ids {
		ids[i] = int32(r.IntN(m.cfg.vocab))
	}
	s := newSequence(m)
	var want []float64
	for i, id := range ids {
		want = ref.step(int(id), i)
		var got []float32
		var err error
		switch {
		case i == prompt-1:
			got, err = s.extend(context.Background(), ids[:prompt])
		case i >= prompt:
			got, err = s.extend(context.Background(), ids[i:i+1])
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		d := distance(got, want)
		if !(d < bound) {
			t.Errorf("prompt of %d, position %d: logits differ by %.4f of their size", prompt, i, d)
		}
	}
}

// distance is the root mean square difference over the root mean square.
func distance(got []float32, want []float64) float64 {
	var diff, size float64
	for i, w := range want {
		diff += (float64(got[i]) - w) * (float64(got[i]) - w)
		size += w * w
	}
	return math.Sqrt(diff / size)
}
