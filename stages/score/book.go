package score

import (
	"fmt"
	"io"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// book keeps a tally for each selected item while answers are scored.
type book struct {
	params   stepParams
	compiler *Compiler
	tallies  map[string]*tally
	strata   map[string]map[string]string // labels -> the one map that items with these labels share
	answers  int

	// The item whose answers are being read: they stand together, so its
	// scorers are made ready once.
	current  *tally
	compiled *Compiled
	broken   error
}

func newBook(p stepParams, c *Compiler) *book {
	return &book{params: p, compiler: c, tallies: map[string]*tally{}, strata: map[string]map[string]string{}}
}

func (b *book) readItems(r io.Reader) error {
	selected := items.NewSelector(b.params.Where, b.params.Limit, b.params.Stratify)
	return items.Read(r, func(it items.Item) error {
		if selected.Keep(&it) {
			it.Input, it.Tools, it.System = nil, nil, "" // what was asked is not needed
			it.Strata = b.share(it.Strata)
			b.tallies[it.ID] = &tally{item: it, id: ids(it.Scorer)}
		}
		return nil
	})
}

// share returns one map for equal labels: a map for each of many items would
// be most of the memory.
func (b *book) share(strata map[string]string) map[string]string {
	var key strings.Builder
	for _, label := range keys(strata) {
		fmt.Fprintf(&key, "%q=%q,", label, strata[label])
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

func (b *book) score(t *tally, row *evidence.ResponseRow) Score {
	if row.Failure != nil {
		return Score{Reason: string(row.Failure.Class)}
	}
	if b.current != t {
		b.current = t
		b.compiled, b.broken = b.compiler.Compile(&t.item)
	}
	if b.broken != nil {
		return Score{Reason: ScorerError + clipTo(b.broken.Error(), 200)}
	}
	return b.compiled.Score(Output{Text: row.Text, ToolCalls: row.ToolCalls})
}
