package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
	"github.com/cupel-dev/cupel/stages/trace"
)

// joules says what is derived from the recordings of an energy workload. None of it
// is in the key of a cell.
type joules struct {
	Of          string              `json:"of"` // kind of the workload whose requests were sent
	Bases       []string            `json:"bases"`
	Coarsest    float64             `json:"coarsest"`
	Processes   int                 `json:"processes"`
	KWh         *float64            `json:"kWh,omitempty"`
	Currency    string              `json:"currency,omitempty"`
	Elsewhere   []elsewhere         `json:"elsewhere,omitempty"` // recordings that the campaign names, in its order
	Calibration *energy.Calibration `json:"calibration,omitempty"`
}

// elsewhere is how the clock of a recording is declared.
type elsewhere struct {
	Offset string `json:"offset,omitempty"`
	Error  string `json:"error,omitempty"`
}

func newJoules(c *spec.Campaign, cand string, e *spec.Energy) *joules {
	if e == nil {
		return nil
	}
	j := &joules{Of: c.Measure[e.Of].Kind, Bases: e.Bases, Coarsest: e.Coarsest, Processes: e.Processes}
	if cost := c.Publish.Cost; cost != nil && cost.KWh != nil {
		j.KWh, j.Currency = cost.KWh, cost.Currency
	}
	for _, t := range e.Traces[cand] {
		j.Elsewhere = append(j.Elsewhere, elsewhere{t.Offset, t.OffsetError})
	}
	if k := e.Calibration; k != nil {
		j.Calibration = &energy.Calibration{Base: k.Base, A: k.A, B: k.B, R2: k.R2, N: k.N, Meter: k.Meter}
		if k.Data != nil {
			j.Calibration.SHA256 = k.Data.Digest.String()
		}
	}
	return j
}

// recordedInput and elsewhereInput are the names under which a metrics step opens the
// recording of a cell, and those that the campaign names.
func recordedInput(cell string, trial int) string { return cellInput(cell, trial) + "-energy" }

func elsewhereInput(i int) string { return fmt.Sprintf("recording-%d", i+1) }

// energy derives the performance of a point and the energy of the same requests.
func (p *metricsParams) energy(job step.Job, blocks []measured, o metric.CellOptions, out *evidence.LoadMetrics) error {
	of, err := p.recordings(job, blocks, o.Name)
	if err != nil {
		return err
	}
	cells := []metric.Cell{}
	if p.Energy.Of == "bench" {
		cells = metric.NewBench(o, trialsOf(blocks))
	} else {
		cells = append(cells, metric.NewCell(o, trialsOf(blocks)))
	}
	out.Cells = append(out.Cells, noted(cells, blocks)...)
	out.Calibration = p.Energy.Calibration
	for _, c := range cells {
		out.Energy = append(out.Energy, p.joulesOf(c.Name, o, of, blocks))
	}
	return nil
}

// joulesOf is the energy of one cell. Of a bench each prompt is a cell, whose requests
// took turns with the others': only what single requests took is its own.
func (p *metricsParams) joulesOf(name string, o metric.CellOptions, of []energy.Trial, blocks []measured) energy.Cell {
	group := p.Energy.Of == "bench" && name != metric.BenchAll
	if group {
		of = slices.Clone(of)
		for i, t := range of {
			of[i].Requests = slices.DeleteFunc(slices.Clone(t.Requests), func(r metric.Request) bool { return r.Group != name })
		}
	}
	c := energy.NewCell(energy.Options{
		Name: name, Streams: o.Concurrency, Bases: p.Energy.Bases, Coarsest: p.Energy.Coarsest, Processes: p.Energy.Processes,
		KWh: p.Energy.KWh, Currency: p.Energy.Currency, Protocol: metric.Protocol(p.Protocol), Shared: group,
	}, of)
	for _, b := range blocks {
		c.Doubts = append(c.Doubts, meterDoubts(&b.head)...)
	}
	return c
}

// recordings puts the trace beside each trial: one that the campaign names and that
// was made while it ran, else the cell's own.
func (p *metricsParams) recordings(job step.Job, blocks []measured, cell string) ([]energy.Trial, error) {
	named, err := p.named(job)
	if err != nil {
		return nil, err
	}
	var out []energy.Trial
	for _, b := range blocks {
		own, err := readTraceOf(job, recordedInput(cell, b.head.Trial))
		if err != nil {
			return nil, err
		}
		t := energy.Trial{Requests: b.trial.Requests, StartUnixNS: b.head.StartUnixNS, WallNS: b.head.WallNS}
		p.metered = append(p.metered, stretch{t.StartUnixNS, t.StartUnixNS + t.WallNS})
		if m := b.head.Energy; m != nil {
			t.GPUs, t.Local = m.GPUs, m.Meter == evidence.MeterLocal
			if m.Clock != nil {
				t.Clock = *m.Clock
			}
			if m.Idle != nil {
				t.Idle = &energy.Span{Start: m.Idle.StartUnixNS, End: m.Idle.EndUnixNS}
			}
		}
		if i := covering(named, stretch{t.StartUnixNS, t.StartUnixNS + t.WallNS}); i >= 0 {
			t.Trace, t.Local = named[i].trace, false
		} else if own.None != nil {
			t.None = own.None.Reason
		} else {
			t.Trace = own
		}
		out = append(out, t)
	}
	return out, nil
}

// declare writes a declared offset into a trace as what it stands for: exchanges of
// the two clocks at its beginning and at its end, whose answers are as uncertain as
// the offset. It returns the offset in ns.
func (e elsewhere) declare(t *trace.Trace) (int64, error) {
	ahead, off := time.Duration(0), time.Duration(0)
	var err error
	if e.Offset != "" {
		if ahead, err = time.ParseDuration(e.Offset); err != nil {
			return 0, err
		}
	}
	if off, err = time.ParseDuration(e.Error); err != nil {
		return 0, err
	}
	t.Offsets = nil
	for _, at := range []int64{0, t.LastT} {
		there := t.WallNS + at
		here := there - int64(ahead)
		t.Offsets = append(t.Offsets, trace.Noted[trace.Offset]{T: at, V: trace.Offset{Sent: here - int64(off), There: there, Received: here + int64(off)}})
	}
	return int64(ahead), nil
}

func readTraceOf(job step.Job, input string) (*trace.Trace, error) {
	r, err := job.Open(input)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := trace.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	return t, nil
}
