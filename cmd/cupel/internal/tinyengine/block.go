package tinyengine

import (
	"encoding/binary"
	"math"
)

// blockKind is GGUF's number of a tensor type.
type blockKind uint32

const (
	kindF32  blockKind = 0
	kindF16  blockKind = 1
	kindQ4_0 blockKind = 2
	kindQ8_0 blockKind = 8
	kindQ2_K blockKind = 10
)

// blockFormat describes how a row is stored: values per block, bytes per
// block, and how one block becomes float32 values.
type blockFormat struct {
	label  string
	values int
	bytes  int
	decode func(dst []float32, block []byte)
}

var blockFormats = map[blockKind]blockFormat{
	kindF32:  {"F32", 1, 4, decodeF32},
	kindF16:  {"F16", 1, 2, decodeF16},
	kindQ4_0: {"Q4_0", 32, 18, decodeQ4_0},
	kindQ8_0: {"Q8_0", 32, 34, decodeQ8_0},
	kindQ2_K: {"Q2_K", 256, 84, decodeQ2K},
}

// row decodes row i into dst, which has t.cols values.
func (t *tensor) row(i int, dst []float32) {
	f := blockFormats[t.kind]
	raw := t.raw[i*t.rowBytes() : (i+1)*t.rowBytes()]
	for n := 0; n < t.cols; n += f.values {
		f.decode(dst[n:n+f.values], raw)
		raw = raw[f.bytes:]
	}
}

func (t *tensor) rowBytes() int {
	f := blockFormats[t.kind]
	return t.cols / f.values * f.bytes
}

// block is block b of row i, as stored.
func (t *tensor) block(i, b int) []byte {
	n := blockFormats[t.kind].bytes
	at := i*t.rowBytes() + b*n
	return t.raw[at : at+n : at+n]
}

func halfAt(b []byte) float32 { return halfToFloat(binary.LittleEndian.Uint16(b)) }

func decodeF32(dst []float32, b []byte) {
	dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(b))
}

func decodeF16(dst []float32, b []byte) { dst[0] = halfAt(b) }

func decodeQ8_0(dst []float32, b []byte) {
	d := halfAt(b)
	for i, q := range quantsQ8_0(b) {
		dst[i] = float32(q) * d
	}
}

func decodeQ4_0(dst []float32, b []byte) {
	d := halfAt(b)
	for i, q := range quantsQ4_0(b) {
		dst[i] = float32(q) * d
	}
}

func decodeQ2K(dst []float32, b []byte) {
	q, scale, minimum := quantsQ2K(b)
	d, dmin := halfAt(b[80:]), halfAt(b[82:])
	for i := range q {
		g := i / 16
		dst[i] = float32(d*float32(scale[g]))*float32(q[i]) - float32(dmin*float32(minimum[g]))
	}
}

// quantsQ8_0 are the 32 signed bytes behind the scale.
func quantsQ8_0(b []byte) (q [32]int8) {
	for i := range q {
		q[i] = int8(b[2+i])
	}
	return q
}

// quantsQ4_0 are 32 values in [-8, 7]: low nibbles first, then high ones.
func quantsQ4_0(b []byte) (q [32]int8) {
	for i := range 16 {
		q[i] = int8(b[2+i]&15) - 8
		q[i+16] = int8(b[2+i]>>4) - 8
	}
	return q
}

// quantsQ2K are 256 values in [0, 3] and, per group of 16, a scale and a
// minimum in [0, 15]. A byte holds the values of four groups that lie 32 apart.
func quantsQ2K(b []byte) (q [256]uint8, scale, minimum [16]uint8) {
	for g := range 16 {
		scale[g], minimum[g] = b[g]&15, b[g]>>4
	}
	for i := range q {
		half, shift, at := i/128, i%128/32*2, i%32
		q[i] = b[16+half*32+at] >> shift & 3
	}
	return q, scale, minimum
}
