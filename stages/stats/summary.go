package stats

// Summary describes one set of paired items: the overall set or a stratum.
// Absent numbers are null.
type Summary struct {
	N     int      `json:"n"`
	MeanA *float64 `json:"mean_a"`
	MeanB *float64 `json:"mean_b"`
	// Delta is mean B minus mean A, SD the standard deviation of the
	// differences and SE the standard error of Delta, clustered when there
	// are clusters.
	Delta *float64 `json:"delta"`
	SD    *float64 `json:"sd"`
	SE    *float64 `json:"se"`
	// Lo and Hi are the limits that guards use, by Method; Reason says why
	// they are null. Choice is the interval that was asked for.
	Lo         *float64 `json:"lo"`
	Hi         *float64 `json:"hi"`
	Method     string   `json:"method"`
	Reason     Reason   `json:"reason,omitempty"`
	Choice     string   `json:"choice"`
	Confidence float64  `json:"confidence"`
	// Generator is the algorithm id behind the resampled intervals.
	Generator string `json:"generator"`
	// Binary is that all scores are 0 or 1, Bounded that others lie in [0, 1].
	Binary       bool         `json:"binary"`
	Bounded      bool         `json:"bounded,omitempty"`
	Discordant   Discordant   `json:"discordant"`
	Disagreement Disagreement `json:"disagreement"`
	Intervals    Intervals    `json:"intervals"`
	McNemar      McNemarPs    `json:"mcnemar"`
	// MDE80 is the true difference that this many items detect with 80 %
	// power at level 1 - Confidence.
	MDE80       *float64    `json:"mde80"`
	MDE80Reason Reason      `json:"mde80_reason,omitempty"`
	Clusters    *ClusterSet `json:"clusters,omitempty"`
	// Regression is given for strata only.
	Regression *Regression `json:"regression,omitempty"`
	Warnings   []Warning   `json:"warnings"`
}

// Discordant counts the items that only A passes (B) and that only B passes
// (C); for fractional scores those with a negative and a positive difference.
type Discordant struct {
	B int `json:"b"`
	C int `json:"c"`
}

// Disagreement is the share of items whose scores differ, with Wilson's
// interval.
type Disagreement struct {
	Rate *float64 `json:"rate"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
}

// Intervals are all named intervals for the same difference, each defined or
// with its reason.
type Intervals struct {
	Bootstrap        Interval `json:"bootstrap"`
	Tango            Interval `json:"tango"`
	T                Interval `json:"t"`
	BCa              Interval `json:"bca"`
	Clustered        Interval `json:"clustered"`
	ClusterBootstrap Interval `json:"cluster_bootstrap"`
}

// McNemarPs are two-sided p-values, null for fractional scores.
type McNemarPs struct {
	Exact  *float64 `json:"exact"`
	MidP   *float64 `json:"mid_p"`
	Reason Reason   `json:"reason,omitempty"`
}

// ClusterSet describes clusters, when some hold more than one item.
type ClusterSet struct {
	N         int      `json:"n"`
	Moved     int      `json:"moved"`
	Effective float64  `json:"effective"`
	Deff      *float64 `json:"deff"`
}

// Regression asks whether B is worse than A in a stratum: a one-sided p-value,
// and the same adjusted over all strata by Holm. Flagged is that p_holm is at
// most 1 - confidence; it adds to the guards and replaces none.
type Regression struct {
	P       float64 `json:"p"`
	PHolm   float64 `json:"p_holm"`
	Flagged bool    `json:"flagged"`
}

// Interval returns the limits that guards use as an interval.
func (s Summary) Interval() Interval {
	if s.Lo == nil || s.Hi == nil {
		return undefined(s.Method, s.Reason)
	}
	return defined(s.Method, *s.Lo, *s.Hi)
}

// Evidence returns what [Auto] needs, also from a Summary read from JSON.
func (s Summary) Evidence() Evidence {
	e := Evidence{
		N: float64(s.N), B: float64(s.Discordant.B), C: float64(s.Discordant.C),
		Binary: s.Binary, Bounded: s.Bounded, Mean: value(s.Delta), SD: value(s.SD),
	}
	if c := s.Clusters; c != nil {
		e.Clusters, e.Moved, e.Effective = float64(c.N), float64(c.Moved), c.Effective
		e.ClusterSE = value(s.SE)
	}
	return e
}

// ItemsToDecide is the number of items at which the interval in use would
// satisfy decided, in the proportions seen; false when that is unknown or
// above [MaxItems].
func (s Summary) ItemsToDecide(decided func(Interval) bool) (int, bool) {
	switch {
	case s.Choice == MethodAuto:
		return ItemsToDecideAuto(s.Evidence(), s.Confidence, decided)
	case s.Method == MethodTango && s.Binary:
		return ItemsToDecide(s.N, s.Discordant.B, s.Discordant.C, s.Confidence, decided)
	}
	return itemsToDecideWidth(s.N, value(s.Delta), s.Interval(), decided)
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}
