package measure

import (
	"math"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// calibration bounds the requests that find out how long a token is, and how
// many a request has besides its text.
const calibration = 10

// cost is what a cell sends at most, warm-up and calibration included.
func (p *cellParams) cost(trial, traceRows int) step.Cost {
	n, limit := p.requests(trial, traceRows), sampling(p.Sampling, p.Reasoning, 0).MaxTokens
	if d := p.Workload.Decode; d != nil {
		limit = d.OutputTokens
	}
	return step.Cost{Requests: n, Tokens: n * limit, AtLeast: p.Energy != nil && p.Workload.OpenLoop == nil}
}

func (p *cellParams) requests(trial, traceRows int) int {
	n, w := p.timed(trial, traceRows), p.Workload
	switch { // the untimed run before the timed part of an energy cell
	case p.Energy == nil:
	case w.Capacity != nil:
		n += w.Capacity.Requests
	case w.Decode != nil:
		n += w.Decode.Requests
	case w.Bench != nil:
		n += n - 1
	}
	return n
}

// timed is what a cell sends that is no energy cell.
func (p *cellParams) timed(trial, traceRows int) int {
	w := p.Workload
	switch {
	case w.Capacity != nil:
		return w.Capacity.Requests + w.Capacity.Warmup + calibrating(w.Capacity.Prompt)
	case p.Of != nil:
		return w.Replicas.Count * (p.Of.Requests + p.Of.Warmup + calibrating(p.Of.Prompt))
	case w.OpenLoop != nil:
		o := w.OpenLoop
		if o.Arrivals.Process == "trace" {
			return o.Warmup + traceRows + calibration
		}
		return o.Warmup + calibrating(o.Prompt) + planned(o.Arrivals, p.Rate, o.Seed, trial)
	case w.Search != nil:
		return calibrating(w.Search.Prompt) + p.probes()*(w.Search.Warmup+p.probed())
	case w.Decode != nil:
		return w.Decode.Requests + w.Decode.Warmup
	case w.Ladder != nil && w.Ladder.State == "cold":
		return w.Ladder.Requests + calibration
	case w.Ladder != nil:
		return w.Ladder.Requests + 1 + calibration
	case w.EffectiveContext != nil:
		items, _ := contextItems(*w.EffectiveContext, "") // the run says why there are none
		return len(items) + calibration
	case w.PrefixBurst != nil:
		return p.Concurrency + calibration
	case w.Bench != nil:
		return 1 + w.Bench.Runs*len(prompts.Bench("", w.Bench.Prompts))
	}
	return 0
}

func calibrating(p spec.CapacityPrompt) int {
	if prompts.Calibrates(p) {
		return calibration
	}
	return 0
}

// planned counts the arrivals of a schedule by drawing it.
func planned(a spec.Arrivals, rate float64, seed int64, trial int) int {
	s, err := arrival.Plan(a, rate, seed, trial, nil)
	if err != nil {
		return 0 // the run says why
	}
	return len(s.Offsets)
}

// probed is how many requests one probe of a search has at most. A Poisson
// window stays below its mean and six standard deviations.
func (p *cellParams) probed() int {
	s := p.Workload.Search
	if s.Over == "concurrency" {
		return max(s.Requests, int(s.High))
	}
	d, err := time.ParseDuration(s.Duration)
	if err != nil {
		return 0
	}
	mean := s.High * d.Seconds()
	if s.Process == "constant" {
		return int(math.Ceil(mean))
	}
	return int(math.Ceil(mean + 6*math.Sqrt(mean)))
}

// probes is how many points a search looks at, at most.
func (p *cellParams) probes() int {
	s := p.Workload.Search
	n := 2 + s.Confirm
	width := s.Tolerance * s.Low
	if s.Over == "concurrency" {
		width = 1
	}
	for low, high := s.Low, s.High; high-low > width && n < arrival.MaxProbes; n++ {
		high = (low + high) / 2
	}
	return n
}
