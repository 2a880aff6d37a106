package score

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// NoAnswer is the reason of an item that nothing was stored for.
const NoAnswer = "no-answer"

// DuplicateAnswer is the reason of an item with more answers than others have:
// nobody can tell which of them count.
const DuplicateAnswer = "duplicate-answer"

// tally adds up the answers to one item.
type tally struct {
	item items.Item
	id   string // scorers with versions

	seen, scored, truncated, failed int
	first                           [2]int32 // sample and repeat of the first answer; a sheet's alone
	sum                             float64
	lowest                          float64 // value of the worst scored answer
	reason                          string  // its reason
	missing                         string  // reason of the first answer without a value
	classes                         map[string]int
	prompt, output                  tokens
}

// tokens adds up counts; it has a sum only when every answer reported one.
type tokens struct {
	sum   int64
	known int
}

func (t *tokens) add(n *int64) {
	if n != nil {
		t.sum += *n
		t.known++
	}
}

func (t *tally) add(row *evidence.ResponseRow, s Score) {
	t.seen++
	if row.Finish == "length" {
		t.truncated++
	}
	if row.Failure != nil {
		t.failed++
		if t.classes == nil {
			t.classes = map[string]int{}
		}
		t.classes[string(row.Failure.Class)]++
	}
	if u := row.Usage; u != nil {
		t.prompt.add(u.PromptTokens)
		t.output.add(u.OutputTokens)
	}
	switch {
	case !s.Scored && t.missing == "":
		t.missing = s.Reason
	case s.Scored:
		if t.scored == 0 || s.Value < t.lowest {
			t.lowest, t.reason = s.Value, s.Reason
		}
		t.scored++
		t.sum += s.Value
	}
}

// value is the mean over the item's answers. An item of which an answer is
// missing, failed or could not be scored has none: a mean over the rest would
// rise as a system degrades. Nor has one with an answer too many.
func (t *tally) value(answers int) *float64 {
	if t.scored == 0 || t.scored < answers || t.seen > answers {
		return nil
	}
	mean := min(1, t.sum/float64(t.scored))
	return &mean
}

func (t *tally) row(answers int) evidence.ScoreRow {
	row := evidence.ScoreRow{
		ID: t.item.ID, Strata: t.item.Strata, Cluster: t.item.Cluster,
		Value: t.value(answers), Reason: t.why(answers), Scorer: t.id,
		N: t.scored, Truncated: t.truncated, Failed: t.failed,
	}
	if t.item.Weight != nil {
		row.Weight = *t.item.Weight
	}
	if row.Strata == nil {
		row.Strata = map[string]string{}
	}
	return row
}

// why is the reason of the worst answer, or why there is no value.
func (t *tally) why(answers int) string {
	switch {
	case t.seen == 0:
		return NoAnswer
	case t.seen > answers:
		return fmt.Sprintf("%s (%d answers are there, most items have %d)", DuplicateAnswer, t.seen, answers)
	case t.missing != "" && answers == 1:
		return t.missing
	case t.missing != "":
		return fmt.Sprintf("%s (%d of %d answers have a value)", t.missing, t.scored, answers)
	case t.seen < answers:
		return fmt.Sprintf("%s (%d of %d answers are there)", NoAnswer, t.seen, answers)
	case answers > 1 && t.lowest < 1:
		return fmt.Sprintf("worst of %d: %s", answers, t.reason)
	}
	return t.reason
}

// ids names scorers with their versions; one that is not known by its name.
func ids(refs items.Scorers) string {
	out := ""
	for i, ref := range refs {
		if i > 0 {
			out += "+"
		}
		if s, ok := Lookup(ref.Name); ok {
			out += s.ID()
		} else {
			out += ref.Name
		}
	}
	return out
}
