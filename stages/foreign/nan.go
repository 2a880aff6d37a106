package foreign

import (
	"bufio"
	"io"
)

// nanReader replaces bare NaN, Infinity and -Infinity by null in a JSON
// document that is too large to be held.
type nanReader struct {
	r       *bufio.Reader
	pending string
	inside  bool // a string
	escaped bool
	found   int
}

func newNaNReader(r io.Reader) *nanReader { return &nanReader{r: bufio.NewReaderSize(r, 64<<10)} }

func (n *nanReader) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i++ {
		c, err := n.next()
		if err != nil {
			return i, err
		}
		p[i] = c
		if n.r.Buffered() == 0 && n.pending == "" {
			return i + 1, nil // what comes next may block
		}
	}
	return len(p), nil
}

func (n *nanReader) next() (byte, error) {
	if n.pending != "" {
		c := n.pending[0]
		n.pending = n.pending[1:]
		return c, nil
	}
	c, err := n.r.ReadByte()
	if err != nil {
		return 0, err
	}
	switch {
	case n.escaped:
		n.escaped = false
	case n.inside && c == '\\':
		n.escaped = true
	case c == '"':
		n.inside = !n.inside
	case !n.inside && (c == 'N' || c == 'I' || c == '-'):
		return n.word(c), nil
	}
	return c, nil
}

func (n *nanReader) word(c byte) byte {
	rest, _ := n.r.Peek(len("-Infinity") - 1)
	width := bare(append([]byte{c}, rest...))
	if width == 0 {
		return c
	}
	n.r.Discard(width - 1)
	n.found++
	n.pending = "ull"
	return 'n'
}
