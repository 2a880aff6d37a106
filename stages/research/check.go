package research

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Problem is one thing that is wrong with a claim, found before anything runs.
type Problem struct {
	Source, Claim int    // from 0
	Field         string // of the claim
	Msg, Hint     string
}

// Check finds claims about cells that no workload has, and values that nothing
// can have.
func Check(c *spec.Campaign) (out []Problem) {
	if c.Research == nil {
		return nil
	}
	for i, s := range c.Research.Sources {
		for j, cl := range s.Claims {
			if cl.Value < 0 && prior.NeverNegative(cl.Metric) {
				out = append(out, Problem{i, j, "value", fmt.Sprintf("found %v, and %q is never below 0", cl.Value, cl.Metric), "correct it to what the source says, or leave the claim out"})
			}
			if cl.Cell == "" {
				continue
			}
			if have := c.Measure[cl.Workload].Results(c.Measure); !slices.Contains(have, cl.Cell) {
				out = append(out, Problem{i, j, "cell", fmt.Sprintf("%s has no cell %q", cl.Workload, cl.Cell), cellsHint(have)})
			}
		}
	}
	return out
}

func cellsHint(have []string) string {
	if len(have) == 0 {
		return "it is no serving workload; leave the cell out"
	}
	return "it has " + strings.Join(have, ", ")
}

// Warnings says what a reader of the sources should know: what is not current,
// what is a lead only, what cannot be held against a measurement.
func Warnings(c *spec.Campaign) (out []string) {
	r := prior.Of(c)
	if r == nil {
		return nil
	}
	for _, s := range r.Sources {
		out = append(out, sourceWarnings(s)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		if len(r.Shortlist) > 0 && !slices.Contains(r.Shortlist, name) && c.Candidates[name].Role != "baseline" {
			out = append(out, fmt.Sprintf("research: candidate %s is measured and not on the shortlist", name))
		}
	}
	return out
}

func sourceWarnings(s evidence.ResearchSource) (out []string) {
	add := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("research: source %s ", s.ID)+fmt.Sprintf(format, args...))
	}
	switch s.Age {
	case evidence.Aging:
		add("is aging: %d days old on the day it was looked at; engines and weights drift, so look for a newer one", *s.AgeDays)
	case evidence.Stale:
		add("is stale: %d days old on the day it was looked at; it is %s", *s.AgeDays, roleText(s))
	case evidence.AgeUnknown:
		add("has no publishedOn, so its age is not known and it counts as not current; add the day")
	}
	if s.Role == evidence.Lead && s.Age != evidence.AgeUnknown {
		add("is a lead only: %s", s.Reason)
	}
	for _, c := range s.Claims {
		if want := prior.MetricUnit(c.Metric); want != "" && !convertible(c.Unit, want) {
			add("claims %s in %q, which cannot be turned into %s, the metric's unit", c.Metric, c.Unit, want)
		}
		if s.Role == evidence.Primary && c.Role == evidence.Lead {
			add("is a lead only for %s: %s", c.Metric, c.Reason)
		}
	}
	return slices.Compact(out)
}

func convertible(written, want string) bool {
	_, ok := prior.In(1, written, want)
	return ok
}

func roleText(s evidence.ResearchSource) string {
	if s.Role == evidence.HistoricalLead {
		return "a historical lead, unless current official material or a measurement bears it out"
	}
	return "kept as " + s.Role + ", because it is borne out"
}
