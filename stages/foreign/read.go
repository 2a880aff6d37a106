package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// errEmpty is a file in which nothing was stored.
var errEmpty = errors.New("there is no answer in the file")

// ErrNoOutputs is a file of a known tool that was told to keep no outputs.
var ErrNoOutputs = errors.New("the file holds no outputs")

// Read tells the format of a stored file by its content and calls f with each
// answer in file order. name stands in errors. A problem of a line is an
// *items.Error; an error of f comes back as it is.
func Read(name string, r io.ReaderAt, size int64, o Options, f func(*Row) error) (Report, error) {
	format, err := Detect(r, size)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", name, err)
	}
	c := newCollector(name, format, o, f)
	src := io.NewSectionReader(r, 0, size)
	if format.archive {
		err = c.archive(src, size)
	} else if format.walk != nil {
		err = c.document(src, format)
	} else {
		err = c.lines(src, format)
	}
	switch {
	case err == nil && c.rows == 0:
		err = fmt.Errorf("%s: %w", name, cmp.Or(c.format.empty, errEmpty))
	case err == nil && c.rep.Answers == 0:
		err = fmt.Errorf("%s: no row is of the filter %s; there are %s", name, o.Filter, strings.Join(c.filterNames(), ", "))
	}
	return c.report(), err
}

// parsed is what one worker made of a block, an element or an archive entry.
type parsed struct {
	rows []Row
	err  error
}

// collector checks what only the whole file shows, in file order.
type collector struct {
	name   string
	format Format
	opt    Options
	emit   func(*Row) error
	limits limits

	rows       int
	rep        Report
	candidates map[string]bool
	skipped    map[string]int
	filters    map[string]*filtered // lm-eval: by id
	unused     map[string]int
	notJSON    int
	asJSON     int
	cut        int
	more       int
	repeated   int // answers whose repeat only their order tells
}

func newCollector(name string, format Format, o Options, f func(*Row) error) *collector {
	return &collector{name: name, format: format, opt: o, emit: f, limits: archiveLimits, rep: Report{Format: format.Name},
		candidates: map[string]bool{}, skipped: map[string]int{}, filters: map[string]*filtered{}, unused: map[string]int{}}
}

// worker joins the parser of a format with the caller's own work.
func worker[I any](c *collector, parse func(I) parsed) func() func(I) parsed {
	return func() func(I) parsed {
		work := func(*Row) {}
		if c.opt.Work != nil {
			work = c.opt.Work()
		}
		return func(in I) parsed {
			p := parse(in)
			for i := range p.rows {
				work(&p.rows[i])
			}
			return p
		}
	}
}

func (c *collector) take(p parsed) error {
	for i := range p.rows {
		if err := c.row(&p.rows[i]); err != nil {
			return err
		}
	}
	return p.err
}

// lines reads a format that has a row on each line.
func (c *collector) lines(r io.Reader, format Format) error {
	parse := func(b Block) (p parsed) {
		p.rows = make([]Row, 0, b.Lines())
		p.err = b.each(func(n int, line []byte) error {
			rows, err := format.parse(line, c.opt)
			if err != nil {
				return &items.Error{Name: c.name, Line: n, Err: err}
			}
			p.rows = append(p.rows, rows...)
			return nil
		})
		return p
	}
	produce := func(yield func(Block) error) error {
		err := Blocks(r, yield)
		if err != nil && !errors.Is(err, errStopped) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		return nil
	}
	return Ordered(c.opt.Workers, produce, worker(c, parse), c.take)
}

// element is one value of a document with its number, from 1.
type element struct {
	n     int
	value []byte
}

// document reads a format that is one JSON document with a list in it.
func (c *collector) document(r io.Reader, format Format) error {
	parse := func(e element) parsed {
		rows, err := format.parse(e.value, c.opt)
		if err != nil {
			err = fmt.Errorf("%s: %s %d: %w", c.name, format.element, e.n, err)
		}
		return parsed{rows, err}
	}
	produce := func(yield func(element) error) error {
		n := 0
		version, err := format.walk(r, func(value []byte) error {
			n++
			return yield(element{n, bytes.Clone(value)})
		})
		c.rep.Version = version
		if err != nil && !errors.Is(err, errStopped) {
			return fmt.Errorf("%s: %w", c.name, wording(err))
		}
		return nil
	}
	return Ordered(c.opt.Workers, produce, worker(c, parse), c.take)
}

// row checks one row and hands it on.
func (c *collector) row(r *Row) error {
	c.candidates[r.Candidate] = true
	switch {
	case c.opt.Candidate == "" && len(c.candidates) > 1:
		return step.WithHint(fmt.Errorf("%s holds the answers of several: %s, …", c.name, strings.Join(slices.Sorted(maps.Keys(c.candidates)), ", ")),
			"choose one with --candidate: answers of two are not repeats of one")
	case c.opt.Candidate != "" && r.Candidate != c.opt.Candidate:
		c.skipped[r.Candidate]++
		return nil
	}
	if c.rep.IDFrom == "" {
		c.rep.IDFrom = r.idFrom
	}
	if r.idFrom != c.rep.IDFrom {
		return step.WithHint(fmt.Errorf("%s: the first answer has its id in %s and answer %d in %s", c.name, c.rep.IDFrom, c.rows+1, r.idFrom),
			"name one field that every row has with --id")
	}
	if err := c.checkFilter(r); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.count(r)
	return c.emit(r)
}

func (c *collector) count(r *Row) {
	c.rows++
	for _, name := range r.unused {
		c.unused[name]++
	}
	c.more += r.more
	if r.notJSON {
		c.notJSON++
	}
	if r.OnlyTheirs {
		return
	}
	c.rep.Answers++
	if r.Repeat == RepeatUnknown {
		c.repeated++
	}
	if r.asJSON {
		c.asJSON++
	}
	if r.cut {
		c.cut++
	}
	if r.Failure != nil {
		return
	}
	if r.Finish == "" {
		c.rep.NoFinish++
	}
	if r.Usage == nil {
		c.rep.NoUsage++
	}
}

// filtered is what an lm-eval file has said of one id.
type filtered struct {
	sum   uint64
	names []string
}

func (c *collector) filterNames() []string {
	names := map[string]bool{}
	for _, f := range c.filters {
		for _, name := range f.names {
			names[name] = true
		}
	}
	return sortedKeys(names)
}

// checkFilter tells a further filter's row from a second answer: lm-eval
// writes the same answer again for each of its filters.
func (c *collector) checkFilter(r *Row) error {
	if r.filter == "" {
		return nil
	}
	key := fmt.Sprintf("%s\x00%d", r.ID, r.Repeat)
	seen, ok := c.filters[key]
	switch {
	case !ok:
		c.filters[key] = &filtered{r.sum, []string{r.filter}}
		return nil
	case slices.Contains(seen.names, r.filter):
		return fmt.Errorf("the id %q stands twice under the filter %s", r.ID, r.filter)
	case seen.sum != r.sum:
		return fmt.Errorf("the id %q has other responses under the filter %s than under %s", r.ID, r.filter, seen.names[0])
	}
	seen.names = append(seen.names, r.filter)
	r.OnlyTheirs = r.OnlyTheirs || c.opt.Filter == ""
	return nil
}
