package build

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// batchBytes is how much one worker gets at a time.
const batchBytes = 256 << 10

// spool is a temporary file of records. It is readable by its owner alone and
// has no name while it is used, where the system allows that: what stands in it
// has not been scrubbed.
type spool struct {
	f    *os.File
	w    *bufio.Writer
	size int64
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, "cupel-items-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	_ = os.Remove(f.Name()) // not possible everywhere; close tries again
	return &spool{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) close() {
	s.f.Close()
	_ = os.Remove(s.f.Name())
}

// append writes parts as one record and returns where it begins.
func (s *spool) append(parts ...[]byte) (int64, error) {
	at := s.size
	var head [4]byte
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	binary.LittleEndian.PutUint32(head[:], uint32(n))
	if _, err := s.w.Write(head[:]); err != nil {
		return 0, fmt.Errorf("temporary file: %w", err)
	}
	for _, p := range parts {
		if _, err := s.w.Write(p); err != nil {
			return 0, fmt.Errorf("temporary file: %w", err)
		}
	}
	s.size += int64(n + len(head))
	return at, nil
}

// rewind ends writing and reads from the start.
func (s *spool) rewind() (*records, error) {
	if err := s.w.Flush(); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return &records{r: bufio.NewReaderSize(s.f, 256<<10)}, nil
}

// at reads one record after rewind, into buf if it is large enough.
func (s *spool) at(offset int64, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := s.f.ReadAt(head[:], offset); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if cap(buf) < n {
		buf = make([]byte, n+n/4)
	}
	if _, err := s.f.ReadAt(buf[:n], offset+4); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return buf[:n], nil
}

// records reads a spool from its start.
type records struct {
	r *bufio.Reader
	n int // records read or left out
}

// batch is a run of records with the number of each.
type batch struct {
	buf  []byte
	ends []int
	nums []int
}

func (b *batch) record(i int) []byte {
	lo := 0
	if i > 0 {
		lo = b.ends[i-1]
	}
	return b.buf[lo:b.ends[i]]
}

// next returns the next records that keep takes, io.EOF when none is left.
func (rs *records) next(keep func(n int) bool) (*batch, error) {
	b := &batch{}
	for len(b.buf) < batchBytes {
		var head [4]byte
		if _, err := io.ReadFull(rs.r, head[:]); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		n := int(binary.LittleEndian.Uint32(head[:]))
		rs.n++
		if !keep(rs.n - 1) {
			if _, err := rs.r.Discard(n); err != nil {
				return nil, fmt.Errorf("temporary file: %w", err)
			}
			continue
		}
		if b.buf == nil {
			b.buf = make([]byte, 0, batchBytes+n)
		}
		lo := len(b.buf)
		b.buf = append(b.buf, make([]byte, n)...)
		if _, err := io.ReadFull(rs.r, b.buf[lo:]); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		b.ends = append(b.ends, len(b.buf))
		b.nums = append(b.nums, rs.n-1)
	}
	if len(b.ends) == 0 {
		return nil, io.EOF
	}
	return b, nil
}
