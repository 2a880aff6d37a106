package store

import (
	"bufio"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Limits of the frames; docs/format.md promises them to readers.
const (
	writeWindow = 4 << 20
	readWindow  = 8 << 20
)

// One goroutine per coder: steps run in parallel already. The frame's own
// checksum is left out because the name is a better one. Empty content gets a
// frame too, so that an empty file is always damage.
var encoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(writeWindow),
		zstd.WithEncoderCRC(false),
		zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // constant options
	}
	return e
}}

var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(readWindow))
	if err != nil {
		panic(err) // constant options
	}
	return &decoder{zstd: d, buf: bufio.NewReaderSize(nil, 64<<10)}
}}

func getEncoder(w io.Writer) *zstd.Encoder {
	e := encoders.Get().(*zstd.Encoder)
	e.Reset(w)
	return e
}

func putEncoder(e *zstd.Encoder) {
	e.Reset(nil)
	encoders.Put(e)
}

// decoder is a zstd decoder with the buffer it reads through.
type decoder struct {
	zstd *zstd.Decoder
	buf  *bufio.Reader
}

func getDecoder(r io.Reader) (*decoder, error) {
	d := decoders.Get().(*decoder)
	d.buf.Reset(r)
	return d, d.zstd.Reset(d.buf)
}

func putDecoder(d *decoder) {
	d.buf.Reset(nil)
	_ = d.zstd.Reset(nil) // nil only drops the reader
	decoders.Put(d)
}
