package decide

import (
	"math"
	"reflect"
	"strings"
)

// tries is how many assignments constant looks at: a rule that can fail for a
// tenth of all values escapes once in 10^21.
const tries = 500

// constant reports whether the rule holds whatever is measured: it was tried
// with values from all over the range of each metric, its ends included. Such a
// rule guards nothing, and is almost always a slip.
func (r rule) constant(kind string) bool {
	rng := new(splitMix)
	for range tries {
		vars := reflect.New(varsOf(kind)).Elem()
		fillVars(vars, rng)
		r.fillPriors(vars, rng)
		r.fillBases(vars, rng)
		if res := r.Eval(vars.Interface(), nil); !res.Holds() {
			return false
		}
	}
	return true
}

func varsOf(kind string) reflect.Type {
	if kind == energyKind {
		return reflect.TypeFor[Energy]()
	}
	if serving(kind) {
		return reflect.TypeFor[Capacity]()
	}
	return reflect.TypeFor[Quality]()
}

// fillVars sets every number to one that could be measured: a difference and
// the ends of its interval in order between -1 and 1, a share or a score between
// 0 and 1, anything else 0 or more, of every magnitude.
func fillVars(v reflect.Value, rng *splitMix) {
	t := v.Type()
	for i := range t.NumField() {
		f, name := v.Field(i), t.Field(i).Tag.Get("cel")
		switch {
		case f.Type() == reflect.TypeFor[Bases](): // of hundreds of numbers a rule names a few: see fillBases
		case f.Kind() == reflect.Struct:
			fillVars(f, rng)
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Struct:
			f.Set(reflect.New(f.Type().Elem()))
			fillVars(f.Elem(), rng)
		case f.Kind() == reflect.Pointer:
			x := measurable(name, rng)
			f.Set(reflect.ValueOf(&x))
		case f.Kind() == reflect.Float64:
			f.SetFloat(measurable(name, rng))
		case f.Kind() == reflect.Bool:
			f.SetBool(rng.below(2) == 0)
		case f.Kind() == reflect.String:
			f.SetString([]string{"", "stable", "variable", "unstable", "unknown"}[rng.below(5)]) // of cell only that it is a text
		}
	}
	sortEnds(v)
}

// sortEnds puts lo, delta and hi of one struct in order.
func sortEnds(v reflect.Value) {
	lo, hi := v.FieldByName("Lo"), v.FieldByName("Hi")
	if !lo.IsValid() || !hi.IsValid() {
		return
	}
	if lo.Elem().Float() > hi.Elem().Float() {
		x, y := lo.Elem().Float(), hi.Elem().Float()
		lo.Elem().SetFloat(y)
		hi.Elem().SetFloat(x)
	}
	if d := v.FieldByName("Delta"); d.IsValid() {
		d.Elem().SetFloat(min(max(d.Elem().Float(), lo.Elem().Float()), hi.Elem().Float()))
	}
}

var (
	differences = map[string]bool{"lo": true, "hi": true, "delta": true, "excess": true, "drift_pct": true}
	shares      = map[string]bool{"disagreement": true, "rate": true, "mean_a": true, "mean_b": true, "truncation_rate": true, "failure_rate": true, "accuracy": true,
		"slo_attained": true, "pass_rate": true, "cached_share": true, "server_prefix_hit_share": true, "server_kv_use_peak": true, "thermal_share": true, "power_cap_share": true}
)

func measurable(name string, rng *splitMix) float64 {
	switch {
	case differences[name]:
		return [...]float64{-1, 0, 1, 2*rng.share() - 1, 2*rng.share() - 1, 0.1 * (2*rng.share() - 1)}[rng.below(6)]
	case shares[name]:
		return [...]float64{0, 1, rng.share(), rng.share()}[rng.below(4)]
	case name == "mean": // a score in quality, a latency in a distribution
		return [...]float64{0, 1, rng.share()}[rng.below(3)]
	}
	return [...]float64{0, 1, math.Pow(10, 18*rng.share()-3)}[rng.below(3)]
}

// splitMix is SplitMix64 (Steele, Lea, Flood 2014) from a fixed seed: a fixed
// sequence of well spread numbers.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in 0..n-1, share one in [0, 1).
func (s *splitMix) below(n int) int { return int(s.next() % uint64(n)) }
func (s *splitMix) share() float64  { return float64(s.next()>>11) / (1 << 53) }

// about reports whether the rule names anything that the candidate could change.
// One that reads a prior decides nothing.
func (r rule) about() bool {
	if r.readsPrior() {
		return false
	}
	for _, p := range r.Paths() {
		of, _, _ := strings.Cut(p, ".")
		switch {
		case of == "baseline" || of == "concurrency" || of == "cell" || of == "n" || p == "mean_a":
		case of == "noise" && p != "noise.excess":
		default:
			return true
		}
	}
	return false
}
