package score

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// book keeps a tally for each selected item while answers are scored.
type book struct {
	marker
	params  stepParams
	tallies map[string]*tally
	strata  map[string]map[string]string // labels -> the one map that items with these labels share
	schemas map[string]json.RawMessage   // text -> the one copy
	scorers map[string]scorerSet
	answers int
}

// marker scores answers. The answers to one item stand together, so its scorers
// are made ready once.
type marker struct {
	compiler *Compiler
	verdicts map[answerKey]*Verdict // of the judge, nil = none was asked
	current  *tally
	compiled *Compiled
	broken   error
}

func newBook(p stepParams, c *Compiler) *book {
	return &book{marker: marker{compiler: c}, params: p, tallies: map[string]*tally{}, strata: map[string]map[string]string{},
		schemas: map[string]json.RawMessage{}, scorers: map[string]scorerSet{}}
}

// scorerSet is a list of scorers that many items share, with their ids.
type scorerSet struct {
	refs items.Scorers
	id   string
}

func (b *book) readItems(r io.Reader) error {
	selected := items.NewSelector(b.params.Where, b.params.Limit, b.params.Stratify)
	err := items.Read(r, func(it items.Item) error {
		if selected.Keep(&it) {
			b.enter(it)
		}
		return nil
	})
	if b.params.heldOut() {
		return items.WithoutText(err)
	}
	return err
}

func (b *book) enter(it items.Item) {
	if !runs(it.Scorer) {
		it.Input, it.Tools, it.System = nil, nil, "" // what was asked is not needed
	}
	it.Strata = b.share(it.Strata)
	set := b.shareScorers(it.Scorer)
	it.Scorer, it.Schema = set.refs, b.shareSchema(it.Schema)
	b.tallies[it.ID] = &tally{item: it, id: set.id}
}

// shareScorers returns one list for equal lists without parameters.
func (b *book) shareScorers(refs items.Scorers) scorerSet {
	key := ""
	for _, ref := range refs {
		if ref.Params != nil {
			return scorerSet{refs, ids(refs)}
		}
		key += ref.Name + "\x00"
	}
	set, ok := b.scorers[key]
	if !ok {
		set = scorerSet{refs, ids(refs)}
		b.scorers[key] = set
	}
	return set
}

// shareSchema returns one copy of equal texts.
func (b *book) shareSchema(schema json.RawMessage) json.RawMessage {
	shared, ok := b.schemas[string(schema)]
	switch {
	case ok:
		return shared
	case schema == nil || len(b.schemas) >= maxSchemas:
		return schema
	}
	b.schemas[string(schema)] = schema
	return schema
}

// runs reports whether a program may want to know what was asked.
func runs(refs items.Scorers) bool {
	return slices.ContainsFunc(refs, func(ref items.ScorerRef) bool {
		s, ok := Lookup(ref.Name)
		return ok && s.Runs
	})
}

// share returns one map for equal labels: a map for each of many items would
// be most of the memory.
func (b *book) share(strata map[string]string) map[string]string {
	var key strings.Builder
	for _, label := range keys(strata) {
		key.WriteString(strconv.Quote(label) + "=" + strconv.Quote(strata[label]) + ",")
	}
	shared, ok := b.strata[key.String()]
	if !ok {
		shared = strata
		b.strata[key.String()] = strata
	}
	return shared
}

// answer scores one answer and adds it to its item's tally.
func (b *book) answer(row *evidence.ResponseRow) error {
	b.answers++
	t, ok := b.tallies[row.ID]
	if !ok {
		return step.WithHint(fmt.Errorf("there is an answer to item %q, which is not selected", row.ID),
			"generation and scoring must use the same item file and selection")
	}
	if t.seen == b.params.Answers {
		return fmt.Errorf("item %q has more than the %d answers that samples and repeats make", row.ID, b.params.Answers)
	}
	t.add(row, b.score(t, row))
	return nil
}

func (m *marker) score(t *tally, row *evidence.ResponseRow) Score {
	if row.Failure != nil {
		return Score{Reason: string(row.Failure.Class)}
	}
	if m.current != t {
		m.current = t
		m.compiled, m.broken = m.compiler.Compile(&t.item)
	}
	if m.broken != nil {
		return Score{Reason: ScorerError + clipTo(m.broken.Error(), 200)}
	}
	return m.compiled.Score(Output{Text: row.Text, ToolCalls: row.ToolCalls, Verdict: m.verdicts[answerKey{row.ID, row.Sample, row.Repeat}]})
}
