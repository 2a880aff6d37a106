package main

import (
	"maps"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/foreign"
)

// theirTable keeps another tool's scores beside ours.
type theirTable struct {
	keep  bool // the answers' texts, to list them
	rows  map[string]*theirRow
	names map[string]*theirDoc
	apart []disagreement
}

// theirRow is what the tool said of one item.
type theirRow struct {
	sums   map[string]*theirSum
	answer string // to its first row
}

type theirSum struct {
	sum     float64
	n       int
	missing string // why one answer has no number
}

// theirDoc counts one of the tool's scores against ours.
type theirDoc struct {
	Items    int            `json:"items"`    // that the tool gave this score to
	Compared int            `json:"compared"` // both have a number
	Mean     *float64       `json:"mean"`     // theirs, of the compared
	OurMean  *float64       `json:"our_mean"` // ours, of the same items
	Agree    int            `json:"agree"`
	Higher   int            `json:"theirs_higher"`
	Lower    int            `json:"theirs_lower"`
	OnlyOurs int            `json:"only_ours"`       // the tool has no number
	OnlyTool int            `json:"only_theirs"`     // we have none
	Why      map[string]int `json:"why,omitempty"`   // why the tool has no number
	Scale    string         `json:"scale,omitempty"` // not-unit: values outside [0,1], so that nothing is compared

	sum, ourSum float64
	outside     bool
}

// disagreement is one item that the tool scored otherwise.
type disagreement struct {
	ID     string              `json:"id"`
	Ours   *float64            `json:"ours"`
	Theirs map[string]*float64 `json:"theirs"`
	Reason string              `json:"reason"`
	Answer string              `json:"answer"`
}

// add adds the tool's scores of one row to its item's means.
func (t *theirTable) add(row *foreign.Row) {
	if len(row.Theirs) == 0 {
		return
	}
	if t.rows == nil {
		t.rows = map[string]*theirRow{}
	}
	r := t.rows[row.ID]
	if r == nil {
		r = &theirRow{sums: map[string]*theirSum{}}
		t.rows[row.ID] = r
		if t.keep {
			r.answer = clipRunes(row.Text, 160)
		}
	}
	for _, th := range row.Theirs {
		s := r.sums[th.Name]
		if s == nil {
			s = &theirSum{}
			r.sums[th.Name] = s
		}
		if th.Value == nil {
			s.missing = th.Reason
			continue
		}
		s.sum += *th.Value
		s.n++
	}
}

// beside returns the tool's scores of an item: the mean over its answers, null
// when one of them has none.
func (t *theirTable) beside(id string) map[string]*float64 {
	r := t.rows[id]
	if r == nil {
		return nil
	}
	out := map[string]*float64{}
	for name, s := range r.sums {
		out[name] = nil
		if s.missing == "" && s.n > 0 {
			mean := s.sum / float64(s.n)
			out[name] = &mean
		}
	}
	return out
}

// count compares one item.
func (t *theirTable) count(row evidence.ScoreRow, theirs map[string]*float64) {
	apart := false
	for name, v := range theirs {
		if t.names == nil {
			t.names = map[string]*theirDoc{}
		}
		d := t.names[name]
		if d == nil {
			d = &theirDoc{}
			t.names[name] = d
		}
		d.Items++
		switch {
		case v == nil:
			if d.Why == nil {
				d.Why = map[string]int{}
			}
			d.Why[t.rows[row.ID].sums[name].missing]++
			if row.Value != nil {
				d.OnlyOurs++
			}
		case row.Value == nil:
			d.OnlyTool++
		default:
			apart = d.compare(*row.Value, *v) || apart
		}
	}
	if apart {
		t.apart = append(t.apart, disagreement{row.ID, row.Value, theirs, row.Reason, t.rows[row.ID].answer})
	}
}

// compare reports whether two numbers differ.
func (d *theirDoc) compare(ours, theirs float64) bool {
	d.Compared++
	d.sum += theirs
	d.ourSum += ours
	d.outside = d.outside || theirs < 0 || theirs > 1
	switch {
	case math.Abs(ours-theirs) <= 1e-9:
		d.Agree++
		return false
	case theirs > ours:
		d.Higher++
	default:
		d.Lower++
	}
	return true
}

// docs ends the count. A score that leaves [0,1] is another quantity: where it
// differs from ours means nothing.
func (t *theirTable) docs() map[string]*theirDoc {
	for _, d := range t.names {
		if d.Compared > 0 {
			mean, ours := d.sum/float64(d.Compared), d.ourSum/float64(d.Compared)
			d.Mean, d.OurMean = &mean, &ours
		}
		if d.outside {
			d.Scale, d.Agree, d.Higher, d.Lower = "not-unit", 0, 0, 0
		}
	}
	return t.names
}

// listed returns the first n items that differ in a score that is comparable.
func (t *theirTable) listed(n int) []disagreement {
	out := []disagreement{}
	for _, d := range t.apart {
		if len(out) == n {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(d.Theirs)) {
			if v := d.Theirs[name]; v != nil && t.names[name].Scale == "" && math.Abs(*v-*d.Ours) > 1e-9 {
				out = append(out, d)
				break
			}
		}
	}
	return out
}
