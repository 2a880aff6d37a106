package energy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// asiaiOf derives what asiai's specification 0.5.0 defines. Its runs are requests
// that follow one another, so that there is none of it at another concurrency.
func asiaiOf(o *Options, runs []*run) Asiai {
	a := Asiai{Window: "turn", Rails: []string{}}
	if len(o.Bases) > 0 {
		a.Base = o.Bases[0]
	}
	if len(runs) > 0 && a.Base != "" {
		a.Rails = runs[0].reading(a.Base).rails
	}
	why := ""
	switch {
	case a.Base == "":
		why = metric.DomainMissing
	case o.Streams == 0:
		why = metric.OpenLoop
	case o.Streams != 1:
		why = metric.Overlapping
	case len(runs) == 0:
		why = metric.NoRequests
	}
	if why != "" {
		return a.without(none(why))
	}
	power := a.m6(o, runs)
	a.PowerWatts = power.in(unitW)
	a.TokPerSecPerWatt = per(m1(o, runs), power, metric.Implausible).in(unitTokSW)
	a.turns(o, runs)
	return a
}

func (a Asiai) without(n num) Asiai {
	a.PowerWatts, a.SoCWatts, a.IdleSoCWatts = n.in(unitW), n.in(unitW), n.in(unitW)
	a.TokPerSecPerWatt = n.in(unitTokSW)
	a.EnergyPerToken, a.ActivePerToken = n.in(unitTok), n.in(unitTok)
	a.PowerQuantisationPct, a.TurnQuantisationPct = n.in(unitPct), n.in(unitPct)
	return a
}

// m1 is the median of tok_per_sec over all runs.
func m1(o *Options, runs []*run) num {
	trials := make([]metric.Trial, len(runs))
	for i, r := range runs {
		trials[i] = r.t.asTrial()
	}
	d := metric.TokPerSec(metric.CellOptions{Concurrency: 1, Protocol: o.Protocol}, trials)
	if d.P50 == nil {
		return none(cmp.Or(d.Reason, metric.NoRequests))
	}
	return have(*d.P50)
}

// m6 is the mean power of the GPUs alone, from the first dispatch to the last end of
// the measured requests; where others took turns with them, over each of them alone.
// What it is of is noted: the GPUs need not be of any base that was asked for.
func (a *Asiai) m6(o *Options, runs []*run) num {
	w := Whole
	if o.Shared {
		w = Request
	}
	parts, readings := make([]part, len(runs)), make([]*reading, len(runs))
	for i, r := range runs {
		readings[i] = r.reading(gpuBase(r.tr, r.gpus))
		parts[i] = r.part(readings[i], w)
	}
	a.PowerBase, a.PowerDigest = readings[0].base, readings[0].digest
	if differ := differing(runs, readings); differ != "" {
		a.PowerDigest = ""
		parts = append(parts, refused(differ))
	}
	m := measuredOf(o, parts)
	a.PowerLabel, a.PowerQuantisationPct = m.Label, m.QuantisationPct
	if m.W.Value == nil {
		return none(m.W.Reason)
	}
	return have(*m.W.Value)
}

// gpuBase is the base of the GPUs alone.
func gpuBase(tr *trace.Trace, gpus []string) string {
	for _, b := range []string{"nv.gpu", "amd.gpu", "apple.gpu"} {
		d := Bases[b][0]
		if tr != nil && slices.ContainsFunc(tr.Channels, func(c trace.Channel) bool {
			return c.Domain == d && (kindOf(d) != trace.GPU || slices.Contains(gpus, c.Device))
		}) {
			return b
		}
	}
	return "nv.gpu"
}

// turns fills M9 to M11, per run and then the median over runs. A run that was too
// short or throttled is left out, and that is told, as the specification has it. One
// that failed, whose tokens the engine did not count, or whose energy is refused for
// another reason leaves them without: the rest would be chosen by how it came out.
// Trials of two bases, two power limits or two drivers have no median at all.
func (a *Asiai) turns(o *Options, runs []*run) {
	var watts, perToken, active, off []num
	idles := make([]idle, len(runs))
	readings := readingsOf(runs, a.Base)
	for i, r := range runs {
		idles[i] = r.m11(readings[i])
	}
	differ := differing(runs, readings)
	m11 := pooledIdle(idles, differ).w
	a.IdleSoCWatts = m11.in(unitW)
	for i, r := range runs {
		rd := readings[i]
		spans, why := r.t.spans(Request, o.Streams)
		if why = cmp.Or(r.why, rd.why, why); why != "" {
			*a = a.withoutTurns(none(why))
			return
		}
		first := len(watts)
		for k, turn := range r.t.turns() {
			w, j, q := r.turn(rd, r.onTrace(spans[k : k+1])[0])
			if !slices.Contains(gate, j.why) {
				off = append(off, q)
			}
			left := above(j, times(idles[i].w, have(seconds(spans[k].ns()))), 0)
			watts = append(watts, w)
			perToken = append(perToken, per(j, intervals(turn), metric.OneToken))
			active = append(active, per(left, intervals(turn), metric.OneToken))
		}
		r.leftOut(perToken[first:])
	}
	if differ != "" {
		*a = a.withoutTurns(none(differ))
		return
	}
	a.SoCWatts = medianOf(watts, gate).in(unitW)
	a.EnergyPerToken = medianOf(perToken, gate).in(unitTok)
	a.ActivePerToken = of(medianOf(active, gate), m11, func(n, _ float64) num { return have(n) }).in(unitTok)
	if len(off) == 0 {
		off = watts // none of which is there
	}
	a.TurnQuantisationPct = worst(off).in(unitPct)
}

// gate are the reasons for which a run is in no median.
var gate = []string{metric.TooBrief, metric.Thermal, metric.OneToken}

// withoutTurns leaves out what is of turns.
func (a Asiai) withoutTurns(n num) Asiai {
	a.SoCWatts, a.EnergyPerToken, a.ActivePerToken = n.in(unitW), n.in(unitTok), n.in(unitTok)
	a.TurnQuantisationPct = n.in(unitPct)
	return a
}

// turn is M9, the joules of one run, and their quantisation in percent.
func (r *run) turn(rd *reading, s span) (w, j, q num) {
	if s.ns() < turnLeastNS {
		return none(metric.TooBrief), none(metric.TooBrief), none(metric.TooBrief)
	}
	j, q = r.measured(rd, []span{s})
	return per(j, have(seconds(s.ns())), metric.ZeroDuration), j, q
}

// intervals is n - 1, by the engine's own count.
func intervals(t turn) num {
	if t.OutputTokens == nil || *t.OutputTokens < 0 {
		return none(metric.NoUsage)
	}
	return have(float64(*t.OutputTokens - 1))
}

// leftOut tells how many runs are in no median.
func (r *run) leftOut(runs []num) {
	out, why := 0, ""
	for _, n := range runs {
		if slices.Contains(gate, n.why) {
			out++
			why = cmp.Or(why, n.why)
		}
	}
	if out > 0 && out < len(runs) {
		r.say(fmt.Sprintf("%d of %d runs are not in energy_per_token_j: %s", out, len(runs), why))
	}
}

// medianOf those that are there, or the reason of the first that is not and is not one
// of those for which it may be left out; or, where fewer than half are there, of the
// first that is not: the few would stand for all.
func medianOf(ns []num, out []string) num {
	var xs []float64
	for _, n := range ns {
		switch {
		case n.why == "":
			xs = append(xs, n.v)
		case !slices.Contains(out, n.why):
			return n
		}
	}
	switch {
	case 2*len(xs) < len(ns):
		return ns[slices.IndexFunc(ns, func(n num) bool { return n.why != "" })]
	case len(xs) > 0:
		slices.Sort(xs)
		return have(median(xs))
	case len(ns) > 0:
		return ns[0]
	}
	return none(metric.NoRequests)
}

// m11 is the loaded idle of the specification: 5 samples of 2 s, median.
func (r *run) m11(rd *reading) idle {
	look, why := r.idleSpan(rd)
	if why != "" {
		return noIdle(why)
	}
	if look.ns() < turnSamples*turnStepNS {
		return noIdle(metric.IdleTooShort)
	}
	switch busy := r.load1(look); {
	case busy.why != "":
		r.say("the load average while the machine was idle could not be read")
	case busy.v > turnLoad1:
		return noIdle(metric.BusyHost)
	}
	if 50*float64(r.period(rd)) > r.coarsest()*turnStepNS {
		return noIdle(metric.PublicationCoarse)
	}
	return r.sampled(rd, look, turnSamples, turnStepNS)
}
