package decide

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// gates holds the warnings of the statistics that say that the interval in use
// is too narrow or unstable: a rule that names it is undetermined. All other
// warnings are noted.
var gates = map[string]bool{
	stats.WarnSmallSample: true, stats.WarnFewDifferences: true, stats.WarnFewClusters: true,
	stats.WarnClustersIgnored: true, stats.WarnFewResamples: true,
}

// cheapLoss is the share of the items that may be without a score for what the
// others cost to be judged.
const cheapLoss = 0.01

// doubts says what keeps a verdict on this stratum from being one, and what
// else is to be noted.
func doubts(r rule, c *evidence.Comparison, floor *evidence.NoiseFloor, s stats.Summary, stratum string) (blocks, notes []string) {
	if why := r.lost(c.Attrition); why != "" {
		blocks = append(blocks, attrition+": "+why)
	}
	blocks = append(blocks, r.cheapFailures(c)...)
	block, note := r.judged(c.Judged)
	blocks, notes = append(blocks, block...), append(notes, note...)
	if r.compares() {
		if floor != nil && floor.Drift {
			blocks = append(blocks, drift+": "+sentences[drift])
		}
		if s.N > 0 && s.MeanA != nil && s.MeanB != nil && *s.MeanA == 0 && *s.MeanB == 0 {
			blocks = append(blocks, allZero+": "+sentences[allZero])
		}
	}
	for _, w := range append(warningsOf(r, s), resultOnly(c.Stats, s, stratum)...) {
		text := w.Code + ": " + w.Message
		notes = append(notes, text)
		if w.Code != "" && gates[w.Code] && len(r.intervals()) > 0 {
			blocks = append(blocks, text)
		}
	}
	if g := s.Regression; g != nil && g.Flagged {
		notes = append(notes, fmt.Sprintf("regression: significantly worse than the baseline in this stratum (one-sided p = %.2g, Holm over all strata)", g.PHolm))
	}
	return blocks, notes
}

// judged says why a judge's scores decide nothing, and what is to be noted of
// them. What the judge thinks does not touch how long answers took or how many
// were cut.
func (r rule) judged(j *evidence.Judged) (blocks, notes []string) {
	if j == nil || !r.namesScores() {
		return nil, nil
	}
	why := j.Reason
	if c := j.Calibration; c != nil {
		if c.Calibrated {
			return nil, []string{fmt.Sprintf("judged by %s: %s", j.Judge, c.Why)}
		}
		why = c.Why
	}
	text := fmt.Sprintf("%s: judge %s is not calibrated: %s", uncalibrated, j.Judge, why)
	if j.Uncalibrated {
		return nil, []string{text + " (the campaign lets it decide)"}
	}
	return []string{text}, nil
}

// namesScores reports whether the rule names a number that scores make.
func (r rule) namesScores() bool {
	for _, p := range r.measuredPaths() {
		name := p[strings.LastIndexByte(p, '.')+1:]
		if !own[name] && (!strings.HasPrefix(p, "cost.") || strings.HasPrefix(p, "cost.per_1k_correct")) {
			return true
		}
	}
	return false
}

// cheapFailures says of which side too many items have no score for a rule on
// the cost: an engine that fails is fast, and its items count all the same.
func (r rule) cheapFailures(c *evidence.Comparison) (out []string) {
	if !r.names("cost") {
		return nil
	}
	for _, side := range []struct {
		name   string
		scores evidence.ScoreGroup
	}{{c.Candidate, c.CandidateScores.Overall}, {c.Baseline, c.BaselineScores.Overall}} {
		if lost := side.scores.Items - side.scores.Scored; float64(lost) > cheapLoss*float64(side.scores.Items) {
			out = append(out, fmt.Sprintf("%s: %s of %s items of %s have no score, and failing is cheap", attrition, metric.Thousands(lost), metric.Thousands(side.scores.Items), side.name))
		}
	}
	return out
}

// What a rule names decides how items without a score touch it.
var (
	// aboutLoss speaks of the lost items themselves.
	aboutLoss = map[string]bool{"failure_rate": true, "items": true, "scored": true}
	// survivors are means over the items that have a score.
	survivors = map[string]bool{"mean": true, "accuracy": true}
	// points are estimates that the policy bound cannot bound.
	points = map[string]bool{"delta": true, "mean_a": true, "mean_b": true, "disagreement": true, "b": true, "c": true}
)

// lost says why items without a score keep the rule from being decided, "" when
// they do not. Under zero the paired numbers take the lost items in; under bound
// the ends of the intervals do, and nothing else.
func (r rule) lost(a evidence.Attrition) string {
	if a.Total == 0 {
		return ""
	}
	for _, p := range r.measuredPaths() {
		name := p[strings.LastIndexByte(p, '.')+1:]
		switch {
		case strings.HasPrefix(p, "noise.") || strings.HasPrefix(p, "cost.") || aboutLoss[name]:
		case a.Policy == "zero" && survivors[name], a.Policy == "bound" && (survivors[name] || points[p]):
			return fmt.Sprintf("%s items could not be paired or scored, and %s is known of the others only", metric.Thousands(a.Total), p)
		case a.Policy != "zero" && a.Policy != "bound":
			return fmt.Sprintf("%s items could not be paired or scored, and the campaign states no policy (missing: zero or bound)", metric.Thousands(a.Total))
		}
	}
	return ""
}

// warningsOf are the warnings about the intervals that the rule names. The
// statistics warn of the campaign's own; the named ones that are computed
// beside it are looked at here, because they exist for any number of items.
func warningsOf(r rule, s stats.Summary) []stats.Warning {
	var out []stats.Warning
	moved := s.Discordant.B + s.Discordant.C
	for _, name := range r.intervals() {
		if name == "" {
			out = append(out, s.Warnings...)
			continue
		}
		if s.Clusters != nil {
			out = append(out, stats.Warning{Code: stats.WarnClustersIgnored, Message: fmt.Sprintf("%s takes items as independent, and they come in %d clusters; name lo and hi", name, s.Clusters.N)})
		}
		if name == "tango" {
			continue
		}
		if s.N < stats.MinItems {
			out = append(out, stats.Warning{Code: stats.WarnSmallSample, Message: fmt.Sprintf("%s is too narrow below %d items; there are %d", name, stats.MinItems, s.N)})
		}
		if moved < stats.MinDifferences {
			out = append(out, stats.Warning{Code: stats.WarnFewDifferences, Message: fmt.Sprintf("%s is too narrow below %d non-zero differences; there are %d", name, stats.MinDifferences, moved)})
		}
	}
	return out
}

// resultOnly are the warnings of the whole comparison that no stratum carries:
// they concern the overall set.
func resultOnly(r stats.Result, s stats.Summary, stratum string) []stats.Warning {
	if stratum != "" {
		return nil
	}
	var out []stats.Warning
	for _, w := range r.Warnings {
		if w.Stratum == "" && !contains(s.Warnings, w) {
			out = append(out, w)
		}
	}
	return out
}

func contains(list []stats.Warning, w stats.Warning) bool {
	for _, x := range list {
		if x == w {
			return true
		}
	}
	return false
}
