package compare

import (
	"cmp"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// maxFlips is how many items a comparison lists.
const maxFlips = 1000

// flips lists the items whose score differs, those that the candidate lost
// most on first, then by id.
func flips(a, b side, stratify string) []evidence.Flip {
	out := []evidence.Flip{}
	for _, id := range unionIDs(a, b) {
		x, y := a[id], b[id]
		if x.Value == nil || y.Value == nil || *x.Value == *y.Value {
			continue
		}
		out = append(out, evidence.Flip{
			ID: id, Stratum: x.Strata[stratify], A: *x.Value, B: *y.Value, ReasonA: x.Reason, ReasonB: y.Reason,
		})
	}
	slices.SortStableFunc(out, func(x, y evidence.Flip) int { return cmp.Compare(x.B-x.A, y.B-y.A) })
	return out[:min(len(out), maxFlips)]
}
