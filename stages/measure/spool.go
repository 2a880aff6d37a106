package measure

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

// spoolLimit is how much a spool keeps in memory.
const spoolLimit = 8 << 20

// spool keeps lines until what stands above them is known: the header of a
// cell holds its wall time. What does not fit in memory goes to a temporary
// file, so that a million rows need no more memory than a thousand.
type spool struct {
	limit int
	buf   bytes.Buffer
	file  *os.File
	out   *bufio.Writer
	err   error
}

func newSpool() *spool { return &spool{limit: spoolLimit} }

// put adds a line; after an error it does nothing.
func (s *spool) put(line []byte) {
	if s.err == nil && s.file == nil && s.buf.Len()+len(line) >= s.limit {
		s.err = s.spill()
	}
	if s.err != nil {
		return
	}
	if s.file == nil {
		s.buf.Write(line)
		s.buf.WriteByte('\n')
		return
	}
	if _, s.err = s.out.Write(line); s.err == nil {
		s.err = s.out.WriteByte('\n')
	}
}

// spill moves what is in memory to a file that has no name any more, so that
// it is gone with the process.
func (s *spool) spill() error {
	f, err := os.CreateTemp("", "cupel-rows-*")
	if err != nil {
		return err
	}
	s.file, s.out = f, bufio.NewWriterSize(f, 1<<20)
	_ = os.Remove(f.Name()) // where an open file cannot be removed, close does it
	_, err = s.out.Write(s.buf.Bytes())
	s.buf = bytes.Buffer{}
	return err
}

// copy writes all lines to w.
func (s *spool) copy(w io.Writer) error {
	if s.err != nil || s.file == nil {
		if s.err == nil {
			_, s.err = w.Write(s.buf.Bytes())
		}
		return s.err
	}
	if s.err = s.out.Flush(); s.err == nil {
		_, s.err = s.file.Seek(0, io.SeekStart)
	}
	if s.err == nil {
		_, s.err = io.Copy(w, s.file)
	}
	return s.err
}

// close drops everything.
func (s *spool) close() {
	s.buf = bytes.Buffer{}
	if s.file != nil {
		_ = s.file.Close() // nothing in it is needed any more
		_ = os.Remove(s.file.Name())
	}
}
