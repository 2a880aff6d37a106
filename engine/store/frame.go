package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
)

// A frame is one line of a journal segment:
//
//	<crc: 8 hex> SP <length: 8 hex> SP <line> LF
//
// The CRC-32C covers, besides length and line, the key, the segment's number
// and the frame's offset. A line may hold any bytes, even a copy of a frame:
// such a copy is at the wrong place and so is never taken for a line when the
// reader looks for the next frame after damage.
const (
	frameHead = 8 + 1 + 8 + 1
	frameRoom = frameHead + 1 // all but the line
)

// MaxLine is the length of the longest journal line in bytes.
const MaxLine = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segmentID is the place of a segment, which every frame in it is bound to.
type segmentID struct {
	key step.Key
	n   int
}

func (id segmentID) crc(offset int64, line []byte) uint32 {
	var at [20]byte
	binary.BigEndian.PutUint64(at[:], uint64(id.n))
	binary.BigEndian.PutUint64(at[8:], uint64(offset))
	binary.BigEndian.PutUint32(at[16:], uint32(len(line)))
	c := crc32.Update(0, castagnoli, id.key[:])
	c = crc32.Update(c, castagnoli, at[:])
	return crc32.Update(c, castagnoli, line)
}

// appendFrame appends to b the frame of line at offset.
func (id segmentID) appendFrame(b []byte, offset int64, line []byte) []byte {
	var x [4]byte
	binary.BigEndian.PutUint32(x[:], id.crc(offset, line))
	b = append(hex.AppendEncode(b, x[:]), ' ')
	binary.BigEndian.PutUint32(x[:], uint32(len(line)))
	b = append(hex.AppendEncode(b, x[:]), ' ')
	return append(append(b, line...), '\n')
}

// readFrame reads the frame at offset. ok is false when there is no whole and
// sound frame.
func (id segmentID) readFrame(r io.ReaderAt, offset, size int64) (line []byte, ok bool, err error) {
	if size-offset < frameRoom {
		return nil, false, nil
	}
	var head [frameHead]byte
	if _, err := r.ReadAt(head[:], offset); err != nil {
		return nil, false, err
	}
	crc, okCRC := parseHex32(head[:8])
	n, okN := parseHex32(head[9:17])
	if !okCRC || !okN || head[8] != ' ' || head[17] != ' ' || n > MaxLine || int64(n) > size-offset-frameRoom {
		return nil, false, nil
	}
	line = make([]byte, n+1)
	if _, err := r.ReadAt(line, offset+frameHead); err != nil {
		return nil, false, err
	}
	if line[n] != '\n' || id.crc(offset, line[:n]) != crc {
		return nil, false, nil
	}
	return line[:n:n], true, nil
}

// parseHex32 reads eight lower-case hexadecimal digits.
func parseHex32(b []byte) (uint32, bool) {
	var x [4]byte
	if _, err := hex.Decode(x[:], b); err != nil || bytes.ContainsAny(b, "ABCDEF") {
		return 0, false
	}
	return binary.BigEndian.Uint32(x[:]), true
}

// scan calls f with every sound line of a segment in order, and returns how
// many damaged stretches it had to step over: a torn end is one.
func (id segmentID) scan(r io.ReaderAt, size int64, f func(line []byte) error) (lost int, err error) {
	inDamage := false
	for offset := int64(0); offset < size; {
		line, ok, err := id.readFrame(r, offset, size)
		if err != nil {
			return lost, err
		}
		if ok {
			inDamage = false
			offset += frameRoom + int64(len(line))
			if err := f(line); err != nil {
				return lost, err
			}
			continue
		}
		if !inDamage {
			inDamage, lost = true, lost+1
		}
		if offset, err = afterNewline(r, offset, size); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// afterNewline returns the offset behind the next LF, or size.
func afterNewline(r io.ReaderAt, offset, size int64) (int64, error) {
	var buf [4096]byte
	for offset < size {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-offset)], offset)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		if err != nil && err != io.EOF || n == 0 {
			return size, err
		}
		offset += int64(n)
	}
	return size, nil
}
