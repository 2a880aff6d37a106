package energy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

func TestDenominators(t *testing.T) {
	whole := func(c *Cell) Measured { return c.Bases[0].Windows[Whole] }
	decode := func(c *Cell) Measured { return c.Bases[0].Windows[Decode] }
	for _, x := range []struct {
		what   string
		change func(rs []metric.Request)
		of     func(*Cell) metric.Value
		want   float64
		reason string
	}{
		{"tokens not counted: no J/token", func(rs []metric.Request) { rs[1].OutputTokens = nil }, func(c *Cell) metric.Value { return whole(c).JPerOutputToken }, 0, metric.NoUsage},
		{"but J/request", func(rs []metric.Request) { rs[1].OutputTokens = nil }, func(c *Cell) metric.Value { return whole(c).JPerRequest }, 4000, ""},
		{"and no M10", func(rs []metric.Request) { rs[1].OutputTokens = nil }, func(c *Cell) metric.Value { return c.Asiai.EnergyPerToken }, 0, metric.NoUsage},
		{"but M9", func(rs []metric.Request) { rs[1].OutputTokens = nil }, func(c *Cell) metric.Value { return c.Asiai.SoCWatts }, 400, ""},
		{"prompt not counted", func(rs []metric.Request) { rs[1].PromptTokens = nil }, func(c *Cell) metric.Value { return whole(c).JPerTotalToken }, 0, metric.NoUsage},
		{"one token each: no interval", func(rs []metric.Request) { *rs[0].OutputTokens, *rs[1].OutputTokens = 1, 1 }, func(c *Cell) metric.Value { return decode(c).JPerOutputInterval }, 0, metric.OneToken},
		{"and no M10 of one token", func(rs []metric.Request) { *rs[0].OutputTokens, *rs[1].OutputTokens = 1, 1 }, func(c *Cell) metric.Value { return c.Asiai.EnergyPerToken }, 0, metric.OneToken},
		{"one of one token adds none", func(rs []metric.Request) { *rs[0].OutputTokens = 1 }, func(c *Cell) metric.Value { return decode(c).JPerOutputInterval }, 64, ""},
		{"and is in no median", func(rs []metric.Request) { *rs[0].OutputTokens = 1 }, func(c *Cell) metric.Value { return c.Asiai.EnergyPerToken }, 40, ""},
		{"no tokens", func(rs []metric.Request) { *rs[0].OutputTokens, *rs[1].OutputTokens = 0, 0 }, func(c *Cell) metric.Value { return whole(c).JPerOutputToken }, 0, metric.NoOutput},
		{"a failure: the joules stay", func(rs []metric.Request) { rs[1].FailureClass = "timeout" }, func(c *Cell) metric.Value { return whole(c).J }, 8000, ""},
		{"and are nobody's", func(rs []metric.Request) { rs[1].FailureClass = "timeout" }, func(c *Cell) metric.Value { return whole(c).JPerRequest }, 0, metric.IncompleteCell},
		{"nor of windows of requests", func(rs []metric.Request) { rs[1].FailureClass = "timeout" }, func(c *Cell) metric.Value { return decode(c).J }, 0, metric.IncompleteCell},
		{"nor M9", func(rs []metric.Request) { rs[1].FailureClass = "timeout" }, func(c *Cell) metric.Value { return c.Asiai.SoCWatts }, 0, metric.IncompleteCell},
		{"never ended: until the pool did", func(rs []metric.Request) { rs[1].FailureClass, rs[1].End = "cut-stream", -1 }, func(c *Cell) metric.Value { return whole(c).J }, 8000, ""},
		{"broke its contract", func(rs []metric.Request) { rs[1].Eligible = false }, func(c *Cell) metric.Value { return whole(c).JPerOutputToken }, 0, metric.ContractFailed},
		{"overlap", func(rs []metric.Request) { rs[1].Dispatched -= 1 }, func(c *Cell) metric.Value { return c.Bases[0].Windows[Request].J }, 0, metric.Overlapping},
		{"in one piece: no decode", func(rs []metric.Request) { rs[1].Unstreamed = true }, func(c *Cell) metric.Value { return decode(c).J }, 0, metric.NotStreamed},
		{"a decode of no time", func(rs []metric.Request) {
			rs[1].FirstOutput, rs[1].FirstVisible, rs[1].LastOutput = rs[1].End, rs[1].End, rs[1].End
		}, func(c *Cell) metric.Value { return decode(c).J }, 0, metric.ZeroDuration},
		{"a run below a second is in no median", func(rs []metric.Request) {
			rs[1].FirstOutput, rs[1].FirstVisible, rs[1].LastOutput, rs[1].End = 5e8, 5e8, 9e8, 9e8
			*rs[1].OutputTokens = 2
		}, func(c *Cell) metric.Value { return c.Asiai.EnergyPerToken }, 40, ""},
	} {
		t.Run(x.what, func(t *testing.T) {
			tl := good(t)
			x.change(tl.Requests)
			c := NewCell(one("nv.gpu"), []Trial{tl})
			want(t, x.what, x.of(&c), x.want, x.reason)
			sound(t, &c)
		})
	}
}

func TestCost(t *testing.T) {
	o := one("nv.gpu")
	o.KWh, o.Currency = new(0.36), "EUR"
	c := NewCell(o, []Trial{good(t)})
	want(t, "cost", c.Bases[0].Windows[Whole].CostPerMOutputTokens, 8000.0/202*1e6/3.6e6*0.36, "")
	if u := c.Bases[0].Windows[Whole].CostPerMOutputTokens.Unit; u != "EUR" {
		t.Error(u)
	}
}

// Two streams: four requests of 10 s, the second stream 5 s behind.
func TestSteady(t *testing.T) {
	tl := good(t)
	tl.Requests = nil
	for _, from := range []float64{16, 18.5, 21, 23.5, 26, 28.5} {
		r := asked(from, from+1, from+5, 500, 41)
		r.Gaps = slices.Repeat([]int64{1e8}, 40)
		tl.Requests = append(tl.Requests, r)
	}
	o := one("nv.gpu")
	o.Streams = 2
	c := NewCell(o, []Trial{tl})
	steady := c.Bases[0].Windows[Steady]
	want(t, "steady", steady.J, (31-18.5)*400, "") // from the second's start to the end of the last but one
	tokens := 0.0
	for i := range tl.Requests {
		for k := range 41 {
			if at := tl.Requests[i].Dispatched + 1e9 + int64(k)*1e8; at > 18.5e9 && at <= 31e9 {
				tokens++
			}
		}
	}
	want(t, "J/token", steady.JPerOutputToken, 5000/tokens, "")
	want(t, "J/request", steady.JPerRequest, 0, metric.PartialRequests)
	want(t, "J/total token", steady.JPerTotalToken, 0, metric.PartialRequests)
	want(t, "whose", c.Bases[0].Windows[Decode].J, 0, metric.Overlapping)
	want(t, "M6", c.Asiai.PowerWatts, 0, metric.Overlapping)
	o.Streams = 0
	c = NewCell(o, []Trial{tl})
	want(t, "open loop", c.Bases[0].Windows[Steady].J, 0, metric.OpenLoop)
	want(t, "open loop", c.Bases[0].Windows[Whole].J, 17.5*400, "")
	want(t, "asiai", c.Asiai.SoCWatts, 0, metric.OpenLoop)
	sound(t, &c)
}

func TestPooled(t *testing.T) {
	a, b := good(t), good(t)
	b.Requests = b.Requests[:1]
	c := NewCell(one("nv.gpu"), []Trial{a, b})
	m := c.Bases[0].Windows[Whole]
	want(t, "J", m.J, 12_000, "")
	want(t, "s", m.DurationS, 30, "")
	want(t, "W", m.W, 400, "")
	want(t, "J/token", m.JPerOutputToken, 12_000.0/303, "")
	want(t, "quantisation", m.QuantisationPct, 0.5, "") // of the shorter one
	want(t, "one of them", c.PerTrial[1].Bases[0].Windows[Whole].J, 4000, "")

	b.Trace = nil
	c = NewCell(one("nv.gpu"), []Trial{a, b})
	want(t, "without one of them", c.Bases[0].Windows[Whole].J, 0, metric.NoMeter)
	want(t, "M9 without one of them", c.Asiai.SoCWatts, 0, metric.NoMeter)
	want(t, "the other", c.PerTrial[0].Bases[0].Windows[Whole].J, 8000, "")
	sound(t, &c)

	b = good(t, noting(0.1, trace.State{LimitMW: new(int64(500_000))}))
	c = NewCell(one("nv.gpu"), []Trial{a, b})
	want(t, "another limit", c.Bases[0].Windows[Whole].J, 0, metric.PowerLimitChanged)
	want(t, "another limit", c.PowerLimitW, 0, metric.PowerLimitChanged)
	sound(t, &c)

	b = good(t, func(r *rig) { r.charts[0].Source = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" })
	c = NewCell(one("nv.gpu"), []Trial{a, b})
	want(t, "another source", c.Bases[0].Windows[Whole].J, 0, metric.BasesDiffer)
	want(t, "another source", c.Bases[0].LoadedIdleW, 0, metric.BasesDiffer)
	if c.Bases[0].Digest != "" {
		t.Error("two bases have one digest")
	}
	sound(t, &c)

	c = NewCell(one("nv.gpu"), nil)
	want(t, "nothing", c.Bases[0].Windows[Whole].J, 0, metric.NoRequests)
	sound(t, &c)
}

func TestIdle(t *testing.T) {
	idle := func(c *Cell) metric.Value { return c.Bases[0].LoadedIdleW }
	m11 := func(c *Cell) metric.Value { return c.Asiai.IdleSoCWatts }
	net := func(c *Cell) metric.Value { return c.Bases[0].Windows[Whole].NetJ }
	active := func(c *Cell) metric.Value { return c.Asiai.ActivePerToken }
	uneven := counting(published(steps{{0, 100}, {8, 140}, {14, 400}}, 0.1, 1e-3, 0))
	for _, x := range []struct {
		what   string
		rig    func(*rig)
		trial  func(*Trial)
		of     func(*Cell) metric.Value
		want   float64
		reason string
	}{
		{"it varies", uneven, nil, idle, 0, metric.IdleCV},
		{"and M11", uneven, nil, m11, 0, metric.IdleCV},
		{"so nothing is net", uneven, nil, net, 0, metric.IdleCV},
		{"too short", nil, func(x *Trial) { x.Idle = idleAt(2, 11.9) }, idle, 0, metric.IdleTooShort},
		{"nobody waited", nil, func(x *Trial) { x.Idle = nil }, idle, 0, metric.NoIdle},
		{"backwards", nil, func(x *Trial) { x.Idle = idleAt(14, 2) }, idle, 0, metric.InconsistentTime},
		{"in another age", nil, func(x *Trial) { x.Idle = &Span{3e18, 4e18} }, idle, 0, metric.NotBracketed},
		{"before the recording", nil, func(x *Trial) { x.Idle = idleAt(-20, -5) }, idle, 0, metric.NotBracketed},
		{"busy host", func(r *rig) { r.charts[4].at = constant(2001) }, nil, m11, 0, metric.BusyHost},
		{"two cores", func(r *rig) { r.charts[4].at = constant(2000) }, nil, m11, 100, ""},
		{"busy, and idle of ours", func(r *rig) { r.charts[4].at = constant(2001) }, nil, idle, 100, ""},
		{"heat", func(r *rig) { r.charts[2].at = hotUntil(15) }, nil, idle, 0, metric.Thermal},
		{"somebody else's", noting(5, trace.State{Processes: new(2)}), nil, idle, 0, metric.ForeignProcess},
		{"it varies from second to second", counting(published(seesaw(85, 115), 0.1, 1e-3, 0)), nil, idle, 0, metric.IdleCV},
		{"M11 is of 5 samples", counting(published(steps{{0, 100}, {5.5, 104}, {8.5, 108}, {12, 100}, {15, 400}}, 0.1, 1e-3, 0)), nil, m11, 104, ""},
		{"more, by less than it may be off by", counting(published(steps{{0, 100}, {15, 100.2}}, 0.1, 1e-3, 0)), nil, net, 0, metric.NotAboveIdle},
		{"more, by a little more", counting(published(steps{{0, 100}, {15, 100.5}}, 0.1, 1e-3, 0)), nil, net, 10, ""},
		{"more, by less than the idle machine varies", counting(published(steps{{0, 103}, {6, 100}, {15, 102}}, 0.1, 1e-3, 0)), nil, net, 0, metric.NotAboveIdle},
		{"more, by more than it varies", counting(published(steps{{0, 103}, {6, 100}, {15, 104}}, 0.1, 1e-3, 0)), nil, net, 80, ""},
		{"active, as the specification has it", counting(published(steps{{0, 103}, {6, 100}, {15, 102}}, 0.1, 1e-3, 0)), nil, active, 0.2, ""},
		{"no more than idle", counting(published(flat(100), 0.1, 1e-3, 0)), nil, net, 0, metric.NotAboveIdle},
		{"nor per token", counting(published(flat(100), 0.1, 1e-3, 0)), nil, active, 0, metric.NotAboveIdle},
	} {
		t.Run(x.what, func(t *testing.T) {
			var change []func(*rig)
			if x.rig != nil {
				change = append(change, x.rig)
			}
			if x.what == "somebody else's" {
				change = append(change, noting(15, trace.State{Processes: new(1)}))
			}
			tl := good(t, change...)
			if x.trial != nil {
				x.trial(&tl)
			}
			c := NewCell(one("nv.gpu"), []Trial{tl})
			want(t, x.what, x.of(&c), x.want, x.reason)
			sound(t, &c)
		})
	}
}

// seesaw is between two powers, a second each.
func seesaw(a, b float64) (p steps) {
	for t := 0.0; t < 15; t += 2 {
		p = append(p, step(t, a), step(t+1, b))
	}
	return append(p, step(16, 400))
}

// hotUntil is a clock held down for a tenth of the time up to a moment.
func hotUntil(until float64) func(float64) (int64, string) {
	return func(t float64) (int64, string) { return int64(min(t, until) * 1e8), "" }
}

// A trial is placed on a trace of another machine by exchanges of clocks.
func TestClocks(t *testing.T) {
	const ahead = int64(3_600_000_000_123) // that machine's clock is an hour ahead
	elsewhere := func(exchanges ...trace.Offset) Trial {
		tl := good(t)
		tl.Local = false
		tl.StartUnixNS -= ahead
		tl.Idle = &Span{tl.Idle.Start - ahead, tl.Idle.End - ahead}
		for _, x := range exchanges {
			tl.Trace.Offsets = append(tl.Trace.Offsets, trace.Noted[trace.Offset]{V: x})
		}
		return tl
	}
	here := startWall - ahead
	quick := trace.Offset{Sent: here, There: startWall + 400_000, Received: here + 1_000_000}
	slow := trace.Offset{Sent: here, There: startWall + 80e6, Received: here + 100e6}
	j := func(tl Trial) (metric.Value, *Cell) {
		c := NewCell(one("nv.gpu"), []Trial{tl})
		sound(t, &c)
		return c.Bases[0].Windows[Whole].J, &c
	}
	v, c := j(elsewhere(slow, quick))
	want(t, "quick", v, 8000, "")
	// Half a round trip, and 100 ppm of the 37 s until the last end.
	if e := *c.ClockErrorMS.Value; e < 0.5+3.7-0.001 || e > 0.5+3.7+0.3 {
		t.Errorf("off by %v ms", e)
	}
	want(t, "idle", c.Bases[0].LoadedIdleW, 100, "")
	want(t, "quantisation", c.Bases[0].Windows[Whole].QuantisationPct, 0.25+200**c.ClockErrorMS.Value/20e3, "")
	v, c = j(elsewhere(trace.Offset{Sent: here, There: startWall + 1e9, Received: here + 2e9}))
	want(t, "an answer of 2 s", v, 0, metric.ClockOffsetTooLarge)
	want(t, "of the idle machine", c.Bases[0].LoadedIdleW, 0, metric.ClockOffsetTooLarge)
	v, _ = j(elsewhere(quick, trace.Offset{Sent: here + 1e9, There: startWall + 1e9 + 500e6, Received: here + 1e9 + 1e6}))
	want(t, "half a second came in", v, 0, metric.ClockStepped)
	tl := elsewhere()
	tl.StartUnixNS += ahead
	v, _ = j(tl)
	want(t, "nothing known", v, 0, metric.ClockUnknown)
	tl.Clock, tl.Trace.Clock = trace.Clock{Synchronised: true, ErrorNS: 2e6}, trace.Clock{Synchronised: true, ErrorNS: 3e6}
	tl.Idle = nil
	v, c = j(tl)
	want(t, "two clocks that are kept", v, 8000, "")
	if e := *c.ClockErrorMS.Value; e < 5 || e > 9.5 {
		t.Errorf("off by %v ms", e)
	}
	tl.Clock.Synchronised = false
	v, _ = j(tl)
	want(t, "one that is not", v, 0, metric.ClockUnknown)
}

// The line between two looks at both clocks, and the bound of its error.
func TestPlace(t *testing.T) {
	c := newClock(&trace.Trace{Header: trace.Header{WallNS: 1e18}, Syncs: []trace.Noted[int64]{{T: 1e9, V: 1e18 + 1e9 + 2e6}}})
	at, off := c.place(1e18 + 5e8 + 1e6)
	if math.Abs(float64(at-5e8)) > 2000 || off < 1e6 || off > 1.3e6 {
		t.Errorf("%d, off by %d", at, off)
	}
	at, off = c.place(1e18 + 11e9 + 2e6)
	if at != 11e9 || off != 5e6 {
		t.Errorf("10 s after the last look: %d, off by %d", at, off)
	}
	if at, _ = c.place(1e18 - 1e9); at != -1e9 {
		t.Errorf("before the first: %d", at)
	}
	c = newClock(&trace.Trace{Header: trace.Header{WallNS: 1e18, Made: "import"}})
	if at, off = c.place(1e18 + 3600e9); at != 3600e9 || off != 0 {
		t.Errorf("imported: %d, off by %d", at, off)
	}
}

func TestComparable(t *testing.T) {
	cell := func(change ...func(*rig)) *Cell {
		c := NewCell(one("nv.gpu"), []Trial{good(t, change...)})
		return &c
	}
	a := cell()
	capped := func(share float64) func(*rig) { return func(r *rig) { r.charts[3].at = ramp(16, share) } }
	for _, x := range []struct {
		what string
		b    *Cell
		band float64
		want string
	}{
		{"the same", cell(), 0, ""},
		{"nothing", nil, 0, "one of the two has no energy"},
		{"5 points", cell(capped(0.05)), 0, ""},
		{"6 points", cell(capped(0.06)), 0, "the share of time at the power cap differs by more than 0.05: 0 and 0.06"},
		{"5 °C", cell(func(r *rig) { r.charts[1].at = constant(46) }), 0, ""},
		{"6 °C", cell(func(r *rig) { r.charts[1].at = constant(47) }), 0, "the temperature at the start differs by more than 5 °C: 41 and 47"},
		{"6 °C of 10", cell(func(r *rig) { r.charts[1].at = constant(47) }), 10, ""},
		{"a temperature of one", cell(func(r *rig) { r.charts[1].Quantity = trace.Load1 }), 10, "the temperature at the start is known of one of them only"},
		{"limit", cell(noting(0.1, trace.State{LimitMW: new(int64(500_000))})), 0, "the power limit differs: 700 and 500 W"},
		{"source", cell(func(r *rig) { r.charts[0].Source = "dcgm" }), 0, "nv.gpu was read from other domains or by other means"},
	} {
		if got := strings.Join(Comparable(a, x.b, Band{x.band}), "; "); got != x.want {
			t.Errorf("%s: %q, want %q", x.what, got, x.want)
		}
	}
}

// What a base is made of decides its digest; where and how many does not.
func TestDigest(t *testing.T) {
	of := func(r rig, base string) *reading {
		return read(r.trace(t), base, []string{"GPU-1", "GPU-2"}[:min(2, len(r.devices))], true)
	}
	a, b := read(gpus(1, 300).trace(t), "nv.gpu", []string{"GPU-1"}, true), of(gpus(2, 300), "nv.gpu")
	if a.digest != b.digest || a.digest == "" || fmt.Sprint(b.domains) != "[nvml.gpu x2]" {
		t.Errorf("one and two GPUs are two bases: %+v %+v", a, b)
	}
	ane, without := read(recorded(t, "publication-2.1s"), "apple.soc5", nil, true), read(recorded(t, "no-ane"), "apple.soc5", nil, true)
	if ane.digest == without.digest || len(ane.rails) != 5 || len(without.rails) != 4 {
		t.Errorf("a chip without the neural engine is of the same base: %v %v", ane.rails, without.rails)
	}
	two := read(recorded(t, "two-packages"), "nv.gpu+rapl.package+rapl.dram", []string{"GPU-1"}, true)
	if fmt.Sprint(two.domains, two.devices) != "[nvml.gpu x1 rapl.package x2 rapl.dram x2] [GPU-1 package-0 package-1]" {
		t.Error(two.domains, two.devices)
	}
	for source, kind := range map[string]string{
		"intel-rapl:1/energy_uj": "intel-rapl:/energy_uj", "intel-rapl:0:1/energy_uj": "intel-rapl::/energy_uj",
		"field 186": "field 186", "hwmon3/energy1_input": "hwmon/energy_input",
	} {
		if got := sourceKind(trace.Channel{Source: source}); got != kind {
			t.Errorf("%s is %s", source, got)
		}
	}
	wall := read(amd(300, 0).trace(t), "amd.gpu", []string{"card0"}, true)
	if fmt.Sprint(wall.domains) != "[hwmon.gpu (integral of power) x1]" {
		t.Error(wall.domains)
	}
}

// A package that cannot be read is missing, not nothing.
func TestMissingPackage(t *testing.T) {
	r := rapl(box(20, 40, cpu("package-0")), "package-0", 5)
	r.missing = []trace.Missing{{Device: "package-1", Domain: trace.RAPLPackage, Reason: "no-permission"}}
	c := NewCell(one("rapl.package"), []Trial{beside(r.trace(t), twoTurns(17)...)})
	want(t, "J", c.Bases[0].Windows[Whole].J, 0, metric.DomainMissing)
}

// A counter that changes at every look is that of the look: a window over a change of
// power is not early by half a look.
func TestFast(t *testing.T) {
	r := box(20, 40, cpu("package-0"))
	p := steps{{0, 150}, {20, 950}}
	r = ranged(r.counts("package-0", trace.RAPLPackage, "uJ", "intel-rapl:0/energy_uj", published(p, 0.001, 1e-6, 5)), raplRange)
	c := NewCell(one("rapl.package"), []Trial{beside(r.trace(t), twoTurns(17)...)})
	if v := c.Bases[0].Windows[Whole].J; v.Value == nil || math.Abs(*v.Value-p.between(17, 37)) > 0.9 { // 1 ms of 800 W
		t.Errorf("%s, want %v", text(v), p.between(17, 37))
	}
}

// A plot is thin, and holds all the energy.
func TestPlot(t *testing.T) {
	for _, file := range []string{"wrap", "publication-2.1s", "thermal"} {
		tr := recorded(t, file)
		o := one(map[string]string{"wrap": "rapl.package", "publication-2.1s": "apple.soc5", "thermal": "nv.gpu"}[file])
		c := NewCell(o, []Trial{beside(tr, twoTurns(17)...)})
		p := c.Plot
		if p == nil || len(p.T) > 600 || len(p.T) < 70 || len(p.T) != len(p.W) {
			t.Fatalf("%s: %+v", file, p)
		}
		j, r := 0.0, newRun(&o, new(beside(tr, twoTurns(17)...)))
		for i := 1; i < len(p.T); i++ {
			j += p.W[i] * (p.T[i] - p.T[i-1])
		}
		all := r.all(r.reading(o.Bases[0]), []span{{int64(math.Round(p.T[0] * 1e9)), int64(math.Round(p.T[len(p.T)-1] * 1e9))}})
		if all.why != "" || math.Abs(j/all.v-1) > 1e-6 {
			t.Errorf("%s: %v J are drawn, %+v", file, j, all)
		}
		if hot := len(p.Thermal) > 0; hot != (file == "thermal") || len(p.Thermal) > 600 {
			t.Errorf("%s: %d moments of heat", file, len(p.Thermal))
		}
	}
}

// Energy of adjacent windows adds up, and is independent of how it is asked for.
func TestAdditive(t *testing.T) {
	r := &run{tr: recorded(t, "publication-100ms"), curves: map[int]*curve{}, o: new(one("nv.gpu"))}
	for channel := range 2 { // a counter and a power
		all := r.joules(channel, []span{{3e9, 38e9}})
		for _, pieces := range []int64{2, 3, 7, 1000, 9973} {
			var parts []num
			before := int64(3e9)
			for k := range pieces {
				to := 3e9 + int64(35e9)*(k+1)/pieces
				j := r.joules(channel, []span{{before, to}})
				if j.why != "" || j.v < 0 {
					t.Fatalf("%+v", j)
				}
				parts = append(parts, j)
				before = to
			}
			if s := sum(parts); math.Abs(s.v/all.v-1) > 1e-9 {
				t.Errorf("channel %d in %d pieces: %v J, at once %v J", channel, pieces, s.v, all.v)
			}
		}
	}
}
