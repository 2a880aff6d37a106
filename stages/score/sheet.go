package score

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// Sheet scores answers that no campaign generated, as a score step does: the
// same scorers, tallies, reasons and summary. What a campaign knows beforehand,
// how many answers an item must have, is the most that any item has; where rows
// carry no number, it is what most items have, so that a row that stands twice
// costs its own item the value and no other.
//
// Items are added first. Then Markers, one for each goroutine, score answers,
// and Add adds them up, in the order of the file.
type Sheet struct {
	book   *book
	params stepParams
	fixed  items.Scorers
	runner Runner
	seen   map[string]map[[2]int32]bool // sample and repeat, of items with several answers
	most   int
	counts map[int]int // answers -> items that have so many
	bare   bool        // an answer came without a number

	compilers []*Compiler

	// Unknown counts answers to ids that are no item's, UnknownIDs lists the
	// first hundred of them.
	Unknown    int
	UnknownIDs []string
}

// SheetOptions say what is scored how.
type SheetOptions struct {
	Scorers  map[string]map[string]any // scorer -> parameters over the items' own
	Replace  items.Scorers             // used in place of the scorers that items name; nil = the items' own
	Stratify string                    // label of the strata
	Runner   Runner                    // for scorers that run programs; nil = their answers have no value
}

// NewSheet returns a sheet without items. An unknown scorer or parameter is an
// error.
func NewSheet(o SheetOptions) (*Sheet, error) {
	p := stepParams{Scorers: o.Scorers, Stratify: o.Stratify, Answers: 1}
	if o.Replace != nil {
		p.Scorers = named(o.Replace) // who names a scorer here allows it to run programs, as a campaign does
	}
	c, err := NewCompiler(p.Scorers)
	if err != nil {
		return nil, err
	}
	if errs := checkOverrides(c); len(errs) > 0 {
		return nil, errs[0]
	}
	return &Sheet{book: newBook(p, c), params: p, fixed: o.Replace, runner: o.Runner,
		seen: map[string]map[[2]int32]bool{}, counts: map[int]int{}}, nil
}

func named(refs items.Scorers) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, ref := range refs {
		out[ref.Name] = map[string]any{}
		for name, v := range ref.Params {
			out[ref.Name][name] = v
		}
	}
	return out
}

// AddItem adds an item; an id that is there already is an error.
func (s *Sheet) AddItem(it items.Item) error {
	if _, there := s.book.tallies[it.ID]; there {
		return step.WithHint(fmt.Errorf("the id %q stands twice", it.ID), "items are paired by id, so each needs its own")
	}
	if s.fixed != nil {
		it.Scorer = s.fixed
	}
	s.book.enter(it)
	return nil
}

// Items is how many there are.
func (s *Sheet) Items() int { return len(s.book.tallies) }

// SomeID returns the id of the first item in order, for messages.
func (s *Sheet) SomeID() string {
	for _, id := range keys(s.book.tallies) {
		return id
	}
	return ""
}

// Unused returns the scorers that have parameters and that no item names.
func (s *Sheet) Unused() []string {
	used := map[string]bool{}
	for _, t := range s.book.tallies {
		for _, ref := range t.item.Scorer {
			used[ref.Name] = true
		}
	}
	var out []string
	for _, name := range keys(s.params.Scorers) {
		if !used[name] {
			out = append(out, name)
		}
	}
	return out
}

// Marker returns a function that scores answers; each goroutine needs its own,
// and no item may be added while one is in use. An answer to an unknown id has
// no score. Programs that scorers started end with ctx or with the sheet's
// Close.
func (s *Sheet) Marker(ctx context.Context) func(*evidence.ResponseRow) Score {
	c, err := NewCompiler(s.params.Scorers)
	if err != nil { // NewSheet made the same one
		return func(*evidence.ResponseRow) Score { return Score{Reason: ScorerError + err.Error()} }
	}
	c.Use(ctx, s.runner)
	s.compilers = append(s.compilers, c)
	m := marker{compiler: c}
	return func(row *evidence.ResponseRow) Score {
		t, ok := s.book.tallies[row.ID]
		if !ok {
			return Score{}
		}
		return m.score(t, row)
	}
}

// Close ends the programs that scorers have started.
func (s *Sheet) Close() error {
	var errs []error
	for _, c := range s.compilers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Add adds a scored answer to its item and reports whether there is one. A
// repeat below 0 is numbered in the order of the calls. An answer that stands
// twice is an error.
func (s *Sheet) Add(row *evidence.ResponseRow, sc Score) (bool, error) {
	t, ok := s.book.tallies[row.ID]
	if !ok {
		s.Unknown++
		if len(s.UnknownIDs) < 100 {
			s.UnknownIDs = append(s.UnknownIDs, row.ID)
		}
		return false, nil
	}
	if row.Repeat < 0 {
		row.Repeat, s.bare = t.seen, true
	}
	if err := s.once(t, row); err != nil {
		return true, err
	}
	t.add(row, sc)
	s.book.answers++
	s.most = max(s.most, t.seen)
	s.count(t.seen)
	return true, nil
}

// count moves an item from those with one answer less to those with n.
func (s *Sheet) count(n int) {
	s.counts[n]++
	if s.counts[n-1]--; s.counts[n-1] <= 0 {
		delete(s.counts, n-1)
	}
}

// once refuses a second answer of one sample and repeat. Most items have one
// answer, so that a set is made only at the second.
func (s *Sheet) once(t *tally, row *evidence.ResponseRow) error {
	id := t.item.ID
	if row.Sample > math.MaxInt32 || row.Repeat > math.MaxInt32 {
		return fmt.Errorf("item %q has an answer with sample %d and repeat %d", id, row.Sample, row.Repeat)
	}
	at := [2]int32{int32(row.Sample), int32(row.Repeat)}
	if t.seen == 0 {
		t.first = at
		return nil
	}
	set := s.seen[id]
	if set == nil {
		set = map[[2]int32]bool{t.first: true}
		s.seen[id] = set
	}
	if set[at] {
		return fmt.Errorf("item %q has two answers with sample %d and repeat %d", id, row.Sample, row.Repeat)
	}
	set[at] = true
	return nil
}

// Answers is how many answers each item is expected to have.
func (s *Sheet) Answers() int {
	if !s.bare {
		return max(s.most, 1)
	}
	answers, items := 1, 0
	for n, count := range s.counts { // of two equally frequent numbers the larger
		if count > items || count == items && n > answers {
			answers, items = n, count
		}
	}
	return answers
}

// Duplicated returns the first most items with more answers than expected, in the
// order of their ids, and how many there are.
func (s *Sheet) Duplicated(most int) (ids []string, total int) {
	answers := s.Answers()
	if s.most <= answers {
		return nil, 0
	}
	for _, id := range keys(s.book.tallies) {
		if s.book.tallies[id].seen <= answers {
			continue
		}
		if total++; len(ids) < most {
			ids = append(ids, id)
		}
	}
	return ids, total
}

// Rows calls f with the row of each item in the order of ids.
func (s *Sheet) Rows(f func(evidence.ScoreRow) error) error {
	answers := s.Answers()
	for _, id := range keys(s.book.tallies) {
		if err := f(s.book.tallies[id].row(answers)); err != nil {
			return err
		}
	}
	return nil
}

// Summary counts overall and by stratum.
func (s *Sheet) Summary() evidence.ScoreSummary {
	s.book.params.Answers = s.Answers()
	return s.book.summary()
}
