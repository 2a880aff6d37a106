package measure

import (
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// metricsParams says which cells are derived, and how they are to be read.
type metricsParams struct {
	Workload string       `json:"workload"`
	Kind     string       `json:"kind"`
	Protocol string       `json:"protocol"`
	Points   []point      `json:"points"`
	Trials   int          `json:"trials"`
	SLO      *spec.SLO    `json:"slo,omitempty"`
	Cached   bool         `json:"cached,omitempty"` // prompt tokens from a cache are no surprise, or are looked at by rung
	Ladder   *rung        `json:"ladder,omitempty"`
	Decode   int          `json:"decode,omitempty"` // output tokens that an answer must have
	Search   *spec.Search `json:"search,omitempty"` // what decides where a search goes
	Policy   *policy      `json:"policy,omitempty"` // effective-context
	Replicas int          `json:"replicas,omitempty"`
	Energy   *joules      `json:"energy,omitempty"`

	metered []stretch // trials of an energy workload that were derived so far
}

// point is one operating point that was measured.
type point struct {
	Cell        string  `json:"cell"`
	Concurrency int     `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	Tokens      int     `json:"tokens,omitempty"`
}

// rung is what the prompts of a ladder depend on besides their length.
type rung struct {
	State string `json:"state"`
	Seed  int64  `json:"seed,omitempty"`
	Salt  string `json:"salt"` // see cellParams.salt
}

// policy is what a context length must meet; see metric.Policy.
type policy struct {
	Baseline int     `json:"baseline"`
	Floor    float64 `json:"floor"`
	MaxDrop  float64 `json:"maxDrop"`
}

func newMetricsParams(c *spec.Campaign, cand, work string) metricsParams {
	w := c.Measure[work]
	under := c.Measure[of(w)].Capacity
	of := sent(w, c.Measure)
	p := metricsParams{Workload: work, Kind: w.Kind, Trials: w.Repeats(c.Measure), Protocol: settings(of, under).protocol, Energy: newJoules(c, cand, w.Energy)}
	for _, at := range w.Points(c.Measure) {
		p.Points = append(p.Points, point{at.Cell, at.Concurrency, at.Rate, at.Tokens})
	}
	p.read(of, under)
	return p
}

// read fills in what the kind of w adds.
func (p *metricsParams) read(w spec.Workload, under *spec.Capacity) {
	switch {
	case w.Capacity != nil:
		p.SLO, p.Cached = w.Capacity.SLO, w.Capacity.Prompt.Cache == "shared"
	case w.Replicas != nil && under != nil:
		p.SLO, p.Cached, p.Replicas = under.SLO, under.Prompt.Cache == "shared", w.Replicas.Count
	case w.OpenLoop != nil:
		p.SLO, p.Cached = w.OpenLoop.SLO, w.OpenLoop.Prompt.Cache == "shared"
	case w.Search != nil:
		s := w.Search
		p.SLO, p.Cached = &s.SLO, s.Prompt.Cache == "shared"
		p.Search = &spec.Search{Over: s.Over, Low: s.Low, High: s.High, SLO: s.SLO, Attain: s.Attain, Tolerance: s.Tolerance, Confirm: s.Confirm}
	case w.Decode != nil:
		p.Decode, p.Cached = w.Decode.OutputTokens, true // short prompts are mostly the chat template
	case w.Ladder != nil:
		p.Cached, p.Ladder = true, &rung{w.Ladder.State, w.Ladder.Seed, (&cellParams{Workload: forCell(w)}).salt()}
	case w.EffectiveContext != nil:
		p.Cached = true // the answers count, not how fast they come
		if profile, err := prompts.ProfileOf(*w.EffectiveContext); err == nil && len(profile.Buckets) > 0 {
			p.Policy = &policy{profile.Buckets[0], profile.Floor, profile.MaxDrop}
		}
	case w.PrefixBurst != nil, w.Bench != nil:
		p.Cached = true
	}
}
