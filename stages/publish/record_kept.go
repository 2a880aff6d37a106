package publish

import (
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// beside are the requests of earlier sets that shared the endpoint with these.
func (b *builder) beside(at generation) (out []metric.Span) {
	if k := b.kept[at]; k != nil {
		for _, other := range k.Beside {
			out = append(out, other.Span)
		}
	}
	return out
}

// keptRows says of which answers the requests are older than the set.
func (b *builder) keptRows() {
	for at, k := range b.kept {
		rows := evidence.KeptRows{Rows: k.Rows, Asked: k.Asked, From: k.From}
		oldest := int64(0)
		for _, s := range b.busy[at] {
			if oldest == 0 || s.Start < oldest {
				oldest = s.Start
			}
		}
		if oldest > 0 {
			rows.Oldest = time.Unix(0, oldest).UTC().Format(time.DateOnly)
		}
		c := b.rec.Candidates[at.candidate]
		if c.Kept == nil {
			c.Kept = map[string]evidence.KeptRows{}
		}
		c.Kept[at.workload] = rows
		b.rec.Candidates[at.candidate] = c
	}
}
