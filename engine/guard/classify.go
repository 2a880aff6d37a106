package guard

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
)

// Outcome of a rule, from best to worst.
type Outcome int

// The outcomes.
const (
	Pass         Outcome = iota // the rule holds
	Undetermined                // the interval reaches to both sides, or a value is absent
	Error                       // an operand has no value
	Fail                        // the rule does not hold wherever in the interval the truth is
)

// String returns pass, undetermined, error or fail.
func (o Outcome) String() string {
	return [...]string{"pass", "undetermined", "error", "fail"}[o]
}

// Classify gives a rule over an interval three verdicts. The rule is evaluated
// at the real values: true is a pass. Otherwise the interval is collapsed to
// one point, lo = hi = estimate, and the point is moved from one end to the
// other: a rule that is false at both ends and everywhere between fails, all
// else is undetermined. For `lo > -M` that means: fail when hi <= -M.
//
// Both ends alone would do for a rule that is monotone in the point. For
// `lo > -M && hi < M` they would not, therefore every number that the real
// evaluation met and that lies inside the interval is tried as well, and so are
// the points between them: that is exact for all rules that compare the ends
// and the estimate with something that does not depend on them.
//
// A rule that names no end and no estimate passes or fails. A missing value is
// undetermined, an error is an error.
func (p *Program) Classify(vars any, why map[string]string) (Outcome, Result) {
	res := p.Eval(vars, why)
	switch {
	case len(res.Missing) > 0:
		return Undetermined, res
	case res.Err != nil:
		return Error, res
	case res.Value:
		return Pass, res
	case !p.HasInterval():
		return Fail, res
	}
	root, err := p.accept(vars)
	if err != nil {
		return Error, res
	}
	if possible, err := p.possible(root, res.Values); possible || err != nil {
		return Undetermined, res
	}
	return Fail, res
}

// HasInterval reports whether the rule names an end or the estimate of an
// interval.
func (p *Program) HasInterval() bool {
	return slices.ContainsFunc(p.paths, func(f *field) bool { return f.role != "" })
}

var errHalf = errors.New("an end of the interval is absent, or the ends are in the wrong order")

// possible reports whether the rule holds for some point of the interval.
func (p *Program) possible(root reflect.Value, values map[string]any) (bool, error) {
	points, err := p.points(root, values)
	if err != nil {
		return false, err
	}
	for _, pt := range points {
		res := p.run(p.collapse(root, pt))
		if res.Err != nil || res.Value {
			return res.Value, res.Err
		}
	}
	return false, nil
}

// intervals returns the lo ends of the intervals that the rule names.
func (p *Program) intervals() []*field {
	var out []*field
	for _, f := range p.paths {
		if f.role == "" {
			continue
		}
		if lo := f.sibling("lo"); !slices.Contains(out, lo) {
			out = append(out, lo)
		}
	}
	return out
}

// point is a place in an interval: a share of the way from lo to hi, and for
// the interval that it was found in the exact value, because a share that is
// multiplied out again may miss the limit that it was computed from.
type point struct {
	share float64
	lo    *field // nil: no interval in particular
	value float64
}

// points returns where to put lo, hi and the estimate: the ends, every number
// of values that lies inside one of the intervals, and the middles between
// neighbours.
func (p *Program) points(root reflect.Value, values map[string]any) ([]point, error) {
	marks := []point{{share: 0}, {share: 1}}
	for _, lo := range p.intervals() {
		l, okLo := lo.float(root)
		h, okHi := lo.sibling("hi").float(root)
		if !okLo || !okHi || l > h {
			return nil, errHalf
		}
		for _, v := range p.numbers(values) {
			if v > l && v < h {
				marks = append(marks, point{(v - l) / (h - l), lo, v})
			}
		}
	}
	slices.SortFunc(marks, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.value, b.value))
	})
	marks = slices.Compact(marks)
	out := marks[:1:1]
	for i := 1; i < len(marks); i++ {
		if a, b := marks[i-1].share, marks[i].share; a < b {
			out = append(out, point{share: a + (b-a)/2})
		}
		out = append(out, marks[i])
	}
	return out, nil
}

// numbers returns the constants of the rule and the values of its
// sub-expressions.
func (p *Program) numbers(values map[string]any) []float64 {
	var out []float64
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			out = append(out, v)
		case int64:
			out = append(out, float64(v))
		}
	}
	preOrder(p.ast.NativeRep().Expr(), func(x expr) {
		if v, ok := constant(x); ok {
			out = append(out, v)
		}
	})
	return out
}

// collapse returns a copy of root in which every interval that the rule names
// is one point. All of them are present: points has looked.
func (p *Program) collapse(root reflect.Value, pt point) reflect.Value {
	dup := reflect.New(root.Type()).Elem()
	dup.Set(root)
	for _, lo := range p.intervals() {
		hi := lo.sibling("hi")
		l, _ := lo.float(root)
		h, _ := hi.float(root)
		x := pt.value
		if pt.lo != lo {
			x = between(l, h, pt.share)
		}
		for _, f := range []*field{lo, hi, lo.sibling("point")} {
			if f != nil && f.present(root) {
				f.setFloat(dup, x)
			}
		}
	}
	return dup
}

// between is exact at both ends and never outside of them.
func between(l, h, share float64) float64 {
	if share == 1 {
		return h
	}
	return min(h, l+share*(h-l))
}
