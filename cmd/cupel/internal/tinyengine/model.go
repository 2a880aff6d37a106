package tinyengine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"sync"
)

// Model is a loaded model. It is immutable and safe for concurrent use.
type Model struct {
	name      string
	digest    string
	quant     string
	params    int64
	bytes     int64
	cfg       config
	tok       *tokenizer
	embedding tensor
	layers    []layer
	norm      []float32
	head      matrix
	cos, sin  []float32 // [position][headDim/2]
	sequences sync.Pool // *sequence, so that a request allocates no cache
}

type layer struct {
	attnNorm, ffnNorm []float32
	q, k, v, o        matrix
	gate, up, down    matrix
}

// Load reads a GGUF file of a Llama model with a llama-bpe tokenizer and lays
// out its weights. It keeps gguf, which must not change afterwards. The name is
// the id under which the server offers the model.
func Load(name string, gguf []byte) (*Model, error) {
	m, err := load(gguf)
	if err != nil {
		return nil, fmt.Errorf("load model %q: %w", name, err)
	}
	sum := sha256.Sum256(gguf)
	m.name, m.digest = name, hex.EncodeToString(sum[:])
	return m, nil
}

func load(gguf []byte) (*Model, error) {
	f, err := parseGGUF(gguf)
	if err != nil {
		return nil, err
	}
	m := &Model{bytes: f.size}
	if m.cfg, err = readConfig(f); err != nil {
		return nil, err
	}
	if m.tok, err = newTokenizer(f); err != nil {
		return nil, err
	}
	m.cfg.vocab = len(m.tok.bytes)
	if err := m.readWeights(f); err != nil {
		return nil, err
	}
	m.countTensors(f)
	m.fillRope()
	m.sequences.New = func() any { return newSequence(m) }
	return m, nil
}

// Name is the id given to Load.
func (m *Model) Name() string { return m.name }

// Digest is the SHA-256 of the GGUF file in hex.
func (m *Model) Digest() string { return m.digest }

func (m *Model) readWeights(f *ggufFile) error {
	c := m.cfg
	g := &weightReader{f: f}
	m.embedding = g.tensor("token_embd.weight", c.vocab, c.width)
	m.norm = g.vector("output_norm.weight", c.width)
	for i := range c.layers {
		if g.err != nil {
			return g.err
		}
		p := fmt.Sprintf("blk.%d.", i)
		m.layers = append(m.layers, layer{
			attnNorm: g.vector(p+"attn_norm.weight", c.width),
			ffnNorm:  g.vector(p+"ffn_norm.weight", c.width),
			q:        g.matrix(p+"attn_q.weight", c.heads*c.headDim, c.width),
			k:        g.matrix(p+"attn_k.weight", c.kvWidth(), c.width),
			v:        g.matrix(p+"attn_v.weight", c.kvWidth(), c.width),
			o:        g.matrix(p+"attn_output.weight", c.width, c.heads*c.headDim),
			gate:     g.matrix(p+"ffn_gate.weight", c.hidden, c.width),
			up:       g.matrix(p+"ffn_up.weight", c.hidden, c.width),
			down:     g.matrix(p+"ffn_down.weight", c.width, c.hidden),
		})
	}
	head := "output.weight"
	if _, ok := f.tensors[head]; !ok {
		head = "token_embd.weight" // tied
	}
	m.head = g.matrix(head, c.vocab, c.width)
	return g.err
}

// weightReader looks tensors up by name and shape and keeps the first error.
type weightReader struct {
	f   *ggufFile
	err error
}

func (g *weightReader) tensor(name string, rows, cols int) tensor {
	t, ok := g.f.tensors[name]
	switch {
	case g.err != nil:
	case !ok:
		g.err = fmt.Errorf("%w: tensor %q is missing", errGGUF, name)
	case t.rows != rows || t.cols != cols:
		g.err = fmt.Errorf("%w: tensor %q is %d x %d, want %d x %d", errGGUF, name, t.rows, t.cols, rows, cols)
	}
	return t
}

func (g *weightReader) vector(name string, n int) []float32 {
	t := g.tensor(name, 1, n)
	if g.err != nil {
		return nil
	}
	v := make([]float32, n)
	t.row(0, v)
	return v
}

func (g *weightReader) matrix(name string, rows, cols int) matrix {
	t := g.tensor(name, rows, cols)
	if g.err != nil {
		return nil
	}
	return newMatrix(&t)
}

// countTensors derives the label from the tensors themselves: the file_type
// field of a mixed recipe names only one of its types.
func (m *Model) countTensors(f *ggufFile) {
	for _, t := range f.tensors {
		m.params += int64(t.rows) * int64(t.cols)
		if t.dims < 2 {
			continue
		}
		switch label := blockFormats[t.kind].label; m.quant {
		case "", label:
			m.quant = label
		default:
			m.quant = "MIXED"
		}
	}
}

// fillRope tabulates the rotations. The angle is multiplied up in float32, as
// the reference engine does, not computed afresh per pair.
func (m *Model) fillRope() {
	half := m.cfg.headDim / 2
	m.cos = make([]float32, m.cfg.context*half)
	m.sin = make([]float32, m.cfg.context*half)
	step := float32(math.Pow(float64(m.cfg.ropeBase), float64(-2/float32(m.cfg.headDim))))
	for pos := range m.cfg.context {
		theta := float32(pos)
		for i := range half {
			m.sin[pos*half+i], m.cos[pos*half+i] = sincos32(theta)
			theta *= step
		}
	}
}
