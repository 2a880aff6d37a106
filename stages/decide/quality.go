package decide

import (
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Quality is what the rule of a guard on a quality workload may name. One
// value of it describes one stratum, or the overall set, of one comparison.
// Differences are candidate minus baseline.
type Quality struct {
	Lo           *float64 `cel:"lo" interval:"lo" doc:"lower limit of the difference of the means, by the campaign's interval"`
	Hi           *float64 `cel:"hi" interval:"hi" doc:"upper limit of the difference of the means, by the campaign's interval"`
	Delta        *float64 `cel:"delta" interval:"point" doc:"difference of the means"`
	N            float64  `cel:"n" doc:"paired items"`
	B            float64  `cel:"b" doc:"items on which only the baseline is right"`
	C            float64  `cel:"c" doc:"items on which only the candidate is right"`
	Disagreement *float64 `cel:"disagreement" doc:"share of items whose scores differ"`
	MeanA        *float64 `cel:"mean_a" doc:"mean of the baseline over paired items"`
	MeanB        *float64 `cel:"mean_b" doc:"mean of the candidate over paired items"`
	Boot         Limits   `cel:"boot" doc:"bootstrap percentile interval"`
	Tango        Limits   `cel:"tango" doc:"Tango's score interval, for 0/1 scores"`
	T            Limits   `cel:"t" doc:"Student's t interval"`
	BCa          Limits   `cel:"bca" doc:"bias-corrected and accelerated bootstrap interval"`
	Noise        *Noise   `cel:"noise" doc:"the baseline against itself"`
	Candidate    *Side    `cel:"candidate" doc:"the candidate's own scores"`
	Baseline     *Side    `cel:"baseline" doc:"the baseline's own scores"`
	Cost         Costs    `cel:"cost" doc:"what the answers took, of the whole workload"`
	Prior        Priors   `cel:"prior"`
}

// Costs are those of the whole workload, whatever the stratum.
type Costs struct {
	Per1kItems    Pair `cel:"per_1k_items" doc:"money for a thousand items"`
	Per1kCorrect  Pair `cel:"per_1k_correct" doc:"money for a thousand correct items"`
	Per1kItemsGPU Pair `cel:"gpu_hours_per_1k_items" doc:"GPU hours for a thousand items"`
}

// Pair is a number of both sides.
type Pair struct {
	Candidate *float64 `cel:"candidate"`
	Baseline  *float64 `cel:"baseline"`
}

// Limits are the two ends of a named interval.
type Limits struct {
	Lo *float64 `cel:"lo" interval:"lo"`
	Hi *float64 `cel:"hi" interval:"hi"`
}

// Noise is the noise floor of the same stratum. Its interval is a fact about
// the baseline, so it does not move when the candidate's is collapsed.
type Noise struct {
	Lo           *float64 `cel:"lo" doc:"lower limit of the baseline's second run minus its first"`
	Hi           *float64 `cel:"hi" doc:"upper limit of the baseline's second run minus its first"`
	Delta        *float64 `cel:"delta" doc:"baseline's second run minus its first"`
	N            float64  `cel:"n" doc:"items in both runs of the baseline"`
	Rate         *float64 `cel:"rate" doc:"the same as noise.disagreement"`
	Disagreement *float64 `cel:"disagreement" doc:"share of items on which the baseline differs from itself"`
	Excess       *float64 `cel:"excess" doc:"disagreement of the candidate minus noise.disagreement"`
}

// Side is one candidate's own scores.
type Side struct {
	Mean           *float64 `cel:"mean" doc:"mean score over scored items"`
	Accuracy       *float64 `cel:"accuracy" doc:"the same as mean"`
	TruncationRate *float64 `cel:"truncation_rate" doc:"truncated answers / answers"`
	FailureRate    *float64 `cel:"failure_rate" doc:"answers without a usable output / answers"`
	OutputTokens   *float64 `cel:"output_tokens" doc:"sum over answers"`
	PromptTokens   *float64 `cel:"prompt_tokens" doc:"sum over answers"`
	Items          float64  `cel:"items" doc:"items of the workload"`
	Scored         float64  `cel:"scored" doc:"items with a score"`
}

// own lists the fields of a side that count one side's answers and rest on no
// pairing.
var own = map[string]bool{
	"truncation_rate": true, "failure_rate": true, "output_tokens": true, "prompt_tokens": true, "items": true, "scored": true,
}

// facts are the values for one evaluation and the reasons of absent ones.
type facts struct {
	vars any
	why  map[string]string
	span string // the interval that the rule names, as text; "" when it names none or several
}

// qualityFacts describes one stratum of c; "" is the overall set. ok is false
// when the comparison has no such stratum.
func qualityFacts(c *evidence.Comparison, floor *evidence.NoiseFloor, stratum string, costs [2]metric.Cost) (f facts, s stats.Summary, ok bool) {
	s, ok = stratumOf(c.Stats, stratum)
	if !ok {
		return facts{}, s, false
	}
	f.why = map[string]string{}
	q := Quality{
		Lo: s.Lo, Hi: s.Hi, Delta: s.Delta, N: float64(s.N),
		B: float64(s.Discordant.B), C: float64(s.Discordant.C),
		Disagreement: s.Disagreement.Rate, MeanA: s.MeanA, MeanB: s.MeanB,
		Boot:  f.limits("boot", s.Intervals.Bootstrap),
		Tango: f.limits("tango", s.Intervals.Tango),
		T:     f.limits("t", s.Intervals.T),
		BCa:   f.limits("bca", s.Intervals.BCa),
	}
	for _, path := range []string{"lo", "hi", "delta", "disagreement", "mean_a", "mean_b"} {
		f.why[path] = string(s.Reason)
	}
	q.Noise = f.noise(floor, stratum, s.Disagreement.Rate)
	q.Candidate = f.side("candidate", c.CandidateScores, stratum)
	q.Baseline = f.side("baseline", c.BaselineScores, stratum)
	q.Cost = f.costs(costs[0], costs[1])
	f.vars = q
	return f, s, true
}

func (f *facts) costs(candidate, baseline metric.Cost) Costs {
	pair := func(name string, a, b metric.Value) Pair {
		return Pair{f.value("cost."+name+".candidate", a), f.value("cost."+name+".baseline", b)}
	}
	return Costs{
		Per1kItems:    pair("per_1k_items", candidate.Per1kItems, baseline.Per1kItems),
		Per1kCorrect:  pair("per_1k_correct", candidate.Per1kCorrect, baseline.Per1kCorrect),
		Per1kItemsGPU: pair("gpu_hours_per_1k_items", candidate.Per1kItemsGPU, baseline.Per1kItemsGPU),
	}
}

func stratumOf(r stats.Result, stratum string) (stats.Summary, bool) {
	if stratum == "" {
		return r.Overall, true
	}
	s, ok := r.Strata[stratum]
	return s, ok
}

func (f *facts) limits(path string, iv stats.Interval) Limits {
	lo, hi := iv.Bounds()
	f.why[path] = string(iv.Reason)
	return Limits{lo, hi}
}

func (f *facts) noise(floor *evidence.NoiseFloor, stratum string, disagreement *float64) *Noise {
	if floor == nil {
		f.why["noise"] = noNoiseFloor
		return nil
	}
	s, ok := stratumOf(floor.Stats, stratum)
	if !ok {
		f.why["noise"] = noStratum
		return nil
	}
	f.why["noise"] = string(s.Reason)
	n := &Noise{Lo: s.Lo, Hi: s.Hi, Delta: s.Delta, N: float64(s.N), Rate: s.Disagreement.Rate, Disagreement: s.Disagreement.Rate}
	if n.Rate != nil && disagreement != nil {
		excess := *disagreement - *n.Rate
		n.Excess = &excess
	}
	return n
}

func (f *facts) side(path string, scores evidence.ScoreSummary, stratum string) *Side {
	g, ok := scores.Overall, true
	if stratum != "" {
		g, ok = scores.Strata[stratum]
	}
	if !ok {
		f.why[path] = noStratum
		return nil
	}
	return &Side{
		Mean: f.value(path+".mean", g.Mean), Accuracy: f.value(path+".accuracy", g.Mean),
		TruncationRate: f.value(path+".truncation_rate", g.TruncationRate),
		FailureRate:    f.value(path+".failure_rate", g.FailureRate),
		OutputTokens:   f.value(path+".output_tokens", g.OutputTokens),
		PromptTokens:   f.value(path+".prompt_tokens", g.PromptTokens),
		Items:          float64(g.Items), Scored: float64(g.Scored),
	}
}

func (f *facts) value(path string, v metric.Value) *float64 {
	f.why[path] = v.Reason
	return v.Value
}
