package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/stats"
)

// What a calibration must have to count as one.
const (
	MinLabels   = 30   // labels with a verdict of the judge
	MaxUnjudged = 0.05 // share of the labels without one
)

// Calibration tells how a judge agrees with people.
type Calibration struct {
	Judge       string              `json:"judge"`
	Model       string              `json:"model,omitempty"` // as the endpoint names it
	Points      int                 `json:"points,omitempty"`
	MinKappa    float64             `json:"min_kappa"`
	Confidence  float64             `json:"confidence"`
	Labels      int                 `json:"labels"`
	Unjudged    map[string]int      `json:"unjudged,omitempty"` // reason -> labels without a verdict
	Agreement   stats.Agreement     `json:"agreement"`
	ByCandidate map[string]Bias     `json:"by_candidate,omitempty"`
	Calibrated  bool                `json:"calibrated"`
	Why         string              `json:"why"`
	Rows        []LabelledJudgement `json:"rows"` // in the order of the labels file
}

// Bias is the mean of judged - human over the answers of one candidate.
type Bias struct {
	N        int            `json:"n"`
	Mean     float64        `json:"mean"`
	Interval stats.Interval `json:"interval"`
}

// LabelledJudgement is one label beside the judge's verdict.
type LabelledJudgement struct {
	Key       string   `json:"key"`
	Candidate string   `json:"candidate,omitempty"`
	Human     float64  `json:"human"`
	Judged    *float64 `json:"judged"` // nil = no verdict
	Reason    string   `json:"reason"`
}

// Calibrate compares verdicts with labels.
func Calibrate(name string, points int, minKappa, confidence float64, rows []LabelledJudgement) (Calibration, error) {
	c := Calibration{Judge: name, Points: points, MinKappa: minKappa, Confidence: confidence, Labels: len(rows), Rows: rows}
	human, judged := c.Pairs("")
	var err error
	if c.Agreement, err = stats.Agree(human, judged, confidence); err != nil {
		return c, err
	}
	candidates := map[string]bool{}
	for _, r := range rows {
		if r.Candidate != "" {
			candidates[r.Candidate] = true
		}
		if r.Judged == nil {
			if c.Unjudged == nil {
				c.Unjudged = map[string]int{}
			}
			c.Unjudged[r.Reason]++
		}
	}
	for _, cand := range slices.Sorted(maps.Keys(candidates)) {
		h, j := c.Pairs(cand)
		a, err := stats.Agree(h, j, confidence)
		if err != nil {
			return c, err
		}
		if c.ByCandidate == nil {
			c.ByCandidate = map[string]Bias{}
		}
		c.ByCandidate[cand] = Bias{a.N, a.Bias, a.BiasInterval}
	}
	c.Calibrated, c.Why = c.verdict()
	return c, nil
}

// Pairs are the scores of people and of the judge where both exist, of one
// candidate's answers or, with "", of all.
func (c *Calibration) Pairs(candidate string) (human, judged []float64) {
	for _, r := range c.Rows {
		if r.Judged != nil && (candidate == "" || r.Candidate == candidate) {
			human, judged = append(human, r.Human), append(judged, *r.Judged)
		}
	}
	return human, judged
}

func (c *Calibration) verdict() (bool, string) {
	a, lost := c.Agreement, c.Labels-c.Agreement.N
	switch {
	case a.N < MinLabels:
		return false, fmt.Sprintf("%d of %d labels have a verdict of the judge, at least %d are needed", a.N, c.Labels, MinLabels)
	case float64(lost) > MaxUnjudged*float64(c.Labels):
		return false, fmt.Sprintf("the judge gave no verdict on %d of %d labels", lost, c.Labels)
	case a.Kappa == nil:
		return false, "all labels and all verdicts are the same, so agreement says nothing; label wrong answers too"
	case !a.KappaInterval.Defined:
		return false, "kappa has no interval: too few labels differ; label more wrong (or more right) answers"
	case a.KappaInterval.Lo <= c.MinKappa:
		return false, fmt.Sprintf("kappa is %.2f [%.2f, %.2f], and its lower end must be above %.2f", *a.Kappa, a.KappaInterval.Lo, a.KappaInterval.Hi, c.MinKappa)
	}
	return true, fmt.Sprintf("kappa %.2f [%.2f, %.2f] on %d labels", *a.Kappa, a.KappaInterval.Lo, a.KappaInterval.Hi, a.N)
}
