package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

// maxListed is how many ids of each kind Attrition lists.
const maxListed = 100

// side holds one candidate's rows by id.
type side map[string]evidence.ScoreRow

func (s side) add(row evidence.ScoreRow) error {
	if row.ID == "" {
		return fmt.Errorf("the row has no id")
	}
	if _, dup := s[row.ID]; dup {
		return fmt.Errorf("the id %q stands there already; items are paired by id, so each needs its own", row.ID)
	}
	s[row.ID] = row
	return nil
}

// pairing is what two sides have in common, and what not.
type pairing struct {
	pairs     []stats.Pair
	weights   map[string]float64 // id -> weight, of items that carry one
	unpaired  []stats.Pair       // without a score on one side; A and B mean nothing
	attrition evidence.Attrition
}

// pair joins the sides. Under policy zero unpaired items are in pairs too, with
// missingA for what the baseline lacks and 0 for what the candidate lacks.
func pair(a, b side, policy string, missingA float64) (*pairing, error) {
	p := &pairing{weights: map[string]float64{}, attrition: evidence.Attrition{Policy: policy}}
	for _, id := range unionIDs(a, b) {
		rowA, inA := a[id]
		rowB, inB := b[id]
		joined, err := join(rowA, rowB)
		if err != nil {
			return nil, fmt.Errorf("item %q: %w", id, err)
		}
		joined.ID = id
		if w := max(rowA.Weight, rowB.Weight); w > 0 {
			p.weights[id] = w
		}
		if rowA.Value != nil && rowB.Value != nil {
			joined.A, joined.B = *rowA.Value, *rowB.Value
			p.pairs = append(p.pairs, joined)
			continue
		}
		p.miss(joined, inA, inB)
		if policy == Zero {
			joined.A, joined.B = or(rowA.Value, missingA), or(rowB.Value, 0)
			p.pairs = append(p.pairs, joined)
		}
	}
	return p, nil
}

func (p *pairing) miss(joined stats.Pair, inA, inB bool) {
	p.unpaired = append(p.unpaired, joined)
	p.attrition.Total++
	list := &p.attrition.Unscored
	switch {
	case !inB:
		list = &p.attrition.OnlyBaseline
	case !inA:
		list = &p.attrition.OnlyCandidate
	}
	if len(*list) < maxListed {
		*list = append(*list, joined.ID)
	}
}

func or(v *float64, missing float64) float64 {
	if v == nil {
		return missing
	}
	return *v
}

func unionIDs(a, b side) []string {
	ids := make([]string, 0, len(a))
	for id := range a {
		ids = append(ids, id)
	}
	for id := range b {
		if _, ok := a[id]; !ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// join merges what both rows say about the item itself; a contradiction is an
// error, because one of the two would be counted in the wrong stratum.
func join(a, b evidence.ScoreRow) (stats.Pair, error) {
	joined := stats.Pair{Strata: maps.Clone(a.Strata), Cluster: a.Cluster}
	if joined.Strata == nil {
		joined.Strata = map[string]string{}
	}
	for label, value := range b.Strata {
		if other, ok := joined.Strata[label]; ok && other != value {
			return joined, fmt.Errorf("label %q is %q on one side and %q on the other", label, other, value)
		}
		joined.Strata[label] = value
	}
	if a.Cluster != "" && b.Cluster != "" && a.Cluster != b.Cluster {
		return joined, fmt.Errorf("cluster is %q on one side and %q on the other", a.Cluster, b.Cluster)
	}
	if joined.Cluster == "" {
		joined.Cluster = b.Cluster
	}
	return joined, nil
}
