package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// leastIdle is the shortest look at the idle machine that has a loaded idle, and
// idlePeriods how many periods of the slowest counter a look is made to last.
const (
	leastIdle   = 10 * time.Second
	idlePeriods = 21
)

// energyWarns are what the energy of a campaign will be refused for, as far as the meter
// of this machine shows it.
func energyWarns(c *spec.Campaign, here probed) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		e := c.Measure[name].Energy
		if e == nil {
			continue
		}
		of := foreseen{e, c.Measure[e.Of], here}
		for _, s := range slices.Concat(of.coarse(), of.still(), of.brief(), of.gpus()) {
			out = append(out, name+": "+s)
		}
	}
	return out
}

// foreseen is one energy workload on this machine.
type foreseen struct {
	e    *spec.Energy
	of   spec.Workload
	here probed
}

// length is how long a cell lasts, 0 = as long as its schedule, which is not known.
func (f foreseen) length() time.Duration {
	if o := f.of.OpenLoop; o != nil {
		return parsed(o.Arrivals.Duration)
	}
	window, _ := f.here.window(f.e)
	return window
}

// coarse tells of bases that are known less well than coarsest allows.
func (f foreseen) coarse() (out []string) {
	for _, name := range f.e.Bases {
		b, long := f.here.base(name), f.length()
		if b == nil || b.PeriodNS == nil || long == 0 {
			continue
		}
		if pct := quantised(time.Duration(*b.PeriodNS), long); pct > f.e.Coarsest {
			out = append(out, fmt.Sprintf("%s has a quantisation of %.2g %% in %s, and coarsest is %g: its energy will be refused (publication-too-coarse); raise coarsest or the length", name, pct, lasting(long), f.e.Coarsest))
		}
	}
	return out
}

// still tells of bases whose period is not known, since a counter of theirs changed less
// than twice: the period is more than half of the look.
func (f foreseen) still() (out []string) {
	for _, name := range f.e.Bases {
		b := f.here.base(name)
		if b == nil || b.PeriodNS != nil || f.here.probe.DurationNS == 0 {
			continue
		}
		look := time.Duration(f.here.probe.DurationNS)
		least, then := 50*look/2, "the window may be made longer"
		switch {
		case f.of.OpenLoop != nil:
			then = fmt.Sprintf("half a period is then more than 1 %% of a schedule below %s", lasting(least))
		case least > f.length():
			then = "the window will be longer than " + lasting(least)
		}
		out = append(out, fmt.Sprintf("%s did not change twice in %s: either it changes less often than every %s, and %s, or it stands still, and its energy will be refused (counter-frozen); cupel-meter probe --for 1m tells", name, lasting(look), lasting(look/2), then))
	}
	return out
}

// brief tells of a look at the idle machine that is too short for a loaded idle.
func (f foreseen) brief() []string {
	idle := parsed(f.e.Idle)
	if idle == 0 {
		return nil
	}
	for _, name := range f.e.Bases {
		b := f.here.base(name)
		if b != nil && b.PeriodNS == nil {
			return nil // it may be slow enough to make the look longer
		}
		if b != nil {
			idle = max(idle, idlePeriods*time.Duration(*b.PeriodNS))
		}
	}
	if idle >= leastIdle {
		return nil
	}
	return []string{fmt.Sprintf("the machine is looked at for %s while it is idle, and %s are needed: everything net and the loaded idle will be refused (idle-too-short); give idle 10s, or 0s to do without", lasting(idle), lasting(leastIdle))}
}

// gpus tells of GPUs whose energy is no candidate's own.
func (f foreseen) gpus() (out []string) {
	if f.here.report == nil || !slices.ContainsFunc(f.e.Bases, func(b string) bool { return strings.HasPrefix(b, "nv.") }) {
		return nil
	}
	for _, g := range f.here.report.GPUs {
		if g.MIG != nil && *g.MIG {
			out = append(out, fmt.Sprintf("GPU %d is partitioned: energy is counted for all of it, so that a candidate on it will have none (mig)", g.Index))
		}
		if n := len(g.Processes); n > f.e.Processes {
			out = append(out, fmt.Sprintf("GPU %d has %d compute processes now, and processes is %d: while they run, a candidate on it will have no energy (foreign-process)", g.Index, n, f.e.Processes))
		}
	}
	return out
}

// quantised is what the ends of a window may be off by, percent of it.
func quantised(period, window time.Duration) float64 {
	return 100 * float64(energy.Ends(int64(period), record.UsualLook)) / float64(window)
}

// identified asks the meter of this machine for its GPUs too, nil = they are not known:
// that it cannot be asked is told of the probe.
func identified(ctx context.Context) *hardware.Report {
	r, err := identify(ctx)
	if err != nil {
		return nil
	}
	return r
}
