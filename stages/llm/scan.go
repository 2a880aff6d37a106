package llm

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scan walks over one JSON document without building anything. It knows less
// than the strict decoder: at the first thing that it does not expect, bad
// becomes true and stays so, and nothing it returned may be used. What it does
// accept is valid JSON with unique names and valid UTF-8.
type scan struct {
	b       []byte
	i       int
	bad     bool
	scratch []byte // text of strings with escapes
}

// refuse makes the document bad if it is unexpected.
func (s *scan) refuse(unexpected bool) {
	if unexpected {
		s.bad = true
	}
}

// peek skips white space and returns the next byte, 0 = the end.
func (s *scan) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take moves over c, which must be next.
func (s *scan) take(c byte) {
	if s.peek() != c {
		s.bad = true
		return
	}
	s.i++
}

// more reports whether a further member or element follows: the first one when
// first is true, else one after a comma. It moves over the closing bracket.
func (s *scan) more(first bool, closing byte) bool {
	switch c := s.peek(); {
	case s.bad:
		return false
	case c == closing:
		s.i++
		return false
	case first:
		return true
	case c == ',':
		s.i++
		return true
	}
	s.bad = true
	return false
}

// name reads a member's name and its colon, as a set of one field. A name that
// fields does not know, or that is in seen already, is bad.
func (s *scan) name(fields func([]byte) fieldSet, seen *fieldSet) fieldSet {
	f := fields(s.plain())
	if f == 0 || *seen&f != 0 {
		s.bad = true
	}
	*seen |= f
	s.take(':')
	return f
}

// plain reads a string without escapes and control characters in it.
func (s *scan) plain() []byte {
	raw, escaped := s.quoted()
	if escaped || len(raw) < 2 {
		s.bad = true
		return nil
	}
	return raw[1 : len(raw)-1]
}

// quoted reads a string with its quotes, checked but for its escapes.
func (s *scan) quoted() (raw []byte, escaped bool) {
	if s.take('"'); s.bad {
		return nil, false
	}
	start, high := s.i-1, byte(0)
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			raw = s.b[start:s.i]
			if high >= utf8.RuneSelf && !utf8.Valid(raw) {
				s.bad = true
			}
			return raw, escaped
		case c == '\\':
			escaped = true
			s.i++ // whatever is escaped is not the end
		case c < ' ':
			s.bad = true
			return nil, false
		default:
			high |= c
		}
	}
	s.bad = true
	return nil, false
}

// text reads a string, or null, which is as good as an empty one.
func (s *scan) text() []byte {
	if s.peek() == 'n' {
		s.literal("null")
		return nil
	}
	raw, escaped := s.quoted()
	if s.bad {
		return nil
	}
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	from := len(s.scratch)
	var err error
	if s.scratch, err = jsontext.AppendUnquote(s.scratch, raw); err != nil {
		s.bad = true
	}
	return s.scratch[from:]
}

// part is text with its place; a null has none.
func (s *scan) part() part {
	if s.peek() == 'n' {
		s.literal("null")
		return part{}
	}
	from := s.i + 1
	text := s.text()
	return part{text: text, from: from, to: s.i - 1}
}

// literal moves over a word.
func (s *scan) literal(word string) {
	s.peek()
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		s.bad = true
		return
	}
	s.i += len(word)
}

// skip moves over a value that does not matter: a string, a whole number,
// true, false or null.
func (s *scan) skip() {
	switch c := s.peek(); c {
	case '"':
		s.text()
	case 'n':
		s.literal("null")
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	default:
		s.number()
	}
}

// number moves over a whole number. One with a superfluous 0 before it ends
// after that, where nothing fits that could follow.
func (s *scan) number() {
	if s.peek() == '-' {
		s.i++
	}
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' && (s.i == start || s.b[start] != '0') {
		s.i++
	}
	s.refuse(s.i == start)
}

// index moves over a whole number from 0 that fits into any integer type.
func (s *scan) index() {
	s.refuse(s.peek() == '-')
	start := s.i
	s.number()
	s.refuse(s.i-start > 9)
}

// end reports whether the document was accepted and is over.
func (s *scan) end() bool { return s.peek() == 0 && s.i == len(s.b) && !s.bad }
