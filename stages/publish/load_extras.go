package publish

import (
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// extraTable is a table that only some workloads have.
type extraTable struct {
	Title string
	Heads []string
	Rows  [][]string
}

// extras are the tables of curves, searches and replicas, one per candidate.
func (m pageMaker) extras(wl string) (out []extraTable) {
	for _, name := range m.names {
		l, ok := m.rec.Candidates[name].Load[wl]
		if !ok {
			continue
		}
		if l.Curve != nil {
			out = append(out, curveTable(name, l.Curve))
		}
		if len(l.Probes) > 0 {
			out = append(out, probeTable(name, l.Probes))
		}
		if len(l.Unions) > 0 {
			out = append(out, unionTable(name, l))
		}
	}
	return out
}

func curveTable(name string, c *metric.Curve) extraTable {
	t := extraTable{Title: "Answers by context length, " + name,
		Heads: []string{"bucket, tokens", "prompt tokens", "right", "completed", "drop", "within policy"}}
	for _, p := range c.Points {
		ok := "yes"
		if !p.Meets {
			ok = "no: " + p.Reason
		}
		t.Rows = append(t.Rows, []string{thousands(p.Tokens), valueOf(p.PromptTokens).Text,
			thousands(p.Passed) + " of " + thousands(p.Attempted), thousands(p.Completed), shareText(p.RelativeDrop), ok})
	}
	return t
}

func probeTable(name string, probes []metric.Probe) extraTable {
	t := extraTable{Title: "What the search looked at, " + name, Heads: []string{"at", "trial", "in SLO", "holds"}}
	for _, p := range probes {
		holds := "yes"
		if !p.Holds {
			holds = "no: " + p.Why
		}
		t.Rows = append(t.Rows, []string{quantity(p.At), thousands(p.Trial), shareText(p.Attained), holds})
	}
	return t
}

func unionTable(name string, l evidence.LoadMetrics) extraTable {
	t := extraTable{Title: "Replicas together, " + name, Heads: []string{"cell", "trial", "wall, ms", "throughput, tok/s", "kind"}}
	for _, u := range l.Unions {
		wall, rate := quantity(u.WallHighMS), valueOf(u.TokS).Text
		if u.WallLowMS != u.WallHighMS {
			wall = quantity(u.WallLowMS) + " to " + wall
			rate += " to " + valueOf(u.TokSHigh).Text
		}
		t.Rows = append(t.Rows, []string{u.Cell, thousands(u.Trial), wall, rate, u.Estimate})
	}
	return t
}

func shareText(v metric.Value) string {
	if v.Value == nil {
		return none + " (" + v.Reason + ")"
	}
	return percent(*v.Value)
}
