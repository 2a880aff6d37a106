package measure

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin"
)

// search looks for the largest rate or concurrency that holds the SLO, one
// block a probe.
type search struct {
	loaded
	w   *spec.Search
	way searchWay
}

// searchWay is the way of a search. A probe that failed because of the client
// says nothing about the engine, so it is made again before it counts.
type searchWay struct {
	*arrival.Bisection
	again int
}

// clientTries is how often a probe that the client failed is made again.
const clientTries = 2

// tell takes a probe and reports whether it is to be made again.
func (w *searchWay) tell(p metric.Probe) (again bool) {
	if (p.Why == clientBound || p.Why == offRate) && w.again < clientTries {
		w.again++
		return true
	}
	w.again = 0
	w.Tell(p.Holds)
	return false
}

func newSearch(p *cellParams, head evidence.CellHeader) (*search, error) {
	w := p.Workload.Search
	probe, err := arrival.NewBisection(*w)
	if err == nil && w.Over == "concurrency" && w.Requests < 1 {
		err = p.nothing(w.Requests)
	}
	return &search{w: w, way: searchWay{Bisection: probe}, loaded: loaded{
		p: p, head: head, prompt: w.Prompt, output: w.Output, seed: w.Seed, warmup: w.Warmup,
	}}, err
}

func (s *search) conns() int {
	if s.w.Over == "concurrency" {
		return int(s.w.High)
	}
	return min(max(s.p.probed(), 1), mostInFlight) // a plan may have more requests; their connections are not kept
}

func (s *search) start(ctx context.Context, at *station) error {
	return s.calibrate(ctx, at, s.cell(s.p.Cell, 0, 0))
}

func (s *search) next(last *timed) (*block, error) {
	if last != nil {
		if err := gone(last); err != nil {
			return nil, err
		}
		s.way.tell(look(s.w, s.w.Protocol, last.head, last.trial()))
	}
	at, trial, done := s.way.Next()
	if done {
		return nil, nil
	}
	b, err := s.at(at, trial)
	if err != nil {
		return nil, fmt.Errorf("probe of %v: %w", at, err)
	}
	b.keep, b.head.Probe = true, &at
	return b, nil
}

// at is the block of one probe. Each has prompts and arrivals of its own.
func (s *search) at(at float64, trial int) (*block, error) {
	l := s.loaded
	l.head.Trial = trial + 1000*s.way.again // of the prompts; the step's own is 1
	if s.w.Over == "concurrency" {
		n := max(s.w.Requests, int(at)) // fewer could not keep all clients busy
		b, err := l.block(l.cell(spec.ConcurrencyCell(int(at)), int(at), n))
		if err != nil {
			return nil, err
		}
		b.workers = int(at)
		b.head.Concurrency, b.head.Trial = b.workers, s.head.Trial
		return b, nil
	}
	a := spec.Arrivals{Process: s.w.Process, Duration: s.w.Duration}
	if a.Process == "" {
		a.Process = "poisson"
	}
	plan, err := arrival.Plan(a, at, s.w.Seed, trial, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.block(l.cell(spec.RateCell(at), 0, len(plan.Offsets)))
	if err != nil {
		return nil, err
	}
	b.open(plan, a, at, s.w.Seed)
	b.head.Trial = s.head.Trial
	return b, nil
}

// gone tells a load that was too much from an endpoint that is not there any
// more: nothing succeeded, and not because there was too much to do.
func gone(t *timed) error {
	if t.ok > 0 {
		return nil
	}
	for _, class := range []llm.Class{llm.ClassUnreachable, llm.ClassAuth, llm.ClassNotFound, llm.ClassProtocol} {
		if f := t.outside.first[class]; f != nil {
			return step.WithHint(fmt.Errorf("the endpoint answers no request any more: %w", pin.Outside(f)), "nothing was kept; run again when the endpoint is well")
		}
	}
	return nil
}

// trial is a block as the metric dictionary takes it, without what the engine
// says of itself: a search goes by what its clients saw.
func (t *timed) trial() metric.Trial {
	h := &t.head
	return clientTrial(h, t.kept)
}

func clientTrial(h *evidence.CellHeader, requests []metric.Request) metric.Trial {
	out := metric.Trial{
		Requests: requests, WallNS: h.WallNS, CPUNS: h.CPUSelfNS, Unsent: h.Unsent,
		MaxInFlight: h.MaxInFlight, InFlightNS: h.InFlightNS, StartUnixNS: h.StartUnixNS,
		SelfCheck: h.SelfCheck, Pulse: h.Pulse, Nominal: h.Prompts.CalibratedBy == "nominal",
	}
	if h.Arrivals != nil {
		out.WindowNS, out.Planned = h.Arrivals.WindowNS, h.Arrivals.Planned
	}
	return out
}

// Why a probe does not hold, besides the reasons for which there is no number.
const (
	sloMissed   = "slo-missed"
	clientBound = "client-bound"
	offRate     = "off-rate"
)

// lagOfBound is the share of the smallest bound in time that a stamp may be
// late by, for a probe to be judged by that bound.
const lagOfBound = 0.01

// look says whether a probe holds the SLO. What the client could not do itself
// does not hold: nothing was shown. Nor is the SLO missed where its requests
// would have met it but for the time that the client was held up.
func look(w *spec.Search, protocol string, head evidence.CellHeader, t metric.Trial) metric.Probe {
	o := options(head.Cell, protocol, head.Concurrency, 0, &w.SLO)
	if head.Arrivals != nil {
		o.Rate = head.Arrivals.Rate
	}
	o.LagMS = lagOfBound * smallest(o.SLO)
	t.Server = nil
	c := metric.NewCell(o, []metric.Trial{t})
	p := metric.Probe{Attained: c.SLOAttained}
	if head.Probe != nil {
		p.At = *head.Probe
	}
	switch v := c.SLOAttained.Value; {
	case v == nil:
		p.Why = c.SLOAttained.Reason
	case *v < w.Attain && !(c.ClientBound && attainedBut(heldUp(&c, t.Pulse), o, t) >= w.Attain):
		p.Why = sloMissed
	case c.ClientBound:
		p.Why = clientBound
	case c.OffRate:
		p.Why = offRate
	default:
		p.Holds = true
	}
	return p
}

// smallest is the smallest bound on a time of a whole request, in ms; 0 when
// there is none or a time per token is bounded too.
func smallest(s *metric.SLO) (least float64) {
	if s == nil || s.TPOT > 0 {
		return 0
	}
	for _, b := range []float64{s.TTFT, s.TTFO, s.E2E} {
		if b > 0 && (least == 0 || b < least) {
			least = b
		}
	}
	return least
}

// heldUp is how much longer than the engine's a request's time may be, in ms.
func heldUp(c *metric.Cell, p *metric.Pulse) (late float64) {
	if c.ClientLag.Value != nil {
		late = *c.ClientLag.Value
	}
	if p != nil {
		late += float64(p.Frozen) / 1e6
	}
	return late
}

// attainedBut is the share of requests that meet the SLO when the client is
// given late ms more for each of its bounds.
func attainedBut(late float64, o metric.CellOptions, t metric.Trial) float64 {
	more := *o.SLO
	for _, b := range []*float64{&more.TTFT, &more.TTFO, &more.TPOT, &more.E2E} {
		if *b > 0 {
			*b += late
		}
	}
	o.SLO = &more
	if v := metric.NewCell(o, []metric.Trial{t}).SLOAttained.Value; v != nil {
		return *v
	}
	return 0
}

// options say what a cell is and how it is to be read.
func options(name, protocol string, concurrency int, rate float64, slo *spec.SLO) metric.CellOptions {
	o := metric.CellOptions{Name: name, Protocol: metric.Protocol(protocol), Concurrency: concurrency, Rate: rate}
	if slo != nil {
		o.SLO = &metric.SLO{TTFT: slo.TTFT, TTFO: slo.TTFO, TPOT: slo.TPOT, E2E: slo.E2E}
	}
	return o
}
