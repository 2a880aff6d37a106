package build

import (
	"bufio"
	"bytes"
	"io"
)

// lines reads lines of bounded length and goes on behind one that is too long.
type lines struct {
	r    *bufio.Reader
	most int
	buf  []byte
	n    int // number of the last line, from 1
}

func newLines(r io.Reader, most int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 128<<10), most: most}
}

// next returns the next line without its end, valid until the next call; long
// says that there was more than the limit and the line is not complete. The
// error is io.EOF after the last line, or the reader's.
func (l *lines) next() (line []byte, long bool, err error) {
	l.buf = l.buf[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		if room := l.most + 2 - len(l.buf); room > 0 { // with \r\n
			l.buf = append(l.buf, part[:min(room, len(part))]...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || size == 0) {
			return nil, false, err
		}
		break
	}
	l.n++
	line = bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // what editors put there
	}
	return line, size > l.most+2 || len(line) > l.most, nil
}
