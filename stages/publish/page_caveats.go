package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// caveat is one thing that a reader should know before using a number.
type caveat struct{ Where, Text string }

// caveats lists them in a fixed order: what was refused, then what was read, pins, scores,
// what was asked for before, comparisons, noise floor, load, guards.
func (m pageMaker) caveats() []caveat {
	var out []caveat
	for _, name := range m.names {
		if c := m.rec.Candidates[name]; c.Stopped != "" {
			out = append(out, caveat{name, "it was stopped: " + c.Stopped})
		}
	}
	out = append(out, m.researchCaveats()...)
	for _, f := range PinFindings(m.rec) {
		out = append(out, caveat{f.Candidate, f.Text})
	}
	for _, name := range m.names {
		out = append(out, scoreCaveats(name, m.rec.Candidates[name].Scores)...)
	}
	for _, name := range m.names {
		out = append(out, keptCaveats(name, m.rec.Candidates[name].Kept)...)
	}
	out = append(out, m.heldOutCaveats()...)
	for i := range m.rec.Comparisons {
		out = append(out, m.comparisonCaveats(&m.rec.Comparisons[i])...)
	}
	for _, n := range m.rec.Noise {
		out = append(out, noiseCaveats(n)...)
	}
	for _, name := range m.names {
		out = append(out, loadCaveats(name, m.rec.Candidates[name].Load)...)
	}
	for _, d := range m.dec.Candidates {
		for _, g := range d.Guards {
			for _, w := range g.Warnings {
				out = append(out, caveat{place(d.Candidate, "guard "+g.Guard, g.Stratum+g.Cell), w})
			}
		}
	}
	return slices.Compact(out)
}

func place(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

func scoreCaveats(name string, scores map[string]evidence.ScoreSummary) []caveat {
	var out []caveat
	for _, wl := range slices.Sorted(maps.Keys(scores)) {
		g := scores[wl].Overall
		add := func(format string, args ...any) {
			out = append(out, caveat{place(name, wl), fmt.Sprintf(format, args...)})
		}
		if r := g.TruncationRate.Value; r != nil && *r > 0 {
			add("%s of the answers were cut off by the token limit", percent(*r))
		}
		if r := g.FailureRate.Value; r != nil && *r > 0 {
			text := percent(*r) + " of the answers had no usable output"
			for _, class := range slices.Sorted(maps.Keys(g.Failures)) {
				text += fmt.Sprintf("; %s %s", class, thousands(g.Failures[class]))
			}
			add("%s", text)
		}
		if g.Scored != g.Items {
			add("%s of %s have a score", thousands(g.Scored), plural(g.Items, "item", "items"))
		}
	}
	return out
}

func keptCaveats(name string, kept map[string]evidence.KeptRows) []caveat {
	var out []caveat
	for _, wl := range slices.Sorted(maps.Keys(kept)) {
		k := kept[wl]
		text := fmt.Sprintf("%s of %s kept from an earlier set", thousands(k.Rows), plural(k.Rows+k.Asked, "answer", "answers"))
		if k.Oldest != "" {
			text += "; the oldest was asked for on " + k.Oldest
		}
		out = append(out, caveat{place(name, wl), text})
	}
	return out
}

// heldOutCaveats say what is not in the finding and why.
func (m pageMaker) heldOutCaveats() []caveat {
	var out []caveat
	for _, e := range m.rec.Evidence {
		if e.HeldOut {
			out = append(out, caveat{e.Step, "its items are held out: ids, strata and scores are here, the answers and the scorers' reasons are not"})
		}
	}
	return out
}

func (m pageMaker) comparisonCaveats(c *evidence.Comparison) []caveat {
	where := place(c.Candidate, c.Workload)
	var out []caveat
	if a := c.Attrition; a.Total > 0 {
		text := fmt.Sprintf("%s could not be paired (policy: %s)", plural(a.Total, "item", "items"), a.Policy)
		for _, side := range []struct {
			what string
			ids  []string
		}{{"only the baseline has", a.OnlyBaseline}, {"only the candidate has", a.OnlyCandidate}, {"without a score", a.Unscored}} {
			if len(side.ids) > 0 {
				text += fmt.Sprintf("; %s: %s", side.what, someOf(side.ids))
			}
		}
		out = append(out, caveat{where, text})
	}
	for _, w := range c.Stats.Warnings {
		out = append(out, caveat{place(where, w.Stratum), w.Code + ": " + w.Message})
	}
	for _, name := range rowNames(c) {
		s := summaryOf(c.Stats, name)
		if s.Lo == nil || s.Hi == nil {
			out = append(out, caveat{place(where, name), "there is no interval: " + because(reasonOf(s))})
		}
	}
	if j := c.Judged; j != nil && (j.Calibration == nil || !j.Calibration.Calibrated) {
		out = append(out, caveat{where, Judged(c)[0]})
	}
	if m.floor(c) == nil {
		out = append(out, caveat{where, "no noise floor was measured on this workload, so it is not known what the baseline differs from itself by"})
	}
	return out
}

func reasonOf(s stats.Summary) string {
	if s.Reason == "" {
		return "absent"
	}
	return string(s.Reason)
}

// someOf lists at most ten ids.
func someOf(ids []string) string {
	if len(ids) > 10 {
		return strings.Join(ids[:10], ", ") + fmt.Sprintf(" and %d more", len(ids)-10)
	}
	return strings.Join(ids, ", ")
}

func noiseCaveats(n evidence.NoiseFloor) []caveat {
	where := place("noise floor", n.Workload)
	var out []caveat
	if n.Drift {
		out = append(out, caveat{where, n.Candidate + " differs from itself by more than noise: something changed between its two runs"})
	}
	if n.Note != "" {
		out = append(out, caveat{where, n.Note})
	}
	for _, w := range n.Stats.Warnings {
		out = append(out, caveat{place(where, w.Stratum), w.Code + ": " + w.Message})
	}
	return out
}

func loadCaveats(name string, load map[string]evidence.LoadMetrics) []caveat {
	var out []caveat
	for _, wl := range slices.Sorted(maps.Keys(load)) {
		if why := load[wl].Apart; why != "" {
			out = append(out, caveat{place(name, wl), "order: sequential (" + why + "): what changed with the time of day or the heat of the machine may fall on one candidate alone"})
		}
		if others := load[wl].Beside; len(others) > 0 {
			out = append(out, caveat{place(name, wl), "measured with " + listing(others) + " resident on the same GPUs"})
		}
		out = append(out, energyCaveats(name, wl, load[wl].Energy)...)
		var few []string
		requests := 0
		for _, c := range load[wl].Cells {
			where := place(name, wl, c.Name)
			for _, m := range c.Marks() {
				out = append(out, caveat{where, m.Code + ": " + m.Sentence})
			}
			for _, d := range c.Doubts {
				out = append(out, caveat{where, d})
			}
			if c.Failed > 0 {
				out = append(out, caveat{where, fmt.Sprintf("of %s, %s", plural(c.Attempted, "request", "requests"), failures(c.Failures, c.Failed))})
			}
			if c.Stability == "unstable" {
				out = append(out, caveat{where, "the throughput differs between trials by more than a stable cell's does"})
			}
			if c.TTFT.Label == metric.DescriptiveOnly {
				few, requests = append(few, c.Name), max(requests, c.TTFT.N)
			}
		}
		if len(few) > 0 {
			out = append(out, caveat{place(name, wl, strings.Join(few, " ")),
				fmt.Sprintf("%s: the percentiles rest on at most %s a cell and describe those only", metric.DescriptiveOnly, plural(requests, "request", "requests"))})
		}
	}
	return out
}
