package metric

import "maps"

// NewCell derives a cell from its trials: everything pooled, and each trial by
// itself in PerTrial. What makes one trial unfit for a guard makes the cell so.
func NewCell(o CellOptions, trials []Trial) Cell { return cellOfTrials(o, trials, false) }

// cellOfTrials is NewCell; part = the trials hold some of their requests only,
// and nothing about the client and the engine.
func cellOfTrials(o CellOptions, trials []Trial, part bool) Cell {
	var per []Cell
	for i := range trials {
		per = append(per, newCell(o, trials[i:i+1], part))
	}
	var c Cell
	if len(per) == 1 {
		c = per[0]
		c.Failures = maps.Clone(c.Failures)
	} else {
		c = newCell(o, trials, part)
	}
	c.PerTrial = per
	c.ecdf(o, trials)
	c.between(per, trials)
	return c
}

// pool is what the formulas of one cell look at.
type pool struct {
	o      CellOptions
	trials []Trial
	part   bool       // see cellOfTrials
	good   []*Request // those that count
	column []float64  // one metric's values, used again for the next
}

func newCell(o CellOptions, trials []Trial, part bool) Cell {
	c := Cell{Name: o.Name, Concurrency: o.Concurrency, Trials: len(trials)}
	p := &pool{o: o, trials: trials, part: part, good: c.count(trials)}
	if first, _ := started(trials); first != 0 {
		c.StartedUnixS = floorSec(first)
	}
	for i := range rowMetrics {
		m := &rowMetrics[i]
		*m.to(&c) = p.dist(m.unit, func(r *Request) sample { return m.of(r, o.Protocol) })
	}
	c.ITL, c.EventGap = p.gaps()
	c.ScheduleLag = p.scheduleLag()
	c.rates(p)
	c.openLoop(p)
	c.slo(p)
	c.PassRate = p.passRate(c.Attempted)
	c.health(p)
	c.cache(p)
	c.server(p)
	c.elsewhere()
	c.spread(nil)
	if len(trials) == 1 {
		c.doubt(p)
	}
	return c
}

// count sorts the requests into those that count and the classes of those
// that do not.
func (c *Cell) count(trials []Trial) (good []*Request) {
	for _, t := range trials {
		c.WallS += seconds(max(t.WallNS, 0))
		c.Attempted += len(t.Requests)
		c.Unsent += t.Unsent
	}
	good = make([]*Request, 0, c.Attempted)
	for _, t := range trials {
		for i := range t.Requests {
			class := t.Requests[i].Outcome()
			if class == "" {
				good = append(good, &t.Requests[i])
				continue
			}
			if c.Failures == nil {
				c.Failures = map[string]int{}
			}
			c.Failures[class]++
		}
	}
	c.Completed, c.Failed = len(good), c.Attempted-len(good)
	return good
}

// dist pools one metric over the requests that count.
func (p *pool) dist(unit string, of func(*Request) sample) Dist {
	p.column = p.column[:0]
	why := reasons{}
	for _, r := range p.good {
		if s := of(r); s.there() {
			p.column = append(p.column, s.v)
		} else {
			why[s.reason()]++
		}
	}
	return distOf(p.column, unit, why.main())
}

// elsewhere marks what other kinds of workload fill in.
func (c *Cell) elsewhere() {
	c.EffectiveContext, c.MaxRate, c.MaxConcurrency = Null(OtherWorkload, unitTokens), Null(OtherWorkload, unitReqS), Null(OtherWorkload, unitRequests)
	c.TokPerSec = Dist{Unit: unitTokS, Reason: OtherWorkload}
	c.StdDevTokS, c.TokPerSecCV = Null(OtherWorkload, unitTokS), Null(OtherWorkload, unitPct)
}

// between fills what trials say together.
func (c *Cell) between(per []Cell, trials []Trial) {
	var throughputs []float64
	for _, one := range per {
		c.ClientBound = c.ClientBound || one.ClientBound
		c.WarmCache = c.WarmCache || one.WarmCache
		c.OffRate = c.OffRate || one.OffRate
		c.UsageOff = c.UsageOff || one.UsageOff
		c.OffLength = c.OffLength || one.OffLength
		c.WrongState = c.WrongState || one.WrongState
		c.GapsUncertain = c.GapsUncertain || one.GapsUncertain
		if v := one.ThroughputTokS.Value; v != nil {
			throughputs = append(throughputs, *v)
		}
	}
	c.spread(throughputs)
	c.DriftPct = drift(per)
	c.betweenDoubts(per, trials)
}

// spread describes the throughputs of trials.
func (c *Cell) spread(throughputs []float64) {
	c.ThroughputSD = StdDevPooled([][]float64{throughputs}, unitTokS)
	c.ThroughputCV = CV([][]float64{throughputs})
	c.Stability = Stability(c.ThroughputCV)
	c.DriftPct = Null(OneRun, unitPct)
}

// drift is the last trial's throughput against the first's.
func drift(per []Cell) Value {
	if len(per) < 2 {
		return Null(OneRun, unitPct)
	}
	first, last := per[0].ThroughputTokS, per[len(per)-1].ThroughputTokS
	for _, v := range []Value{first, last} {
		if v.Value == nil {
			return Null(v.Reason, unitPct)
		}
	}
	return Ratio(100*(*last.Value-*first.Value), *first.Value, unitPct, ZeroMean)
}

// reasons counts why rows have no value.
type reasons map[string]int

// main returns the most frequent reason, the first by name among equals.
func (w reasons) main() string {
	best := NoRequests
	for r, n := range w {
		if n > w[best] || n == w[best] && r < best {
			best = r
		}
	}
	return best
}
