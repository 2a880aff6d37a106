package energy

import (
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// fastShare: a counter that changed at so many of the looks at it is published more
// often than it is looked at.
const fastShare = 0.9

// counterCurve reads a cumulative counter. ceiling is the power in W above which
// what it seems to have counted between two changes cannot be true; written are the
// moments at which the driver says that it wrote it, nil = it does not.
func counterCurve(samples []trace.Sample, c trace.Channel, ceiling float64, written []int64) *curve {
	b := counter{unit: trace.Units[c.Unit], span: rangeOf(c), ceiling: ceiling, curve: &curve{}}
	b.fast = b.isFast(samples)
	for _, s := range samples {
		if s.E == "" {
			b.look(s.T, s.V)
		}
	}
	b.place(written)
	b.curve.finish(b.ticks, b.lookSpans, b.first, b.at)
	return b.curve
}

// rangeOf is after which value a counter goes on at 0; 0 = not known. NVML's are 64
// bits of mJ, so that no fall of one is a wrap.
func rangeOf(c trace.Channel) int64 {
	if c.Range == 0 && (c.Domain == trace.NVGPU || c.Domain == trace.NVModule || c.Domain == trace.NVMemory) {
		return 1<<63 - 1
	}
	return c.Range
}

type counter struct {
	unit    float64 // J
	span    int64   // range, 0 = not known
	ceiling float64
	fast    bool
	*curve

	first, at, v int64 // first and last look, and what the last one saw
	changed      int64 // look at which it last changed
	since        int64 // look before that one: it was published after it
	sum          float64
	ticks        []tick
	lookSpans    []span
}

func (b *counter) isFast(samples []trace.Sample) bool {
	looks, ticks, v := 0, 0, int64(0)
	for _, s := range samples {
		if s.E != "" {
			continue
		}
		if looks++; looks > 1 && s.V != v {
			ticks++
		}
		v = s.V
	}
	return looks > 2 && float64(ticks) >= fastShare*float64(looks-1)
}

func (b *counter) look(t, v int64) {
	if b.looks++; b.looks == 1 {
		b.first, b.at, b.changed, b.since, b.v = t, t, t, t, v
		if v < 0 {
			b.breaks = append(b.breaks, broken{span{t, t + 1}, metric.CounterBackwards})
		}
		if b.fast {
			b.knot(t, 0)
		}
		return
	}
	before := b.at
	b.lookSpans = append(b.lookSpans, span{before, t})
	b.at = t
	if v == b.v {
		return
	}
	counted, why := b.counted(v, seconds(t-b.since))
	if why != "" && !b.untold() { // before the first knot nothing is said anyway
		b.breaks = append(b.breaks, broken{span{b.changed, max(t, b.changed+1)}, why})
	}
	b.v, b.changed, b.since = v, t, before
	b.sum += counted
	b.ticks = append(b.ticks, tick{before, t, b.sum * b.unit})
}

// place turns the changes into knots, and says how often there is one.
func (b *counter) place(written []int64) {
	if len(b.ticks) == 0 {
		return
	}
	if b.fast && written == nil {
		b.lags = true
		for _, k := range b.ticks {
			b.knot(k.look, k.j)
		}
		b.period = int64(meanApart(b.ticks))
		return
	}
	dated := make([]tick, len(b.ticks))
	for i, k := range b.ticks {
		dated[i] = k.narrowed(written)
	}
	kept, at, period := placed(dated)
	for i, k := range kept {
		b.knot(at[i], k.j)
	}
	b.period = int64(math.Round(period))
}

// knot notes the sum at a moment. Two changes at one moment are one.
func (b *counter) knot(t int64, j float64) {
	if n := len(b.t); n > 0 && b.t[n-1] >= t {
		b.e[n-1] = j
		return
	}
	b.t, b.e = append(b.t, t), append(b.e, j)
}

// counted is by how much the counter went on, or why that is not known. s are the
// seconds since the look before its last change: what it counted was drawn in them,
// however late the looks came.
func (b *counter) counted(v int64, s float64) (units float64, why string) {
	most := b.ceiling * s / b.unit // more than that nothing draws
	if b.span > 0 && most >= float64(b.span) {
		return 0, metric.SamplingGap // it may have gone round more than once
	}
	if v < 0 || b.v < 0 {
		return 0, metric.CounterBackwards
	}
	if v > b.v {
		if on := float64(v - b.v); on <= most || b.untold() {
			return on, ""
		}
		return 0, metric.Implausible
	}
	if b.span > 0 && b.v <= b.span {
		if round := float64(b.span-b.v) + float64(v) + 1; round <= most {
			return round, ""
		}
		if float64(v) <= most {
			return 0, metric.CounterReset
		}
	}
	return 0, metric.CounterBackwards
}

// untold reports whether the first change is still to come: when the counter was
// published before the first look is not known, and what it had counted by then is in
// no window.
func (b *counter) untold() bool { return len(b.ticks) == 0 && !b.fast }

// finish says when the curve had no news.
func (c *curve) finish(changes []tick, looks []span, first, last int64) {
	if c.why = c.lacks(changes); c.why != "" {
		c.period = 0
		return
	}
	quiet := func(from, to int64) { // while somebody looked
		if (to-from)/stillFor > c.period {
			c.still = append(c.still, span{from, to})
		}
	}
	for _, k := range changes {
		quiet(first, k.before)
		first = k.look
	}
	quiet(first, last)
	c.findGaps(looks)
}

// lacks is why there is no curve.
func (c *curve) lacks(changes []tick) string {
	switch {
	case c.looks < 2:
		return metric.NotBracketed
	case len(changes) == 0:
		return metric.CounterFrozen
	case len(changes) == 1 || len(c.t) < 2:
		return metric.NotBracketed
	}
	return ""
}

func (c *curve) findGaps(looks []span) {
	for _, l := range looks {
		if l.ns()/gapFor > c.period {
			c.gaps = append(c.gaps, l)
		}
	}
}
