package metric

// ClientBoundAbove is the share of one core above which the client is taken to
// have been the bottleneck. It is the whole process's CPU time, so it errs on
// the safe side; a self-check against a loopback server is not part of it.
const ClientBoundAbove = 0.9

// NewCell derives a cell from its trials: everything pooled, and each trial by
// itself in PerTrial.
func NewCell(concurrency int, p Protocol, trials []Trial) Cell {
	c := newCell(concurrency, p, trials)
	var throughputs []float64
	for _, t := range trials {
		one := newCell(concurrency, p, []Trial{t})
		c.PerTrial = append(c.PerTrial, one)
		c.ClientBound = c.ClientBound || one.ClientBound
		if v := one.ThroughputTokS.Value; v != nil {
			throughputs = append(throughputs, *v)
		}
	}
	c.spread(throughputs)
	return c
}

func newCell(concurrency int, p Protocol, trials []Trial) Cell {
	c := Cell{Concurrency: concurrency, Trials: len(trials)}
	var rows []Row
	for _, t := range trials {
		c.WallS += seconds(max(t.WallNS, 0))
		for _, r := range t.Requests {
			rows = append(rows, Derive(r, p))
		}
	}
	c.count(rows)
	for _, m := range rowMetrics {
		*m.in(&c) = distOf(rows, m)
	}
	c.ITL = itlOf(rows)
	c.ThroughputTokS = c.throughput(rows)
	c.RequestRate = Ratio(float64(c.Completed), c.WallS, unitReqS, ZeroDuration)
	if c.Attempted == 0 {
		c.RequestRate = Null(NoRequests, unitReqS)
	}
	c.overhead(trials)
	c.spread(nil)
	return c
}

func (c *Cell) count(rows []Row) {
	c.Attempted = len(rows)
	for _, r := range rows {
		if r.Class == "" {
			c.Completed++
			continue
		}
		if c.Failures == nil {
			c.Failures = map[string]int{}
		}
		c.Failures[r.Class]++
		c.Failed++
	}
}

// distOf pools one metric over the successful rows.
func distOf(rows []Row, m rowMetric) Dist {
	var xs []float64
	why := reasons{}
	for _, r := range rows {
		if r.Class != "" {
			continue
		}
		v := r.Values[m.id]
		if v.Value == nil {
			why[v.Reason]++
			continue
		}
		xs = append(xs, *v.Value)
	}
	return NewDist(xs, m.unit, why.main())
}

// itlOf pools the gaps of all successful rows.
func itlOf(rows []Row) Dist {
	var xs []float64
	why := reasons{}
	for _, r := range rows {
		if r.Class != "" {
			continue
		}
		if r.noGaps != "" {
			why[r.noGaps]++
		}
		xs = append(xs, r.Gaps...)
	}
	return NewDist(xs, unitMS, why.main())
}

// throughput is defined for whole cells only: tokens of a cell that lost
// requests over its wall time would reward losing the slow ones.
func (c *Cell) throughput(rows []Row) Value {
	if c.Attempted == 0 {
		return Null(NoRequests, unitTokS)
	}
	if c.Failed > c.Failures[ContractFailed] {
		return Null(IncompleteCell, unitTokS)
	}
	if c.Failed > 0 {
		return Null(ContractFailed, unitTokS)
	}
	sum := 0.0
	for _, r := range rows {
		n := r.Values["output_tokens"].Value
		if n == nil {
			return Null(NoUsage, unitTokS)
		}
		sum += *n
	}
	return Ratio(sum, c.WallS, unitTokS, ZeroDuration)
}

func (c *Cell) overhead(trials []Trial) {
	var cpu int64
	for _, t := range trials {
		if t.CPUNS < 0 {
			c.ClientOverhead = Null(NoCPUTime, unitShare)
			return
		}
		cpu += t.CPUNS
	}
	c.ClientOverhead = Ratio(seconds(cpu), c.WallS, unitShare, ZeroDuration)
	v := c.ClientOverhead.Value
	c.ClientBound = v != nil && *v > ClientBoundAbove
}

// spread fills what trials say together about the throughput.
func (c *Cell) spread(throughputs []float64) {
	c.ThroughputSD = StdDevPooled([][]float64{throughputs}, unitTokS)
	c.ThroughputCV = CV([][]float64{throughputs})
	c.Stability = Stability(c.ThroughputCV)
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
