package score

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Check lints the item sets of a campaign against the scorers that they use:
// what would be a scorer error in the middle of a run is an error before it.
// open opens an item file. Of each workload at most items.MaxProblems problems
// are listed. Held-out parts are not looked at: see CheckHeldOut.
func (s Stage) Check(c *spec.Campaign, open func(spec.File) (io.ReadCloser, error)) []error {
	var problems []error
	for _, name := range keys(c.Measure) {
		q := c.Measure[name].Quality
		if q == nil {
			continue
		}
		if err := checkJudge(c, q); err != nil {
			problems = append(problems, fmt.Errorf("measure.%s: %w", name, err))
			continue
		}
		if q.Suite.HeldOut != nil {
			continue
		}
		for _, err := range append(checkWorkload(q, open), s.checkRuntimes(q.Scorers)...) {
			problems = append(problems, fmt.Errorf("measure.%s: %w", name, err))
		}
	}
	return problems
}

// Check is that of a Stage without programs.
func Check(c *spec.Campaign, open func(spec.File) (io.ReadCloser, error)) []error {
	return Stage{}.Check(c, open)
}

// checkRuntimes says what is missing for scorers that run programs.
func (s Stage) checkRuntimes(scorers map[string]map[string]any) []error {
	have := s.runtimes(scorers)
	if have == nil {
		return nil
	}
	var errs []error
	for _, name := range keys(scorers) {
		known, _ := Lookup(name)
		if trusted, _ := scorers[name]["trust"].(bool); !known.Runs || trusted {
			continue
		}
		if why, none := strings.CutPrefix(have["sandbox"], "none"); none {
			errs = append(errs, step.WithHint(fmt.Errorf("scorers.%s: there is no sandbox here%s", name, why),
				"its items would have no value; code is never run without a sandbox"))
			continue
		}
		language, _ := scorers[name]["language"].(string)
		if strings.HasPrefix(have[language], "none") {
			errs = append(errs, fmt.Errorf("scorers.%s: %s: %s", name, language, have[language]))
		}
	}
	return errs
}

func checkWorkload(q *spec.Quality, open func(spec.File) (io.ReadCloser, error)) []error {
	c, err := NewCompiler(q.Scorers)
	if err != nil {
		return []error{fmt.Errorf("scorers: %w", err)}
	}
	if errs := checkOverrides(c); len(errs) > 0 {
		return errs
	}
	r, err := open(q.Suite.Items)
	if err != nil {
		return []error{fmt.Errorf("suite %s: %w", q.Suite.Name, err)}
	}
	defer r.Close()
	l := newLinter(q, c)
	check := func(it items.Item) []error { return append(l.check(it), unlisted(q, &it)...) }
	if errs := items.LintNamed(fileName(q.Suite.Items), r, check); len(errs) > 0 {
		return errs
	}
	return l.conclude()
}

// unlisted finds media that an item shows and its suite does not have: nothing
// could be sent.
func unlisted(q *spec.Quality, it *items.Item) (errs []error) {
	for _, m := range it.Shown() {
		if !slices.ContainsFunc(q.Suite.Media, func(f spec.File) bool { return f.Digest == m.SHA256 }) {
			errs = append(errs, step.WithHint(fmt.Errorf("it shows %s, which its suite does not list", m.Path()), "only frozen suites carry media: `cupel items freeze`"))
		}
	}
	return errs
}

func fileName(f spec.File) string {
	if f.Name != "" {
		return f.Name
	}
	return items.DefaultName
}

// checkOverrides looks at names and types of the campaign's parameters, once
// and not for each item.
func checkOverrides(c *Compiler) []error {
	var errs []error
	for _, name := range keys(c.overrides) {
		s, _ := Lookup(name)
		if err := s.checkParams(c.overrides[name]); err != nil {
			errs = append(errs, fmt.Errorf("scorers.%s: %w", name, err))
		}
	}
	return errs
}

// linter checks items one by one and keeps what can be said only at the end.
type linter struct {
	q                  *spec.Quality
	compiler           *Compiler
	selector           *items.Selector
	used               map[string]bool
	all, kept, labeled int
	labels             map[string]bool // that the selected items have
}

// defaultLabel is what a campaign that says nothing stratifies by. Items without
// any label are one stratum then.
const defaultLabel = "task"

func newLinter(q *spec.Quality, c *Compiler) *linter {
	return &linter{q: q, compiler: c, used: map[string]bool{}, labels: map[string]bool{}, selector: items.NewSelector(q.Where, q.Limit, q.Stratify)}
}

func (l *linter) check(it items.Item) []error {
	for _, ref := range it.Scorer {
		l.used[ref.Name] = true
	}
	l.label(it)
	if _, err := l.compiler.Compile(&it); err != nil {
		return []error{err}
	}
	return nil
}

// label looks at what selects an item and makes its stratum.
func (l *linter) label(it items.Item) {
	l.all++
	if l.selector.Keep(&it) {
		l.kept++
		if _, ok := it.Strata[l.q.Stratify]; ok {
			l.labeled++
		}
		for name := range it.Strata {
			l.labels[name] = true
		}
	}
}

func (l *linter) conclude() []error {
	var errs []error
	for _, name := range keys(l.q.Scorers) {
		if !l.used[name] {
			errs = append(errs, step.WithHint(fmt.Errorf("scorers.%s: no item uses this scorer", name), "remove it, or name the scorer in the items"))
		}
	}
	switch {
	case l.kept == 0:
		errs = append(errs, step.WithHint(fmt.Errorf("where: none of the %d items is selected", l.all), "compare the labels and values with the items' strata"))
	case l.labeled > 0 || l.q.Stratify == "" || l.q.Stratify == defaultLabel && len(l.labels) == 0:
	case len(l.labels) == 0:
		errs = append(errs, step.WithHint(fmt.Errorf("stratify: no selected item has the label %q", l.q.Stratify), "drop stratify: the items have no labels, and are one stratum"))
	default:
		errs = append(errs, step.WithHint(fmt.Errorf("stratify: no selected item has the label %q", l.q.Stratify), "write stratify: one of "+strings.Join(keys(l.labels), ", ")))
	}
	return errs
}
