package publish

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Judged says in sentences what a judge's scores are worth; nothing when no
// judge made them.
func Judged(c *evidence.Comparison) []string {
	j := c.Judged
	if j == nil {
		return nil
	}
	if j.Calibration == nil {
		return []string{fmt.Sprintf("judged by %s, not calibrated: %s", j.Judge, j.Reason)}
	}
	out := Calibrated(j.Calibration)
	out[0] = "judged by " + out[0]
	if j.Baseline != nil && j.Candidate != nil {
		out = append(out, fmt.Sprintf("means corrected by the labels (PPI, with standard errors): %s %s, %s %s",
			c.Baseline, corrected(j.Baseline), c.Candidate, corrected(j.Candidate)))
	}
	if d := j.Delta; d != nil {
		out = append(out, fmt.Sprintf("difference corrected by the labels of both sides: %+.4f %s", d.Value, ends(d.Interval(j.Calibration.Confidence), "%+.4f")))
	}
	if j.Note != "" {
		out = append(out, j.Note)
	}
	return out
}

// Calibrated says how a judge agrees with people; the first sentence begins with
// its name.
func Calibrated(c *judge.Calibration) []string {
	word := "calibrated"
	if !c.Calibrated {
		word = "not calibrated"
	}
	a := c.Agreement
	out := []string{fmt.Sprintf("%s, %s: %s", c.Judge, word, c.Why)}
	if a.N == 0 {
		return out
	}
	text := fmt.Sprintf("it agrees with people on %s of %s labels %s", thousands(a.Exact.K), thousands(a.N), ends(a.Exact.Interval, "%.3f"))
	if a.Sensitivity != nil {
		text += fmt.Sprintf("; of right answers it passes %d of %d, of wrong ones %d of %d",
			a.Sensitivity.K, a.Sensitivity.N, a.Specificity.N-a.Specificity.K, a.Specificity.N)
	}
	out = append(out, text, fmt.Sprintf("its bias, judged minus human, is %+.3f %s", a.Bias, ends(a.BiasInterval, "%+.3f")))
	for _, cand := range slices.Sorted(maps.Keys(c.ByCandidate)) {
		b := c.ByCandidate[cand]
		out = append(out, fmt.Sprintf("on %s labels of %s it is %+.3f %s", thousands(b.N), cand, b.Mean, ends(b.Interval, "%+.3f")))
	}
	return out
}

// corrected is PPI and not PPI++, which also leans on the labels' own mean: labels
// are often drawn so that wrong answers are many.
func corrected(p *stats.Powered) string {
	return fmt.Sprintf("%.4f +- %.4f (judged %.4f)", p.PPI.Value, p.PPI.SE, p.Naive)
}

func ends(iv stats.Interval, format string) string {
	if !iv.Defined {
		return "[no interval: " + because(string(iv.Reason)) + "]"
	}
	return fmt.Sprintf("["+format+", "+format+"]", iv.Lo, iv.Hi)
}
