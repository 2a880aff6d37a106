package score

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// Reasons of scores of held-out items. A scorer's own words quote answers and
// references, and what it says goes into comparisons and findings.
const (
	withheld         = "withheld: the item is held out"
	withheldUnscored = "no value; why is withheld: the item is held out"
)

// withhold replaces the reason of a held-out item's score by what can be said
// without a word of its texts.
func withhold(row *evidence.ScoreRow, t *tally) {
	switch {
	case t.seen == 0 || t.missing == "" && row.Value == nil:
		return // how many answers there are
	case row.Value != nil:
		row.Reason = withheld
	case t.classes[t.missing] > 0:
		// The class of a failed answer is cupel's own word.
	case strings.HasPrefix(t.missing, ScorerError):
		row.Reason = ScorerError + withheld
	default:
		row.Reason = withheldUnscored
	}
}
