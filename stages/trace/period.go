package trace

// Period is how often a counter changes, as far as the looks at it can tell.
type Period struct {
	Mean  int64 `json:"mean_ns,omitzero"` // between two changes; 0 = fewer than two were seen
	Max   int64 `json:"max_ns,omitzero"`  // the longest
	Ticks int   `json:"ticks"`            // changes that were seen
	Looks int   `json:"looks"`            // readings
	Look  int64 `json:"look_ns,omitzero"` // between two readings, mean
}

// Period says how often the number of a channel changed between two moments, ns on
// the trace's clock. A counter that is looked at less often than it changes seems
// to change at every look: then Mean is about Look.
func (t *Trace) Period(channel int, from, to int64) Period {
	var p Period
	var first, began, last, at, before int64
	for _, s := range t.Samples[channel] {
		if s.E != "" || s.T < from || s.T > to {
			continue
		}
		switch p.Looks++; {
		case p.Looks == 1:
			first = s.T
		case s.V != before:
			if p.Ticks++; p.Ticks == 1 {
				began = s.T
			} else {
				p.Max = max(p.Max, s.T-last)
			}
			last = s.T
		}
		at, before = s.T, s.V
	}
	if p.Ticks > 1 {
		p.Mean = (last - began) / int64(p.Ticks-1)
	}
	if p.Looks > 1 {
		p.Look = (at - first) / int64(p.Looks-1)
	}
	return p
}
