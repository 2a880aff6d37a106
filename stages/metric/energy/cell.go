package energy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// NewCell derives the energy of a cell from its trials: everything pooled, and each
// trial by itself in PerTrial. A trial that is refused refuses what is pooled, by its
// reason: to leave it out would choose the trials by how they came out.
func NewCell(o Options, trials []Trial) Cell {
	runs := make([]*run, len(trials))
	per := make([]Cell, len(trials))
	for i := range trials {
		runs[i] = newRun(&o, &trials[i])
		per[i] = cellOf(&o, runs[i:i+1])
		per[i].Plot = nil // once is enough: it is in the cell
	}
	c := cellOf(&o, runs)
	c.PerTrial = per
	return c
}

func cellOf(o *Options, runs []*run) Cell {
	c := Cell{Name: o.Name, Trials: len(runs), Bases: []Of{}}
	for _, b := range o.Bases {
		c.Bases = append(c.Bases, pooled(o, b, runs))
	}
	c.Asiai = asiaiOf(o, runs)
	c.about(o, runs)
	for i, r := range runs {
		for _, d := range r.doubts {
			if len(runs) > 1 {
				d = fmt.Sprintf("trial %d: %s", i+1, d)
			}
			c.Doubts = append(c.Doubts, d)
		}
	}
	if len(runs) > 0 && len(o.Bases) > 0 {
		c.Plot = runs[0].plot(o.Bases[0])
	}
	return c
}

// about fills in what the machine was like.
func (c *Cell) about(o *Options, runs []*run) {
	of := func(f func(r *run) num) []num {
		ns := make([]num, len(runs))
		for i, r := range runs {
			if why := cmp.Or(r.why, r.cellWhy); why != "" && !r.told() {
				ns[i] = none(why)
				continue
			}
			ns[i] = f(r)
		}
		return ns
	}
	share := func(of []num) metric.Value { return worst(of).in(unitShare) }
	c.ThermalShare = share(of(func(r *run) num { return r.share([]span{r.cell}, heat) }))
	c.PowerCapShare = share(of(func(r *run) num { return r.share([]span{r.cell}, caps) }))
	c.StartC = worst(of(func(r *run) num { return r.startC(r.cell) })).in(unitC)
	c.ClockErrorMS = worst(of(func(r *run) num { return have(float64(r.off) / 1e6) })).in(unitMS)
	c.PowerLimitW = same(of((*run).limit), metric.PowerLimitChanged).in(unitW)
	c.IdleCV = metric.Null(metric.NoIdle, unitPct)
	if len(o.Bases) > 0 {
		readings := readingsOf(runs, o.Bases[0])
		c.IdleCV = idleOf(runs, readings, differing(runs, readings)).cv.in(unitPct)
	}
}

// told reports whether the trial could be placed on its trace, whatever else is
// wrong with it: then what the machine was like is known.
func (r *run) told() bool { return r.cell != span{} }

// limit is the sum of the enforced power limits.
func (r *run) limit() num {
	w := num{}
	for _, gpu := range r.gpus {
		limit, known := r.limits[gpu]
		if !known {
			return none(metric.NotReported)
		}
		w.v += limit
	}
	if len(r.gpus) == 0 {
		return none(metric.NotReported)
	}
	return have(w.v)
}

// same is what all are, or none when they differ.
func same(ns []num, why string) num {
	w := worst(ns)
	if w.why == "" && slices.ContainsFunc(ns, func(n num) bool { return n.v != w.v }) {
		return none(why)
	}
	return w
}

// pooled is one base over the trials.
func pooled(o *Options, base string, runs []*run) Of {
	out := Of{Base: base, Domains: []string{}, Devices: []string{}, Windows: map[Window]Measured{}}
	readings := readingsOf(runs, base)
	var periods []num
	for i, r := range runs {
		period := num{v: float64(r.period(readings[i])) / 1e6, why: cmp.Or(r.why, readings[i].why)}
		if period.why == "" && period.v == 0 {
			period.why = cmp.Or(r.stopped(readings[i]), metric.NotBracketed)
		}
		periods = append(periods, period)
	}
	if len(runs) > 0 {
		first := readings[0]
		out.Digest, out.Domains, out.Devices = first.digest, first.domains, first.devices
	}
	differ := differing(runs, readings)
	if differ != "" {
		out.Digest = ""
	}
	out.PublicationMS = worst(periods).in(unitMS)
	still := idleOf(runs, readings, differ)
	out.LoadedIdleW = still.w.in(unitW)
	for _, w := range Windows {
		parts := make([]part, len(runs))
		for i, r := range runs {
			parts[i] = r.part(readings[i], w)
			parts[i].net = of(parts[i].net, still.w, func(net, _ float64) num { return have(net) })
		}
		if differ != "" {
			parts = append(parts, refused(differ))
		}
		if o.Shared && (w == Steady || w == Whole) {
			parts = []part{refused(metric.Overlapping)}
		}
		out.Windows[w] = measuredOf(o, parts)
	}
	return out
}

// reading is the base as the trial's trace has it.
func (r *run) reading(base string) *reading {
	if r.tr == nil || r.tr.None != nil {
		return &reading{base: base, why: r.why, domains: []string{}, devices: []string{}, rails: []string{}}
	}
	return read(r.tr, base, r.gpus, r.t.GPUs != nil)
}

func readingsOf(runs []*run, base string) []*reading {
	readings := make([]*reading, len(runs))
	for i, r := range runs {
		readings[i] = r.reading(base)
	}
	return readings
}

// idleOf is the loaded idle over the trials.
func idleOf(runs []*run, readings []*reading, differ string) idle {
	idles := make([]idle, len(runs))
	for i, r := range runs {
		idles[i] = r.idle(readings[i])
	}
	return pooledIdle(idles, differ)
}

// stopped is why a channel of the base has no curve at all.
func (r *run) stopped(rd *reading) string {
	for _, c := range rd.channels {
		if why := r.curve(c).why; why != "" && !r.unmoved(c) {
			return why
		}
	}
	return ""
}

// differing is why the trials must not be pooled: of what is there, the domains, the
// power limits or the drivers are not the same.
func differing(runs []*run, readings []*reading) string {
	digest, driver, limit := "", "", num{}
	for i, r := range runs {
		if r.why != "" || readings[i].why != "" {
			continue
		}
		if digest == "" {
			digest, limit = readings[i].digest, r.limit()
		}
		has := driverOf(r.tr, r.gpus, r.cell)
		driver = cmp.Or(driver, has)
		switch {
		case readings[i].digest != digest:
			return metric.BasesDiffer
		case r.limit() != limit:
			return metric.PowerLimitChanged
		case has != "" && has != driver:
			return metric.DriverChanged
		}
	}
	return ""
}
