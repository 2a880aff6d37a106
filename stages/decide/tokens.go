package decide

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// otherTokensThan says why a rule that holds token counts, or times and rates
// per token, of both sides against each other cannot: the same text has other
// tokens on the other side, so a token is not one unit.
func (j *judge) otherTokensThan(r rule, candidate string) []string {
	if !r.countsTokens("candidate") || !r.countsTokens("baseline") {
		return nil
	}
	base := j.policy.Baseline
	n := evidence.OtherTokens(j.record.Candidates[base].Pin, j.record.Candidates[candidate].Pin)
	if n == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s: %s and %s make %s of one text", otherTokens, sentences[otherTokens], base, candidate, n)}
}

// countsTokens reports whether the rule names a number of that side that is
// made of tokens.
func (r rule) countsTokens(side string) bool {
	for _, p := range r.Paths() {
		of, name, _ := strings.Cut(p, ".")
		if of == side && energyOfTokens(name) {
			return true
		}
		name, _, _ = strings.Cut(name, ".")
		if of == side && madeOfTokens(name) {
			return true
		}
	}
	return false
}

// madeOfTokens reports whether a metric counts tokens or rests on a count.
func madeOfTokens(id string) bool {
	d, ok := metric.Lookup(id)
	return ok && (strings.HasPrefix(d.Unit, "tok") || id == "tpot_ms" || id == "itl_ms")
}

// energyOfTokens reports whether a number of the energy has tokens below the line,
// or above it.
func energyOfTokens(path string) bool {
	group, _, _ := strings.Cut(path, ".")
	last := path[strings.LastIndexByte(path, '.')+1:]
	return (group == "energy" || group == "asiai") && (strings.Contains(last, "token") || strings.Contains(last, "tok_per_sec") || strings.Contains(last, "output_interval"))
}
