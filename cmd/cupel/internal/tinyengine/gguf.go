package tinyengine

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// errGGUF marks every complaint about the bytes of a model file.
var errGGUF = errors.New("invalid GGUF")

// Limits of the header. A file is at most as hostile as its own length: every
// count is compared with the bytes left before anything is allocated.
const (
	maxTensorDims = 4
	maxAlignment  = 1 << 16
)

// ggufFile is a parsed file. Strings and tensors alias the input bytes.
type ggufFile struct {
	meta    map[string]any // uint64, int64, float64, bool, string, []string or []int64
	tensors map[string]tensor
	size    int64 // bytes of all tensors
}

// tensor is a matrix of rows x cols (1-D tensors have one row) as stored.
type tensor struct {
	name string
	kind blockKind
	dims int
	rows int
	cols int
	raw  []byte
}

// parseGGUF reads a GGUF version 3 file (little endian).
func parseGGUF(b []byte) (*ggufFile, error) {
	r := &byteReader{b: b}
	if magic := r.take(4); string(magic) != "GGUF" {
		return nil, fmt.Errorf("%w: magic is %q, want \"GGUF\"", errGGUF, magic)
	}
	if v := r.u32(); v != 3 {
		return nil, fmt.Errorf("%w: version %d, want 3", errGGUF, v)
	}
	tensors, pairs := r.u64(), r.u64()
	f := &ggufFile{meta: map[string]any{}, tensors: map[string]tensor{}}
	for i := uint64(0); i < pairs && r.err == nil; i++ {
		f.readPair(r)
	}
	infos := f.readInfos(r, tensors)
	if r.err != nil {
		return nil, r.err
	}
	return f, f.placeTensors(b, r.off, infos)
}

func (f *ggufFile) readPair(r *byteReader) {
	key := r.str()
	value := r.value(r.u32())
	if _, dup := f.meta[key]; dup {
		r.fail("metadata key %q occurs twice", key)
	}
	f.meta[key] = value
}

type tensorInfo struct {
	tensor
	offset uint64
	bytes  uint64
}

func (f *ggufFile) readInfos(r *byteReader, n uint64) []tensorInfo {
	const smallest = 8 + 4 + 8 + 4 + 8
	if n > uint64(r.left())/smallest {
		r.fail("%d tensors declared in %d bytes", n, r.left())
		return nil
	}
	infos := make([]tensorInfo, 0, n)
	for i := uint64(0); i < n && r.err == nil; i++ {
		infos = append(infos, readInfo(r))
	}
	return infos
}

func readInfo(r *byteReader) (t tensorInfo) {
	t.name = r.str()
	dims := r.u32()
	if dims < 1 || dims > maxTensorDims {
		r.fail("tensor %q has %d dimensions, want 1 to %d", t.name, dims, maxTensorDims)
		return t
	}
	t.dims = int(dims)
	shape := [maxTensorDims]uint64{1, 1, 1, 1}
	for i := range t.dims {
		shape[i] = r.u64()
	}
	t.kind = blockKind(r.u32())
	t.offset = r.u64()
	if r.err == nil {
		r.keep(t.measure(shape))
	}
	return t
}

// measure fills in rows, cols and the byte length; nothing may overflow.
func (t *tensorInfo) measure(shape [maxTensorDims]uint64) error {
	f, ok := blockFormats[t.kind]
	if !ok {
		return fmt.Errorf("%w: tensor %q has type %d; this engine reads F32, F16, Q8_0, Q4_0 and Q2_K", errGGUF, t.name, t.kind)
	}
	cols, rows := shape[0], uint64(1)
	for _, n := range shape[1:] {
		hi, lo := bits.Mul64(rows, n)
		if hi != 0 {
			rows = math.MaxUint64
			break
		}
		rows = lo
	}
	if cols == 0 || rows == 0 || cols%uint64(f.values) != 0 || cols > math.MaxInt32 || rows > math.MaxInt32 {
		return fmt.Errorf("%w: tensor %q has shape %v, rows must be whole blocks of %d", errGGUF, t.name, shape[:t.dims], f.values)
	}
	t.cols, t.rows = int(cols), int(rows)
	t.bytes = cols / uint64(f.values) * uint64(f.bytes) * rows // below 2^31 * 4 * 2^31: cannot wrap
	return nil
}

func (f *ggufFile) placeTensors(b []byte, header int, infos []tensorInfo) error {
	align, err := f.alignment()
	if err != nil {
		return err
	}
	start := (uint64(header) + align - 1) / align * align
	for _, t := range infos {
		size := uint64(len(b))
		if t.offset%align != 0 || t.offset > size || t.bytes > size || start+t.offset+t.bytes > size {
			return fmt.Errorf("%w: tensor %q wants %d bytes at offset %d, the file has %d", errGGUF, t.name, t.bytes, t.offset, size)
		}
		if _, dup := f.tensors[t.name]; dup {
			return fmt.Errorf("%w: tensor %q occurs twice", errGGUF, t.name)
		}
		at := start + t.offset
		t.raw = b[at : at+t.bytes : at+t.bytes]
		f.tensors[t.name] = t.tensor
		f.size += int64(t.bytes)
	}
	return nil
}

func (f *ggufFile) alignment() (uint64, error) {
	v, ok := f.meta["general.alignment"]
	if !ok {
		return 32, nil
	}
	a, ok := v.(uint64)
	if !ok || a == 0 || a > maxAlignment || a&(a-1) != 0 {
		return 0, fmt.Errorf("%w: general.alignment is %v, want a power of two up to %d", errGGUF, v, maxAlignment)
	}
	return a, nil
}
