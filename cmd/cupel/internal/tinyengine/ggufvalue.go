package tinyengine

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxString bounds one string of the header in bytes.
const maxString = 1 << 20

// byteReader reads little endian values; after the first error everything is
// zero, so that callers check once.
type byteReader struct {
	b   []byte
	off int
	err error
}

func (r *byteReader) left() int { return len(r.b) - r.off }

func (r *byteReader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *byteReader) fail(format string, args ...any) {
	r.keep(fmt.Errorf("%w: "+format+" (at byte %d)", append(append([]any{errGGUF}, args...), r.off)...))
}

func (r *byteReader) take(n uint64) []byte {
	if r.err == nil && n > uint64(r.left()) {
		r.fail("%d bytes wanted, %d left", n, r.left())
	}
	if r.err != nil {
		return nil
	}
	p := r.b[r.off : r.off+int(n)]
	r.off += int(n)
	return p
}

func (r *byteReader) uint(width uint64) (v uint64) {
	for i, c := range r.take(width) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

func (r *byteReader) u32() uint32 { return uint32(r.uint(4)) }
func (r *byteReader) u64() uint64 { return r.uint(8) }

func (r *byteReader) str() string {
	n := r.u64()
	if n > maxString {
		r.fail("string of %d bytes, at most %d", n, maxString)
	}
	return string(r.take(n))
}

// Metadata value types of GGUF.
const (
	ggufU8 = iota
	ggufI8
	ggufU16
	ggufI16
	ggufU32
	ggufI32
	ggufF32
	ggufBool
	ggufString
	ggufArray
	ggufU64
	ggufI64
	ggufF64
)

var ggufWidth = map[uint32]uint64{
	ggufU8: 1, ggufI8: 1, ggufBool: 1, ggufU16: 2, ggufI16: 2,
	ggufU32: 4, ggufI32: 4, ggufF32: 4, ggufU64: 8, ggufI64: 8, ggufF64: 8,
}

// value reads one metadata value, widened: unsigned to uint64, signed to
// int64, floats to float64.
func (r *byteReader) value(kind uint32) any {
	width, scalar := ggufWidth[kind]
	switch {
	case scalar:
		return widen(kind, width, r.take(width))
	case kind == ggufString:
		return r.str()
	case kind == ggufArray:
		return r.array(r.u32(), r.u64())
	}
	r.fail("metadata type %d is unknown", kind)
	return nil
}

func widen(kind uint32, width uint64, p []byte) any {
	if p == nil {
		return nil
	}
	var full [8]byte
	copy(full[:], p)
	u := binary.LittleEndian.Uint64(full[:])
	switch kind {
	case ggufI8, ggufI16, ggufI32, ggufI64:
		unused := 64 - 8*width
		return int64(u<<unused) >> unused
	case ggufF32:
		return float64(math.Float32frombits(uint32(u)))
	case ggufF64:
		return math.Float64frombits(u)
	case ggufBool:
		return u != 0
	}
	return u
}

// array reads []string or, for integers, []int64. Other element types are
// skipped: nothing here needs them. Arrays of arrays are refused.
func (r *byteReader) array(kind uint32, n uint64) any {
	if kind == ggufString {
		return r.strings(n)
	}
	width, ok := ggufWidth[kind]
	if !ok {
		r.fail("arrays of type %d are not supported", kind)
		return nil
	}
	if n > uint64(r.left())/width {
		r.fail("array of %d values in %d bytes", n, r.left())
		return nil
	}
	p := r.take(n * width)
	if kind != ggufI32 {
		return nil
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(int32(binary.LittleEndian.Uint32(p[4*i:])))
	}
	return out
}

func (r *byteReader) strings(n uint64) []string {
	if n > uint64(r.left())/8 { // a string is at least its length field
		r.fail("array of %d strings in %d bytes", n, r.left())
		return nil
	}
	out := make([]string, 0, n)
	for i := uint64(0); i < n && r.err == nil; i++ {
		out = append(out, r.str())
	}
	return out
}
