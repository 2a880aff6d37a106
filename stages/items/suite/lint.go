package suite

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Linter looks at items one by one and, at the end, at all of them together.
type Linter struct {
	Findings
	Near  float64                            // similarity of near-duplicates, 0 = 0.85
	Score func(*items.Item) []Finding        // what the scorers say; may be nil
	Seen  func(it *items.Item, heldOut bool) // called with every item; may be nil

	near    *near
	asked   map[step.Digest]first
	schemas map[step.Digest][]Finding
	ids     []string
	sealed  bool // items are held out now: findings quote nothing of them
}

type first struct {
	id        string
	reference step.Digest
}

// Run looks at a whole set. open reads its held-out part; nil leaves it out.
func (l *Linter) Run(s *Set, open func(*Set, func(items.Item) error) error) error {
	if l.Near == 0 {
		l.Near = DefaultNear
	}
	var failed error
	if l.near, failed = newNear(l.Near); failed != nil {
		return failed
	}
	l.asked, l.schemas = map[step.Digest]first{}, map[step.Digest][]Finding{}
	errs, err := s.lint(func(it items.Item) []error {
		if err := l.item(&it); err != nil && failed == nil {
			failed = err
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	for _, e := range errs {
		l.Add(Finding{Code: CodeLine, Text: e.Error()})
	}
	if open != nil && s.HasHeldOut() {
		l.sealed = true
		if err := open(s, func(it items.Item) error { return l.item(&it) }); err != nil {
			return err
		}
	}
	if err := l.accessLog(s); err != nil {
		return err
	}
	return l.together()
}

// accessLog looks at whether the log of openings is whole.
func (l *Linter) accessLog(s *Set) error {
	log, err := s.AccessLog()
	for _, d := range log.Doubts(Mark{}) {
		l.Add(Finding{Code: CodeLog, Warning: true, Text: d})
	}
	return err
}

func (l *Linter) item(it *items.Item) error {
	if l.Seen != nil {
		l.Seen(it, l.sealed)
	}
	found := reference(it)
	if len(found) == 0 && l.Score != nil {
		found = l.Score(it)
	}
	found = append(found, choices(it)...)
	found = append(found, l.schema(it)...)
	for _, f := range found {
		if f.IDs = []string{it.ID}; l.sealed {
			f.Text = "held out; `cupel items show` says more to who may open it"
		}
		l.Add(f)
	}
	l.ids = append(l.ids, it.ID)
	dup, err := l.duplicate(it)
	if err != nil || dup {
		return err
	}
	l.near.add(it, len(l.ids)-1)
	return nil
}

// reference finds references with which nothing can be compared.
func reference(it *items.Item) []Finding {
	bad := func(what string) []Finding { return []Finding{{Code: CodeReference, Text: what}} }
	for i, f := range it.Facts {
		if strings.TrimSpace(f) == "" {
			return bad(fmt.Sprintf("fact %d is empty", i+1))
		}
	}
	if it.Facts != nil && len(it.Facts) == 0 {
		return bad(`"facts" is empty`)
	}
	var v any
	if it.Answer == nil || json.Unmarshal(it.Answer, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return bad(`"answer" is empty`)
		}
	case []any:
		if len(v) == 0 && !usesJSON(it) {
			return bad(`"answer" is an empty list`)
		}
		for i, e := range v {
			if s, ok := e.(string); ok && strings.TrimSpace(s) == "" && !usesJSON(it) {
				return bad(fmt.Sprintf("text %d of \"answer\" is empty", i+1))
			}
		}
	}
	return nil
}

// usesJSON: where the answer is a JSON value, an empty list is one.
func usesJSON(it *items.Item) bool {
	for _, s := range it.Scorer {
		if strings.Contains(s.Name, "json") {
			return true
		}
	}
	return false
}

// schema looks at each schema once.
func (l *Linter) schema(it *items.Item) []Finding {
	if it.Schema == nil {
		return nil
	}
	key := step.Sum(it.Schema)
	found, ok := l.schemas[key]
	if !ok {
		found = SchemaFindings(it.Schema)
		l.schemas[key] = found
	}
	return append([]Finding(nil), found...)
}

// duplicate compares whole inputs, but for case and white space.
func (l *Linter) duplicate(it *items.Item) (bool, error) {
	key := step.Sum([]byte(normal(Asked(it))))
	ref, err := encodeLine(line{Answer: it.Answer, Facts: it.Facts, Schema: it.Schema, ExpectTool: it.ExpectTool, Tests: it.Tests, Rubric: it.Rubric})
	if err != nil {
		return false, err
	}
	old, twice := l.asked[key]
	if !twice {
		l.asked[key] = first{it.ID, step.Sum(ref)}
		return false, nil
	}
	f := Finding{Code: CodeDuplicate, IDs: []string{old.id, it.ID}, Text: "the same input and the same reference: it counts twice"}
	if old.reference != step.Sum(ref) {
		f = Finding{Code: CodeConflict, IDs: f.IDs, Text: "the same input with two references: one answer cannot satisfy both"}
	}
	l.Add(f)
	return true, nil
}

func (l *Linter) together() error {
	found, err := l.near.groups()
	if err != nil {
		return err
	}
	for _, g := range found {
		f := Finding{Code: CodeNear, Warning: true, Text: fmt.Sprintf("%d inputs are alike (Jaccard %.2f or more)", len(g), l.Near)}
		for _, i := range g[:min(len(g), MaxFindings)] {
			f.IDs = append(f.IDs, l.ids[i])
		}
		l.Add(f)
	}
	return nil
}
