package measure

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/metric"
)

// cellParams is what a cell depends on besides its pin, its trial and the
// trace that it may replay. Workload has exactly the fields of its kind, with
// those cleared that change no request; see forCell.
type cellParams struct {
	Cell        string          `json:"cell"`
	Concurrency int             `json:"concurrency,omitempty"`
	Rate        float64         `json:"rate,omitempty"`
	Tokens      int             `json:"tokens,omitempty"`
	Workload    spec.Workload   `json:"workload"`
	Of          *spec.Capacity  `json:"of,omitempty"` // what the replicas of a replicas workload run
	Sampling    spec.Sampling   `json:"sampling"`
	Reasoning   *spec.Reasoning `json:"reasoning,omitempty"`
	System      string          `json:"systemPrompt,omitempty"`
	Energy      *energyParams   `json:"energy,omitempty"` // of an energy workload, whose requests are those of Workload

	trace   string // digest of the trace, which is an input
	attempt string // see Cell.Attempt; "" = prompts are meant to be known
}

// cellHints say what does not change a cell: where it stands in the plan.
type cellHints struct {
	Order int    `json:"order,omitempty"` // position among the interleaved cells of its workload, from 1
	Apart string `json:"apart,omitempty"` // why the candidates do not take turns, "" = as the campaign says
}

func newCellParams(c spec.Candidate, w spec.Workload, all map[string]spec.Workload, at spec.Point) cellParams {
	p := cellParams{
		Cell: at.Cell, Concurrency: at.Concurrency, Rate: at.Rate, Tokens: at.Tokens,
		Workload: forCell(sent(w, all)), Sampling: c.Sampling, Reasoning: c.Reasoning, System: c.SystemPrompt,
		Energy: newEnergyParams(w.Energy),
	}
	if w.Replicas != nil {
		p.Of = forCell(all[w.Replicas.Of]).Capacity
	}
	return p
}

// forCell copies a workload without what its cells do not depend on: the other
// points and trials, which are steps of their own, the order in which the
// candidates take turns, and what is only asked of the result. The protocol is:
// it says how times are read. A search reads them as it goes.
func forCell(w spec.Workload) spec.Workload {
	out := spec.Workload{Kind: w.Kind}
	switch {
	case w.Capacity != nil:
		c := *w.Capacity
		c.Concurrency, c.Trials, c.SLO, c.Order, c.Protocol = nil, 0, nil, "", ""
		out.Capacity = &c
	case w.OpenLoop != nil:
		c := *w.OpenLoop
		c.Arrivals.Rates, c.Arrivals.Trace, c.Trials, c.SLO, c.Order, c.Protocol = nil, nil, 0, nil, "", ""
		out.OpenLoop = &c
	case w.Search != nil:
		c := *w.Search
		c.Order = ""
		out.Search = &c
	case w.Decode != nil:
		c := *w.Decode
		c.Concurrency, c.Trials, c.Order = nil, 0, ""
		out.Decode = &c
	case w.Ladder != nil:
		c := *w.Ladder
		c.Tokens, c.Trials, c.Order, c.Protocol = nil, 0, "", ""
		out.Ladder = &c
	case w.EffectiveContext != nil:
		c := *w.EffectiveContext
		c.Concurrency, c.Floor, c.MaxDrop, c.Order = 0, nil, nil, ""
		out.EffectiveContext = &c
	case w.PrefixBurst != nil:
		c := *w.PrefixBurst
		c.Clients, c.Trials, c.Order, c.Protocol = nil, 0, "", ""
		out.PrefixBurst = &c
	case w.Replicas != nil:
		c := *w.Replicas
		c.Of, c.Order = "", ""
		out.Replicas = &c
	case w.Bench != nil:
		c := *w.Bench
		c.Order = ""
		out.Bench = &c
	}
	return out
}

// undeclared is the protocol of kinds that declare none. Without reasoning it
// is capacity-v3; with it, tokens are counted from where they begin.
const undeclared = string(metric.CapacityV4Reasoning)

// common are the settings that every kind has under its own name.
type common struct {
	protocol string
	timeout  string
	coolDown string
	order    string
	seed     int64
	warmup   int
}

// settings returns what w has in common with the other kinds. of is the
// capacity workload that a replicas workload runs.
func settings(w spec.Workload, of *spec.Capacity) common {
	switch {
	case w.Capacity != nil:
		c := w.Capacity
		return common{c.Protocol, c.Timeout, c.CoolDown, c.Order, c.Seed, c.Warmup}
	case w.OpenLoop != nil:
		c := w.OpenLoop
		return common{c.Protocol, c.Timeout, c.CoolDown, c.Order, c.Seed, c.Warmup}
	case w.Search != nil:
		c := w.Search
		return common{c.Protocol, c.Timeout, c.CoolDown, c.Order, c.Seed, c.Warmup}
	case w.Decode != nil:
		c := w.Decode
		return common{undeclared, c.Timeout, c.CoolDown, c.Order, c.Seed, c.Warmup}
	case w.Ladder != nil:
		c := w.Ladder
		return common{c.Protocol, c.Timeout, c.CoolDown, c.Order, c.Seed, 0}
	case w.EffectiveContext != nil:
		c := w.EffectiveContext
		return common{undeclared, c.Timeout, "", c.Order, c.Seed, 0}
	case w.PrefixBurst != nil:
		c := w.PrefixBurst
		return common{c.Protocol, c.Timeout, c.CoolDown, c.Order, c.Seed, 0}
	case w.Replicas != nil && of != nil:
		return common{of.Protocol, of.Timeout, of.CoolDown, w.Replicas.Order, of.Seed, of.Warmup}
	case w.Bench != nil:
		return common{undeclared, w.Bench.Timeout, "", w.Bench.Order, 0, 1}
	case w.Energy != nil:
		return common{order: w.Energy.Order} // the rest is that of the workload under it
	}
	return common{}
}

// place tells the prompts of a point apart from those of a point of the same
// name in another workload, which would otherwise find them in a cache. Equal
// workloads have equal places, and equal keys.
func (p *cellParams) place(point string) string { return placed(point, p.salt()+p.attempt) }

func placed(point, salt string) string { return point + "/" + salt }

// shared reports whether the workload's prompts are meant to be known already.
func (p *cellParams) shared() bool {
	w := p.Workload
	switch {
	case w.Capacity != nil:
		return w.Capacity.Prompt.Cache == "shared"
	case w.OpenLoop != nil:
		return w.OpenLoop.Prompt.Cache == "shared"
	case w.Search != nil:
		return w.Search.Prompt.Cache == "shared"
	case p.Of != nil:
		return p.Of.Prompt.Cache == "shared"
	}
	return false
}

// calibrating is the place of prompts that are only counted. It is the cell's
// and trial's own: an engine may leave out of its count what it has seen.
func (p *cellParams) calibrating(trial int) string {
	return p.place(fmt.Sprintf("%s-t%d/calibration", p.Cell, trial))
}

// salt is the same for all cells of a workload, whoever the candidate is, and
// another one for each workload that asks for anything else.
func (p *cellParams) salt() string {
	parts := slices.Concat(plain(p.Workload), plain(p.Of), []byte(p.trace))
	if p.Energy != nil {
		parts = append(parts, plain(p.Energy)...)
	}
	return step.Sum(parts).String()[:16]
}

func (p *cellParams) common() common { return settings(p.Workload, p.Of) }

func (p *cellParams) check() error {
	if !p.Workload.Serving() || (p.Workload.Kind == "replicas") != (p.Of != nil) {
		return fmt.Errorf("workload of kind %q has no cells", p.Workload.Kind)
	}
	c := p.common()
	if p.Workload.Search != nil {
		if err := knownProtocol(c.protocol); err != nil {
			return err
		}
	}
	if p.Concurrency < 0 || c.warmup < 0 {
		return fmt.Errorf("concurrency %d after %d of warm-up cannot be measured", p.Concurrency, c.warmup)
	}
	if _, err := duration(c.coolDown); err != nil {
		return fmt.Errorf("coolDown: %w", err)
	}
	return nil
}

func knownProtocol(name string) error {
	if slices.Contains([]metric.Protocol{metric.CapacityV3, metric.CapacityV4Reasoning}, metric.Protocol(name)) {
		return nil
	}
	return step.WithHint(fmt.Errorf("protocol %q is not known", name), "use capacity-v3 or capacity-v4-reasoning")
}

// nothing refuses a cell that sends nothing.
func (p *cellParams) nothing(requests int) error {
	return fmt.Errorf("%d requests at concurrency %d cannot be measured", requests, p.Concurrency)
}

func duration(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration; write it like 90s or 10m", s)
	}
	return d, nil
}

func plain(params any) json.RawMessage {
	b, err := json.Marshal(params)
	if err != nil {
		panic("measure: parameters are plain data: " + err.Error())
	}
	return b
}
