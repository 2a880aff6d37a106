package prompts

import (
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// The cases of an effective-context workload.
const (
	NativeNeedle      = "native-needle"      // one fact
	NativeOrder       = "native-order"       // three facts, in order
	NativeDistractor  = "native-distractor"  // one fact among others like it
	NativeIdentifiers = "native-identifiers" // five values to copy exactly
	NativeCrosslink   = "native-crosslink"   // a chain of three facts far apart
)

// ContextProfile is what an effective-context workload asks, and the policy
// that its curve is judged by.
type ContextProfile struct {
	Name        string
	Cases       []string
	Buckets     []int     // tokens, ascending; the first is the baseline
	Positions   []float64 // shares of the text, ascending
	Repetitions int
	Floor       float64 // pass rate of a bucket
	MaxDrop     float64 // of the pass rate, relative to the baseline's
	Headroom    int     // tokens that an answer may take
}

var threeCases = []string{NativeNeedle, NativeOrder, NativeDistractor}

// profiles are the numbers of the anvil profiles of the same names.
var profiles = []ContextProfile{
	{"smoke", []string{NativeNeedle, NativeOrder}, []int{8192, 32768}, []float64{0.1, 0.5, 0.9}, 1, 0.8, 0.2, 2048},
	{"scout", threeCases, []int{8192, 32768, 131072, 262144}, []float64{0.1, 0.25, 0.5, 0.75, 0.9}, 2, 0.75, 0.25, 4096},
	{"deep", threeCases, []int{8192, 32768, 65536, 131072, 262144, 524288, 640000}, []float64{0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95}, 3, 0.7, 0.3, 8192},
}

// Profile returns the profile of that name.
func Profile(name string) (ContextProfile, bool) {
	for _, p := range profiles {
		if p.Name == name {
			p.Cases, p.Buckets, p.Positions = slices.Clone(p.Cases), slices.Clone(p.Buckets), slices.Clone(p.Positions)
			return p, true
		}
	}
	return ContextProfile{}, false
}

// ProfileOf returns the workload's profile with what the workload states put
// over it, buckets and positions in ascending order.
func ProfileOf(w spec.EffectiveContext) (ContextProfile, error) {
	p, ok := Profile(w.Profile)
	if !ok {
		return p, step.WithHint(fmt.Errorf("context profile %q is not known", w.Profile), "use smoke, scout or deep")
	}
	if w.Cases != nil {
		p.Cases = w.Cases
	}
	if w.Buckets != nil {
		p.Buckets = ascending(w.Buckets)
	}
	if w.Positions != nil {
		p.Positions = ascending(w.Positions)
	}
	if w.Repetitions > 0 {
		p.Repetitions = w.Repetitions
	}
	if w.Floor != nil {
		p.Floor = *w.Floor
	}
	if w.MaxDrop != nil {
		p.MaxDrop = *w.MaxDrop
	}
	return p, nil
}

func ascending[T int | float64](s []T) []T {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

// Requests is how many items the profile has.
func (p ContextProfile) Requests() int {
	return len(p.Cases) * len(p.Buckets) * len(p.Positions) * p.Repetitions
}
