package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// What a sample size is computed for before anything was measured.
const (
	assumedDisagreement = 0.10
	assumedPower        = 0.80
)

// Warnings says, before anything runs, which quality guards will probably end
// undetermined because the suite is too small, and which name a stratum that
// the suite does not have. counts holds items by workload and stratum, as the
// suite's selection gives them.
//
// The sample size is that of the non-inferiority test by the normal
// distribution at 10 % disagreement, 80 % power and no true difference.
func Warnings(c *spec.Campaign, counts map[string]map[string]int) []string {
	out := mixed(c)
	eachQuality(c, counts, func(name string, p *guard.Program, stratum string, have int) {
		out = append(out, warnings(name, stratum, p, have, c.Confidence())...)
	})
	return out
}

// expand turns the field strata into names; "" is the overall set.
func expand[V any](field string, strata map[string]V) []string {
	switch field {
	case "":
		return []string{""}
	case "all":
		return append([]string{""}, slices.Sorted(maps.Keys(strata))...)
	case "each":
		return slices.Sorted(maps.Keys(strata))
	}
	return []string{field}
}

func items(strata map[string]int, stratum string) int {
	if stratum != "" {
		return strata[stratum]
	}
	total := 0
	for _, n := range strata {
		total += n
	}
	return total
}

func warnings(name, stratum string, p *guard.Program, have int, confidence float64) []string {
	where := place(name, stratum, "")
	if have == 0 {
		return []string{fmt.Sprintf("%s: the suite has no items there, so the guard will be undetermined", where)}
	}
	var out []string
	if r := (rule{p}); r.onPoint() {
		out = append(out, fmt.Sprintf("%s: `%s` rests on an estimate, which chance moves; with %s items name lo or hi, the ends of its interval", where, p.Rule(), metric.Thousands(have)))
	}
	for _, b := range p.Bounds() {
		if end := b.Path[strings.LastIndexByte(b.Path, '.')+1:]; end == "hi" && b.Op[0] == '>' || end == "lo" && b.Op[0] == '<' {
			out = append(out, fmt.Sprintf("%s: `%s %s %s` holds until the opposite is shown; a guard against loss names lo, one against gain hi", where, b.Path, b.Op, guard.FormatNumber(b.Value)))
		}
		margin, ok := marginOf(b)
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s %s %s", b.Path, b.Op, guard.FormatNumber(b.Value))
		size, err := stats.SizeNonInferior(assumedDisagreement, margin, 0, (1-confidence)/2, assumedPower)
		switch {
		case err != nil:
			out = append(out, fmt.Sprintf("%s: `%s` can hold only if the candidate is truly better by more than the limit; no number of items is enough without that", where, text))
		case size.Items > have:
			out = append(out, fmt.Sprintf("%s: `%s` at %.0f %% disagreement needs about %s items; the suite has %s (%.0f %% power, no true difference, %s %% interval)",
				where, text, 100*assumedDisagreement, metric.Thousands(size.Items), metric.Thousands(have), 100*assumedPower, guard.FormatNumber(100*confidence)))
		}
	}
	return out
}

// onPoint reports whether the rule compares an estimate and no interval.
func (r rule) onPoint() bool {
	point := false
	for _, p := range r.measuredPaths() {
		name := p[strings.LastIndexByte(p, '.')+1:]
		if name == "lo" || name == "hi" {
			return false
		}
		point = point || name == "delta" || name == "mean_b" || p == "candidate.mean" || p == "candidate.accuracy"
	}
	return point
}

// marginOf reads "lower limit > -M" and "upper limit < M"; other bounds, and
// bounds on the estimate, have no sample size of this kind.
func marginOf(b guard.Bound) (margin float64, ok bool) {
	end := b.Path[strings.LastIndexByte(b.Path, '.')+1:]
	switch {
	case end == "lo" && strings.HasPrefix(b.Op, ">"):
		return -b.Value, true
	case end == "hi" && strings.HasPrefix(b.Op, "<"):
		return b.Value, true
	}
	return 0, false
}

// place names one guard instance.
func place(guard, stratum, cell string) string {
	switch {
	case stratum != "":
		return fmt.Sprintf("guard %s, stratum %s", guard, stratum)
	case cell != "":
		return fmt.Sprintf("guard %s, %s", guard, cell)
	}
	return "guard " + guard
}
