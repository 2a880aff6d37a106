package metric

import "reflect"

// MeanOfRuns labels a distribution whose numbers are means over runs.
const MeanOfRuns = "mean-of-runs"

// MeanOverTrials replaces the numbers of a pooled cell by the arithmetic means
// of its trials' own: a percentile is then the mean of each run's percentile,
// and a rate the mean of each run's rate, as A/B reports with repeated runs
// state them. Counts stay sums. A number that one trial does not have is null.
// There are no certified percentiles of such means.
func MeanOverTrials(c Cell) Cell {
	if len(c.PerTrial) == 0 {
		return c
	}
	out := reflect.ValueOf(&c).Elem()
	for i := range out.NumField() {
		switch own := out.Field(i).Interface().(type) {
		case Dist:
			out.Field(i).Set(reflect.ValueOf(meanDist(own, c.PerTrial, i)))
		case Value:
			if perTrial(c.PerTrial, i) {
				out.Field(i).Set(reflect.ValueOf(meanValue(c.PerTrial, i)))
			}
		}
	}
	return c
}

// perTrial reports whether the trials have field i themselves: what is said of
// the spread between trials only the pooled cell has.
func perTrial(trials []Cell, i int) bool {
	for k := range trials {
		if v, ok := reflect.ValueOf(&trials[k]).Elem().Field(i).Interface().(Value); ok && v.Value != nil {
			return true
		}
	}
	return false
}

func meanValue(trials []Cell, i int) Value {
	var xs []float64
	for k := range trials {
		v := reflect.ValueOf(&trials[k]).Elem().Field(i).Interface().(Value)
		if v.Value == nil {
			return v
		}
		xs = append(xs, *v.Value)
	}
	v := Of(meanOf(xs), reflect.ValueOf(&trials[0]).Elem().Field(i).Interface().(Value).Unit)
	v.Reason = MeanOfRuns
	return v
}

func meanDist(pooled Dist, trials []Cell, i int) Dist {
	out := Dist{N: pooled.N, Unit: pooled.Unit, Reason: pooled.Reason, Label: MeanOfRuns}
	if d := reflect.ValueOf(&trials[0]).Elem().Field(i).Interface().(Dist); d.Label == DescriptiveOnly {
		out.Label = DescriptiveOnly // of each run's few values; a mean makes them no more
	}
	if pooled.N == 0 {
		return pooled
	}
	of := reflect.ValueOf(&out).Elem()
	for f := range of.NumField() {
		name := of.Type().Field(f).Name
		if _, ok := of.Field(f).Interface().(*float64); !ok || len(name) > len("Certified") && name[len(name)-len("Certified"):] == "Certified" {
			continue
		}
		if m := meanField(trials, i, f); m != nil {
			of.Field(f).Set(reflect.ValueOf(m))
		}
	}
	return out
}

// meanField is the mean of one number of a distribution, nil when a trial has
// none.
func meanField(trials []Cell, i, f int) *float64 {
	var xs []float64
	for k := range trials {
		v, _ := reflect.ValueOf(&trials[k]).Elem().Field(i).Field(f).Interface().(*float64)
		if v == nil {
			return nil
		}
		xs = append(xs, *v)
	}
	return ptr(meanOf(xs))
}
