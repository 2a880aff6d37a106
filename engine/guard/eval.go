package guard

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Missing is a value that a rule names and that is not there.
type Missing struct {
	Path   string
	Reason string // the reason code that came with the data; "absent" if none did
}

// Result of one evaluation. Value is meaningful only when Missing is empty and
// Err is nil.
type Result struct {
	Value   bool
	Missing []Missing
	Err     error
	Explain string         // the rule with the values put in: lo > -0.02   (lo = -0.0093)
	Values  map[string]any // sub-expression -> its value: bool, float64, int64 or string
}

// Holds reports whether the rule is known to be true.
func (r Result) Holds() bool { return r.Value && r.Err == nil && len(r.Missing) == 0 }

// Eval evaluates the rule on a struct of the environment's type. why gives the
// reason codes of absent values by path, or for a whole group by the group's
// path. Nothing is evaluated while a value is missing.
func (p *Program) Eval(vars any, why map[string]string) Result {
	root, err := p.accept(vars)
	if err != nil {
		return Result{Err: err, Explain: p.rule}
	}
	missing := p.missing(root, why)
	res := Result{Missing: missing}
	if len(missing) == 0 {
		res = p.run(root)
	}
	res.Explain = p.explain(root, missing)
	return res
}

func (p *Program) accept(vars any) (reflect.Value, error) {
	root, err := structOf(vars)
	if err == nil && root.Type() != p.env.typ {
		err = fmt.Errorf("the rule was compiled for %s, not for %s", p.env.typ, root.Type())
	}
	return root, err
}

func (p *Program) missing(root reflect.Value, why map[string]string) []Missing {
	var out []Missing
	for _, f := range p.paths {
		if !f.present(root) {
			out = append(out, Missing{f.path, reason(f, why)})
		}
	}
	return out
}

func reason(f *field, why map[string]string) string {
	for ; f.parent != nil; f = f.parent {
		if r := why[f.path]; r != "" {
			return r
		}
	}
	return "absent"
}

// run evaluates with every named value present.
func (p *Program) run(root reflect.Value) Result {
	out, details, err := p.prog.Eval(p.activation(root))
	res := Result{Values: map[string]any{}}
	if details == nil || details.State() == nil {
		res.Err = cmpErr(err, errors.New("the rule was not evaluated"))
		return res
	}
	state := details.State()
	for _, s := range p.shown {
		if v, ok := state.Value(s.id); ok {
			put(res.Values, s.text, v)
		}
	}
	for _, id := range state.IDs() {
		if v, ok := state.Value(id); ok {
			err = cmpErr(err, unusable(v))
		}
	}
	for _, id := range p.loops {
		if v, ok := state.Value(id); !ok || isEmpty(v) {
			err = cmpErr(err, errors.New("a loop over nothing says nothing"))
		}
	}
	value, ok := out.(celBool)
	if !ok {
		err = cmpErr(err, fmt.Errorf("the rule gave %v, neither true nor false", out))
	}
	if err != nil {
		res.Err = fmt.Errorf("rule %q: %w", p.rule, err)
		return res
	}
	res.Value = bool(value)
	return res
}

func (p *Program) activation(root reflect.Value) map[string]any {
	vars := map[string]any{}
	for _, name := range p.Vars() {
		f := p.env.root.child(name)
		switch v, _ := f.in(root); f.kind {
		case number:
			vars[name], _ = f.float(root)
		default:
			vars[name] = v.Interface()
		}
	}
	return vars
}

// unusable says why a sub-expression's value makes the whole an error.
func unusable(v celValue) error {
	if isCELError(v) {
		return fmt.Errorf("an operand has no value: %v", v)
	}
	if d, ok := v.(celDouble); ok && (math.IsNaN(float64(d)) || math.IsInf(float64(d), 0)) {
		return fmt.Errorf("an operand is %v, not a number", d)
	}
	return nil
}

func isEmpty(v celValue) bool {
	s, ok := v.(interface{ Size() celValue })
	return !ok || s.Size() == celInt(0)
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func put(values map[string]any, text string, v celValue) {
	switch v := v.(type) {
	case celBool:
		values[text] = bool(v)
	case celInt:
		values[text] = int64(v)
	case celString:
		values[text] = string(v)
	case celDouble:
		if unusable(v) != nil {
			values[text] = fmt.Sprint(float64(v))
			return
		}
		values[text] = float64(v)
	}
}

// explain puts the values of the named leaves behind the rule.
func (p *Program) explain(root reflect.Value, missing []Missing) string {
	why := map[string]string{}
	for _, m := range missing {
		why[m.Path] = m.Reason
	}
	parts := make([]string, len(p.paths))
	for i, f := range p.paths {
		if r, absent := why[f.path]; absent {
			parts[i] = fmt.Sprintf("%s is absent: %s", f.path, r)
			continue
		}
		parts[i] = fmt.Sprintf("%s = %s", f.path, f.show(root))
	}
	return fmt.Sprintf("%s   (%s)", strings.Join(strings.Fields(p.rule), " "), strings.Join(parts, ", "))
}

func (f *field) show(root reflect.Value) string {
	if f.kind == number {
		x, _ := f.float(root)
		return FormatNumber(x)
	}
	v, _ := f.in(root)
	return fmt.Sprintf("%#v", v.Interface())
}

// FormatNumber prints x with at most five significant digits, without an
// exponent where people would not write one.
func FormatNumber(x float64) string {
	if a := math.Abs(x); a >= 1e4 && a < 1e15 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.5g", x)
}
