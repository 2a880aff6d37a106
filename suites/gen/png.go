package gen

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"math/bits"
)

// canvasSize is the width and height of a picture in pixels.
const canvasSize = 224

// canvas is a picture: one colour number for each pixel.
type canvas [canvasSize][canvasSize]uint8

// png writes a picture. It has an encoder of its own, since that of the standard
// library may compress otherwise in its next version, and other bytes would be
// another suite. Rows are written as differences to the row above, which are
// nearly always 0, and only runs are compressed.
func (c *canvas) png() []byte {
	var rows []byte
	var above [canvasSize]uint8
	for _, row := range c {
		rows = append(rows, 2) // the filter "up"
		for x, v := range row {
			rows = append(rows, v-above[x])
		}
		above = row
	}
	var out bytes.Buffer
	out.WriteString("\x89PNG\r\n\x1a\n")
	head := binary.BigEndian.AppendUint32(nil, canvasSize)
	head = binary.BigEndian.AppendUint32(head, canvasSize)
	chunk(&out, "IHDR", append(head, 8, 3, 0, 0, 0)) // eight bits, a palette
	var colors []byte
	for _, p := range palette {
		colors = append(colors, p.rgb[:]...)
	}
	chunk(&out, "PLTE", colors)
	chunk(&out, "IDAT", zlibRuns(rows))
	chunk(&out, "IEND", nil)
	return out.Bytes()
}

func chunk(out *bytes.Buffer, kind string, content []byte) {
	body := append([]byte(kind), content...)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(content))))
	out.Write(body)
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// zlibRuns compresses runs of one byte, in one block with the fixed codes of
// RFC 1951.
func zlibRuns(b []byte) []byte {
	w := &bitWriter{out: []byte{0x78, 0x01}}
	w.bits(1, 1) // the last block
	w.bits(1, 2) // fixed codes
	for i := 0; i < len(b); {
		n := 1
		for i+n < len(b) && b[i+n] == b[i] {
			n++
		}
		w.literal(b[i])
		for left := n - 1; left > 0; {
			left -= w.again(b[i], left)
		}
		i += n
	}
	w.code(0, 7) // the end
	w.flush()
	return binary.BigEndian.AppendUint32(w.out, adler32.Checksum(b))
}

type bitWriter struct {
	out  []byte
	held uint64
	n    uint
}

// bits writes the lowest n bits of v, the lowest first.
func (w *bitWriter) bits(v uint64, n uint) {
	w.held |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.held))
		w.held >>= 8
	}
}

// code writes a Huffman code of n bits, the highest first.
func (w *bitWriter) code(v uint16, n uint) { w.bits(uint64(bits.Reverse16(v)>>(16-n)), n) }

func (w *bitWriter) flush() {
	if w.n > 0 {
		w.bits(0, 8-w.n)
	}
}

func (w *bitWriter) literal(b byte) {
	if b < 144 {
		w.code(0x30+uint16(b), 8)
	} else {
		w.code(0x190+uint16(b)-144, 9)
	}
}

// again writes the byte before once more, up to most times, and returns how
// often: 258 times, 3 to 10 times, or as a literal.
func (w *bitWriter) again(b byte, most int) int {
	n := min(most, 10)
	switch {
	case most >= 258:
		n = 258
		w.code(0xc0+5, 8)
	case most >= 3:
		w.code(uint16(n-2), 7)
	default:
		w.literal(b)
		return 1
	}
	w.code(0, 5) // at distance 1
	return n
}
