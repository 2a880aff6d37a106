package score

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// CheckHeldOut is Check for a workload that takes a held-out part. each yields
// its items; without texts they have an id and labels alone, and what is checked
// then is what these and the names of the scorers tell. No error quotes a text.
func (s Stage) CheckHeldOut(q *spec.Quality, texts bool, each func(func(items.Item) error) error) []error {
	c, err := NewCompiler(q.Scorers)
	if err != nil {
		return []error{fmt.Errorf("scorers: %w", err)}
	}
	if errs := append(checkOverrides(c), checkNames(q)...); len(errs) > 0 {
		return errs
	}
	l := newLinter(q, c)
	for _, name := range q.Suite.HeldOut.Scorers {
		l.used[name] = true
	}
	bad := 0
	var errs []error
	err = each(func(it items.Item) error {
		l.label(it)
		if !texts {
			return nil
		}
		if _, err := c.Compile(&it); err != nil {
			if bad++; bad <= items.MaxProblems {
				errs = append(errs, fmt.Errorf("item %s: its scorers cannot use it; `cupel items lint` says more to who may open it", it.ID))
			}
		}
		return nil
	})
	if err != nil {
		return []error{err}
	}
	if more := bad - items.MaxProblems; more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", more))
	}
	return append(append(errs, l.conclude()...), s.checkRuntimes(q.Scorers)...)
}

// checkNames looks at the scorers that the held-out items name.
func checkNames(q *spec.Quality) (errs []error) {
	for _, name := range q.Suite.HeldOut.Scorers {
		known, ok := Lookup(name)
		switch {
		case !ok:
			errs = append(errs, unknown("scorer", name, Names()))
		case known.Runs && q.Scorers[name] == nil:
			errs = append(errs, errRunsUnnamed(name))
		case known.Asks && q.Scorers[name] == nil:
			errs = append(errs, errAsksUnnamed(name))
		}
	}
	return errs
}

// errRunsUnnamed: items alone may not make programs run.
func errRunsUnnamed(name string) error {
	return step.WithHint(errors.New("scorer "+name+" runs programs, and the campaign does not name it: an item set alone may not"),
		"write it under the workload's scorers: "+name+": {}")
}

// errAsksUnnamed: nor may they make a model be asked.
func errAsksUnnamed(name string) error {
	return step.WithHint(errors.New("scorer "+name+" asks a model, and the campaign does not name it: an item set alone may not"),
		"declare a judge under judges, and write it under the workload's scorers: "+name+": {by: NAME}")
}
