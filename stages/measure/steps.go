package measure

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/pin"
)

// The kinds of this package and their revisions.
const (
	KindGenerate = "generate"
	KindCell     = "cell"
	KindMetrics  = "metrics"

	generateRevision = 1
	cellRevision     = 1
	metricsRevision  = 1
)

// itemsInput is the name under which a generation opens its items.
const itemsInput = "items"

// Steps returns what has to be sent for a campaign and, for its load, the
// steps that derive metrics, in a fixed order.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
		for _, work := range slices.Sorted(maps.Keys(c.Measure)) {
			w := c.Measure[work]
			switch {
			case w.Quality != nil:
				for t := 1; t <= trials(c, cand, work); t++ {
					steps = append(steps, generateStep(c, cand, work, t))
				}
			case w.Capacity != nil:
				steps = append(steps, cellSteps(c, cand, work)...)
				steps = append(steps, metricsStep(cand, work, w.Capacity))
			}
		}
	}
	return steps
}

// Check says what a capacity workload asks for that no prompt can carry.
func Check(w *spec.Capacity) error {
	_, err := newPrompter(newCellParams(spec.Candidate{}, *w, 1), 1)
	return err
}

// trials is 2 when a noise floor of the candidate stands on the workload.
func trials(c *spec.Campaign, cand, work string) int {
	for _, w := range c.Measure {
		if n := w.NoiseFloor; n != nil && n.Candidate == cand && n.Suite == work {
			return 2
		}
	}
	return 1
}

// measuring is what every step that sends has in common.
func measuring(c *spec.Campaign, cand string) step.Step {
	return step.Step{
		Inputs:    map[string]step.Input{pin.Input: {Step: evidence.PinStep(cand), Output: evidence.OutPin}},
		After:     []string{evidence.PreflightStep(cand)},
		Resources: []string{"endpoint:" + cand},
		Where:     cand,
	}
}

func generateStep(c *spec.Campaign, cand, work string, trial int) step.Step {
	q, who := c.Measure[work].Quality, c.Candidates[cand]
	s := measuring(c, cand)
	s.Name, s.Kind, s.Revision, s.Trial = evidence.GenerateStep(cand, work, trial), KindGenerate, generateRevision, trial
	s.Params = plain(newGenerateParams(who, *q))
	s.Hints = plain(generateHints{Retries: q.Retries, Timeout: q.Timeout})
	s.Inputs[itemsInput] = step.Input{Blob: q.Suite.Items.Digest, Path: q.Suite.Items.Path}
	s.Cost = cost(q.Suite.Count*q.Samples*q.Repeats, who)
	return s
}

func cellSteps(c *spec.Campaign, cand, work string) []step.Step {
	capacity, who := c.Measure[work].Capacity, c.Candidates[cand]
	var steps []step.Step
	for _, n := range capacity.Concurrency {
		for t := 1; t <= capacity.Trials; t++ {
			s := measuring(c, cand)
			s.Name, s.Kind, s.Revision, s.Trial = evidence.CellStep(cand, work, n, t), KindCell, cellRevision, t
			s.Params = plain(newCellParams(who, *capacity, n))
			s.Cost = cost(capacity.Requests+capacity.Warmup, who)
			steps = append(steps, s)
		}
	}
	return steps
}

func metricsStep(cand, work string, capacity *spec.Capacity) step.Step {
	s := step.Step{
		Name: evidence.MetricsStep(cand, work), Kind: KindMetrics, Revision: metricsRevision, Pure: true, Where: cand,
		Params: plain(metricsParams{work, capacity.Protocol, capacity.Concurrency, capacity.Trials}),
		Inputs: map[string]step.Input{},
	}
	for _, n := range capacity.Concurrency {
		for t := 1; t <= capacity.Trials; t++ {
			s.Inputs[cellInput(n, t)] = step.Input{Step: evidence.CellStep(cand, work, n, t), Output: evidence.OutCell}
		}
	}
	return s
}

func cost(requests int, who spec.Candidate) step.Cost {
	return step.Cost{Requests: requests, Tokens: requests * sampling(who.Sampling, who.Reasoning, 0).MaxTokens}
}

func plain(params any) json.RawMessage {
	b, err := json.Marshal(params)
	if err != nil {
		panic("measure: parameters are plain data: " + err.Error())
	}
	return b
}
