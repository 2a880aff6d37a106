package publish

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// startRow is what came of starting one candidate.
type startRow struct {
	Name  string
	Ready string   // seconds until it was ready, or why there is no number
	Log   []string // the end of what it said, when it did not come up
}

// starts lists the candidates that cupel starts.
func (m pageMaker) starts() (out []startRow) {
	for _, name := range m.names {
		if d := m.rec.Candidates[name].Start; d != nil {
			out = append(out, startRow{name, readiness(d), d.Log})
		}
	}
	return out
}

func readiness(d *evidence.StartDoc) string {
	switch {
	case d.Failure != "":
		return "failed: " + d.Failure
	case d.LoadS == nil:
		return "not measured: " + d.Reason
	}
	return fmt.Sprintf("%.1f s", *d.LoadS)
}
