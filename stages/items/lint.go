package items

import (
	"errors"
	"fmt"
	"io"
)

// MaxProblems is how many problems Lint lists before it only counts.
const MaxProblems = 20

// Lint reads the whole file and returns its problems in order, at most
// MaxProblems of them and then one that counts the rest. check is called with
// every item that could be read and says what its scorers find wrong; it may
// be nil.
func Lint(r io.Reader, check func(Item) []error) []error { return LintNamed(DefaultName, r, check) }

// LintNamed is Lint for a file whose name is known.
func LintNamed(name string, r io.Reader, check func(Item) []error) []error {
	s := newScanner(name, r)
	var p problems
	for {
		it, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			p.add(err)
			if errors.Is(err, errRead) {
				break
			}
			continue
		}
		if check == nil {
			continue
		}
		for _, err := range check(it) {
			p.add(&Error{name, s.lines.n, fmt.Errorf("item %s: %w", it.ID, err)})
		}
	}
	if len(s.seen) == 0 && p.total == 0 {
		p.add(&Error{name, 1, errNoItems})
	}
	return p.list()
}

type problems struct {
	listed []error
	total  int
}

func (p *problems) add(err error) {
	p.total++
	if len(p.listed) < MaxProblems {
		p.listed = append(p.listed, err)
	}
}

func (p *problems) list() []error {
	if more := p.total - len(p.listed); more > 0 {
		return append(p.listed, fmt.Errorf("and %d more", more))
	}
	return p.listed
}
