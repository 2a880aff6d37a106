package measure

import (
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/pin"
)

// The kinds of this package and their revisions.
const (
	KindGenerate = "generate"
	KindCell     = "cell"
	KindMetrics  = "metrics"
	KindJudge    = "judge"
	KindMeter    = "meter"

	generateRevision = 2 // reasoning tokens, errors in the stream and tool calls of equal bytes read otherwise
	judgeRevision    = 1
	cellRevision     = 4 // a search judges its client by the bounds of the SLO
	metricsRevision  = 6 // no rate where the first event holds many tokens, or reasoning was not sent; energy
	meterRevision    = 1
)

// The names under which a step opens what is not another step's output.
const (
	itemsInput = "items"
	traceInput = "trace"
	meterInput = "meter" // what can be read of a candidate's energy

	answersInput    = "answers"       // what a judge judges
	answersPinInput = "candidate-pin" // of the candidate that gave them
	labelsInput     = "labels"
)

// Steps returns what has to be sent for a campaign and, for its load, the
// steps that derive metrics, in a fixed order.
func Steps(c *spec.Campaign) []step.Step { return Planner{}.Steps(c) }

// Planner makes the steps of candidates of which it is known where they run.
type Planner struct {
	// Apart says why candidates cannot take turns, "" = they can. A workload that
	// does not ask for an order is then measured one candidate after the other.
	Apart string
}

// Steps is [Steps] with what is known of the candidates.
func (by Planner) Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	turns := by.ranks(c)
	for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
		if hasEnergy(c) {
			steps = append(steps, meterStep(cand))
		}
		for _, work := range slices.Sorted(maps.Keys(c.Measure)) {
			w := c.Measure[work]
			switch {
			case w.Quality != nil:
				for t := 1; t <= trials(c, cand, work); t++ {
					steps = append(steps, generateStep(c, cand, work, t))
					if name, ok := judge.Of(c, w.Quality); ok {
						steps = append(steps, judgeStep(c, cand, work, name, t))
					}
				}
			case w.Serving() && w.Imported == nil: // stages/imported
				steps = append(steps, by.cellSteps(c, cand, work, turns)...)
				steps = append(steps, metricsStep(c, cand, work))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Judges)) {
		if c.Judges[name].Labels != nil {
			steps = append(steps, labelsStep(name, c.Judges[name]))
		}
	}
	return steps
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
	s.Hints, s.Grows = plain(generateHints{Retries: q.Retries, Timeout: q.Timeout}), &grows
	s.Inputs[itemsInput] = evidence.ItemsOf(q)
	showMedia(&s, q.Suite.Media)
	s.Cost = cost(q.Suite.Count*q.Samples*q.Repeats, who)
	return s
}

// cellSteps are a candidate's steps of one serving workload, one per point and
// trial. Interleaved ones wait until it is known which candidates are up.
func (by Planner) cellSteps(c *spec.Campaign, cand, work string, turns map[turn]slot) []step.Step {
	w, who := c.Measure[work], c.Candidates[cand]
	behind := preflights(c)
	if by.sequential(w) {
		behind = nil
	}
	var steps []step.Step
	for _, at := range w.Points(c.Measure) {
		for t := 1; t <= w.Repeats(c.Measure); t++ {
			s := measuring(c, cand)
			s.Name, s.Kind, s.Revision, s.Trial = evidence.CellStep(cand, work, at.Cell, t), KindCell, cellRevision, t
			p := newCellParams(who, w, c.Measure, at)
			s.Params = plain(p)
			s.Behind = behind
			when := turns[turn{work, at.Cell, t, cand}]
			s.Rank, s.Hints = when.rank, plain(cellHints{Order: when.position, Apart: by.apart(w)})
			rows := 0
			if w.Energy != nil {
				s.Inputs[meterInput] = step.Input{Step: evidence.MeterStep(cand), Output: evidence.OutMeter}
			}
			if o := sent(w, c.Measure).OpenLoop; o != nil && o.Arrivals.Trace != nil {
				s.Inputs[traceInput] = step.Input{Blob: o.Arrivals.Trace.Digest, Path: o.Arrivals.Trace.Path}
				rows = o.Arrivals.Trace.Lines
			}
			s.Cost = p.cost(t, rows)
			steps = append(steps, s)
		}
	}
	return steps
}

func preflights(c *spec.Campaign) (out []string) {
	for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
		out = append(out, evidence.PreflightStep(cand))
	}
	return out
}

// metricsStep derives a candidate's metrics on one workload from all its cells.
func metricsStep(c *spec.Campaign, cand, work string) step.Step {
	p := newMetricsParams(c, cand, work)
	s := step.Step{
		Name: evidence.MetricsStep(cand, work), Kind: KindMetrics, Revision: metricsRevision, Pure: true, Where: cand,
		Params: plain(p), Inputs: map[string]step.Input{},
	}
	for _, at := range p.Points {
		for t := 1; t <= p.Trials; t++ {
			from := evidence.CellStep(cand, work, at.Cell, t)
			s.Inputs[cellInput(at.Cell, t)] = step.Input{Step: from, Output: evidence.OutCell}
			s.Inputs[scrapesInput(at.Cell, t)] = step.Input{Step: from, Output: evidence.OutScrapes}
			if p.Energy != nil {
				s.Inputs[recordedInput(at.Cell, t)] = step.Input{Step: from, Output: evidence.OutTrace}
			}
		}
	}
	if e := c.Measure[work].Energy; e != nil {
		for i, t := range e.Traces[cand] {
			s.Inputs[elsewhereInput(i)] = step.Input{Blob: t.File.Digest, Path: t.File.Path}
		}
	}
	return s
}

func cost(requests int, who spec.Candidate) step.Cost {
	return step.Cost{Requests: requests, Tokens: requests * sampling(who.Sampling, who.Reasoning, 0).MaxTokens}
}
