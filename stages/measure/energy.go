package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/meter"
)

// Meter is what records the energy of a candidate's machine.
type Meter struct {
	Record meter.Record // nil = there is none
	Remote bool         // it is on another machine, whose clock is another
	GPUs   []string     // UUIDs or indices that the binding selects, empty = all
	Reason string       // code: why there is none
	Detail string
}

// energyParams are what the cells of an energy workload depend on besides the
// workload whose requests they send. What is asked of the recording is not among
// them: it is derived anew.
type energyParams struct {
	Window  string `json:"window"`
	Settle  string `json:"settle"`
	Idle    string `json:"idle"`
	Cooling string `json:"cooling"`
}

func newEnergyParams(e *spec.Energy) *energyParams {
	if e == nil {
		return nil
	}
	return &energyParams{e.Window, e.Settle, e.Idle, e.Cooling}
}

// sent is the workload whose requests a workload sends: its own, but for energy.
func sent(w spec.Workload, all map[string]spec.Workload) spec.Workload {
	if w.Energy == nil {
		return w
	}
	return all[w.Energy.Of]
}

// kind is that of the campaign's workload.
func (p *cellParams) kind() string {
	if p.Energy != nil {
		return "energy"
	}
	return p.Workload.Kind
}

// times are energyParams that were read.
type times struct{ window, settle, idle, cooling time.Duration }

func (e *energyParams) times() (t times, err error) {
	for _, of := range []struct {
		name, text string
		to         *time.Duration
	}{{"window", e.Window, &t.window}, {"settle", e.Settle, &t.settle}, {"idle", e.Idle, &t.idle}, {"cooling", e.Cooling, &t.cooling}} {
		if *of.to, err = time.ParseDuration(of.text); err != nil || *of.to < 0 {
			return t, fmt.Errorf("%s: %q is not a duration; write it like 60s", of.name, of.text)
		}
	}
	return t, nil
}

// The bounds of what a slow counter can ask for. What falls short of it says so.
const (
	mostStretch = 30 * time.Minute // a window that is made longer than the campaign's
	mostIdle    = 15 * time.Minute // likewise
	mostSent    = mostRows - 1000  // requests of a cell, of which a bench sends a few more
)

// idlePeriods is how many publication periods the look at the idle machine has: twenty
// are needed, of a period that is not known exactly yet.
const idlePeriods = 21

// wanted is the length that the timed part should have: the campaign's, or that at
// which what its ends may be off by is 1 % of it.
func (t times) wanted(ends time.Duration) time.Duration { return max(t.window, 100*ends) }

// stretched is the length that it is made to have.
func (t times) stretched(ends time.Duration) time.Duration {
	return max(t.window, min(t.wanted(ends), mostStretch))
}

func (t times) rest(period time.Duration) time.Duration {
	return max(t.idle, min(idlePeriods*period, mostIdle))
}

// metered measures one cell beside its meter. Everything is within one recording:
// the warm-up and a pilot run that tells how fast the candidate is, the idle machine,
// and then one block, of which both performance and energy are known.
func (c Cell) metered(ctx context.Context, at *station, p *cellParams, lay layout, out *cellFile) error {
	t, err := p.Energy.times()
	if err != nil {
		return err
	}
	rec, err := c.record(ctx, at)
	if err != nil {
		return err
	}
	defer rec.abandon()
	b, err := rec.prepare(ctx, lay, t)
	if err != nil {
		return err
	}
	b.gate = func(ctx context.Context) error { return rec.quiet(ctx, t) }
	last, err := at.run(ctx, b)
	if err != nil {
		return err
	}
	if err := rec.finish(ctx); err != nil {
		last.close()
		return err
	}
	if c.Clock != nil {
		rec.run.Clock = new(c.Clock())
	}
	last.head.Energy = &rec.run
	return out.add(last)
}

// prepare brings the candidate to the point at which only the block that it returns
// is missing.
func (r *recorder) prepare(ctx context.Context, lay layout, t times) (*block, error) {
	if err := lay.start(ctx, r.at); err != nil {
		return nil, err
	}
	loop, closed := lay.(closedLoop)
	if !closed {
		r.run.WantedNS, r.run.PeriodNS = int64(t.wanted(r.ends())), int64(r.period())
		return lay.next(nil)
	}
	rate, err := r.pilot(ctx, loop)
	if err != nil {
		return nil, err
	}
	if err := r.watch(ctx); err != nil {
		return nil, err
	}
	r.run.WantedNS, r.run.PeriodNS, r.run.PilotRate = int64(t.wanted(r.ends())), int64(r.period()), &rate
	return loop.long(int(min(math.Ceil(spare*rate*t.stretched(r.ends()).Seconds()), mostSent)))
}

// spare is by how much more is sent than the pilot's rate says: a block that ends too
// soon cannot be made longer.
const spare = 1.15

// pilot runs the workload once, untimed, and returns requests per second as they would
// be if it went on.
func (r *recorder) pilot(ctx context.Context, loop closedLoop) (float64, error) {
	b, err := loop.pilot()
	if err != nil {
		return 0, err
	}
	b.keep, b.checked = true, true
	t, err := r.at.run(ctx, b)
	if err != nil {
		return 0, err
	}
	defer t.close()
	if err := t.hopeless(); err != nil {
		return 0, err
	}
	return goingOn(t), nil
}

// goingOn is the rate of a block without its beginning and its end, in which not all
// clients are busy: that of clients who each ask again as soon as they are answered. They
// are as many as were seen in flight at once: of more, nothing is known.
func goingOn(t *timed) float64 {
	rate := float64(len(t.kept)) / max(float64(t.head.WallNS)/1e9, 1e-9)
	sum, n := t.answered(true)
	if n < t.head.MaxInFlight {
		sum, n = t.answered(false)
	}
	if sum > 0 {
		rate = max(rate, float64(t.head.MaxInFlight)*float64(n)/(float64(sum)/1e9))
	}
	return rate
}

// answered adds up how long the n answers took that came, or of these those to whom all
// others were ahead: the first of each client finds an engine that is not busy yet.
func (t *timed) answered(later bool) (sum int64, n int) {
	first := int64(math.MaxInt64)
	for _, r := range t.kept {
		first = min(first, r.Dispatched+r.End)
	}
	for _, r := range t.kept {
		if r.FailureClass == "" && r.End > 0 && (!later || r.Dispatched >= first) {
			sum, n = sum+r.End, n+1
		}
	}
	return sum, n
}

// gpusOf are the UUIDs of what serves the candidate, nil = they are not known. Of an
// instance of a GPU nothing is counted by itself.
func gpusOf(ctx context.Context, at *station) ([]string, error) {
	seen, err := at.Hardware(ctx)
	if err != nil {
		return nil, fmt.Errorf("hardware: %w", err)
	}
	if seen.Shown.Report == nil {
		return nil, nil
	}
	var out []string
	for _, g := range seen.Shown.Report.GPUs {
		if g.UUID == nil || strings.HasPrefix(*g.UUID, "MIG-") {
			return nil, nil
		}
		out = append(out, *g.UUID)
	}
	slices.Sort(out)
	return out, nil
}

// fellShort says that a timed part was shorter than it was to be, "" = it was not.
func fellShort(h *evidence.CellHeader) string {
	if h.Energy == nil || h.WallNS >= h.Energy.WantedNS {
		return ""
	}
	return fmt.Sprintf("it lasted %.3g s, and %.3g s were wanted", float64(h.WallNS)/1e9, float64(h.Energy.WantedNS)/1e9)
}

// meterDoubts are what a reader of a cell's energy should know of its measurement.
func meterDoubts(h *evidence.CellHeader) (out []string) {
	add := func(s string) {
		if s != "" {
			out = append(out, fmt.Sprintf("trial %d: %s", h.Trial, s))
		}
	}
	add(fellShort(h))
	if m := h.Energy; m != nil {
		add(m.Unsteady)
		if m.Failure != "" {
			add("the recording is not whole: " + m.Failure)
		}
	}
	return out
}
