package items

import (
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
)

// DefaultName stands in errors for a file whose name is not known.
const DefaultName = "items.jsonl"

var errNoItems = errors.New("there are no items in the file")

// Read calls f with each item in file order and stops at the first problem. A
// problem of the file is an *Error that names its line; an error of f comes
// back as it is. A file without items is an error.
func Read(r io.Reader, f func(Item) error) error { return ReadNamed(DefaultName, r, f) }

// ReadNamed is Read for a file whose name is known.
func ReadNamed(name string, r io.Reader, f func(Item) error) error {
	s := newScanner(name, r)
	for {
		it, err := s.next()
		switch {
		case err == io.EOF && len(s.seen) == 0:
			return &Error{name, 1, errNoItems}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := f(it); err != nil {
			return err
		}
	}
}

// scanner yields items with their lines; it can go on after a bad line.
type scanner struct {
	name  string
	lines *lines
	seen  map[string]int // id -> line
}

func newScanner(name string, r io.Reader) *scanner {
	return &scanner{name: name, lines: newLines(r, MaxLine), seen: map[string]int{}}
}

func (s *scanner) next() (Item, error) {
	line, err := s.lines.next()
	if err == io.EOF {
		return Item{}, err
	}
	var it Item
	if err == nil {
		it, err = s.parse(line)
	}
	if err != nil {
		return it, &Error{s.name, s.lines.n, err}
	}
	return it, nil
}

func (s *scanner) parse(line []byte) (Item, error) {
	it, err := decode(line)
	if err != nil {
		return it, err
	}
	if first, dup := s.seen[it.ID]; dup {
		return it, step.WithHint(fmt.Errorf("the id %q stands on line %d already", it.ID, first),
			"items are paired by id, so each needs its own")
	}
	s.seen[it.ID] = s.lines.n
	return it, nil
}
