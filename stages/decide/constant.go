package decide

import (
	"math"
	"reflect"
)

// tries is how many assignments constant looks at: a rule that can fail for a
// tenth of all values escapes once in 10^21.
const tries = 500

// constant reports whether the rule holds whatever is measured: it was tried
// with seeded values of every magnitude, ends of the ranges included. Such a
// rule guards nothing, and is almost always a slip.
func (r rule) constant(kind string) bool {
	rng := new(splitMix)
	for range tries {
		vars := reflect.New(varsOf(kind)).Elem()
		fillVars(vars, rng)
		if res := r.Eval(vars.Interface(), nil); !res.Holds() {
			return false
		}
	}
	return true
}

func varsOf(kind string) reflect.Type {
	if kind == "capacity" {
		return reflect.TypeFor[Capacity]()
	}
	return reflect.TypeFor[Quality]()
}

// fillVars sets every number to something: -1, 0, 1, a share or a magnitude.
func fillVars(v reflect.Value, rng *splitMix) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillVars(v.Field(i), rng)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillVars(v.Elem(), rng)
	case reflect.Float64:
		v.SetFloat(anyNumber(rng))
	case reflect.Bool:
		v.SetBool(rng.below(2) == 0)
	case reflect.String:
		v.SetString([]string{"", "stable", "variable", "unstable", "unknown"}[rng.below(5)])
	}
}

func anyNumber(rng *splitMix) float64 {
	switch rng.below(4) {
	case 0:
		return float64(rng.below(3) - 1)
	case 1:
		return 2*rng.share() - 1
	case 2:
		return rng.share()
	}
	return math.Pow(10, 12*rng.share()-3)
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
