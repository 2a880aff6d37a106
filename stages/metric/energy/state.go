package energy

import (
	"cmp"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// during are the states of a device in a window: the one in effect at its start, or
// the first that was noted, and each later one up to its end.
func during(tr *trace.Trace, device string, s span) (out []trace.State) {
	var of []trace.Noted[trace.State]
	for _, n := range tr.States {
		if n.V.Device == device {
			of = append(of, n)
		}
	}
	slices.SortStableFunc(of, func(a, b trace.Noted[trace.State]) int { return cmp.Compare(a.T, b.T) })
	for i, n := range of {
		if n.T > s.to && len(out) > 0 {
			break
		}
		if i+1 < len(of) && of[i+1].T <= s.from {
			continue // another took its place before
		}
		out = append(out, n.V)
	}
	return out
}

// disturbed is why what the GPUs were like in a window makes its energy somebody
// else's, or not comparable with itself.
func disturbed(tr *trace.Trace, gpus []string, s span, processes int) string {
	for _, gpu := range gpus {
		driver := tr.Driver
		var limit *int64
		var pids []int
		count, known := -1, false
		for _, st := range during(tr, gpu, s) {
			switch {
			case st.MIG != nil && *st.MIG:
				return metric.MIG
			case st.Processes != nil && *st.Processes > processes, len(st.PIDs) > processes:
				return metric.ForeignProcess
			case known && listed(st) && !slices.Equal(pids, st.PIDs):
				return metric.ForeignProcess
			case count >= 0 && counted(st) >= 0 && count != counted(st):
				return metric.ForeignProcess // others than at the start, whichever they were
			case limit != nil && st.LimitMW != nil && *limit != *st.LimitMW:
				return metric.PowerLimitChanged
			case driver != "" && st.Driver != "" && driver != st.Driver:
				return metric.DriverChanged
			}
			driver, limit = cmp.Or(st.Driver, driver), cmp.Or(st.LimitMW, limit)
			if n := counted(st); n >= 0 {
				count = n
			}
			if listed(st) {
				pids, known = st.PIDs, true
			}
		}
	}
	return ""
}

// counted is how many processes a state counted, -1 = it does not say.
func counted(s trace.State) int {
	switch {
	case s.Processes != nil:
		return *s.Processes
	case s.PIDs != nil:
		return len(s.PIDs)
	}
	return -1
}

// listed reports whether a state says which processes there were, none included.
func listed(s trace.State) bool {
	return s.PIDs != nil || s.Processes != nil && *s.Processes == 0
}

// limits are the enforced power limits at the start of a window, in W by device.
func limits(tr *trace.Trace, gpus []string, s span) map[string]float64 {
	out := map[string]float64{}
	for _, gpu := range gpus {
		for _, st := range during(tr, gpu, span{s.from, s.from}) {
			if st.LimitMW != nil && *st.LimitMW > 0 {
				out[gpu] = float64(*st.LimitMW) / 1000
			}
		}
	}
	return out
}

// driverOf is the driver in a window: what its states say, else the recording.
func driverOf(tr *trace.Trace, gpus []string, s span) string {
	for _, gpu := range gpus {
		for _, st := range during(tr, gpu, s) {
			if st.Driver != "" {
				return st.Driver
			}
		}
	}
	return tr.Driver
}
