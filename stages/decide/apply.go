package decide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

var verdicts = map[guard.Outcome]evidence.Verdict{
	guard.Pass: evidence.Pass, guard.Undetermined: evidence.Undetermined, guard.Error: evidence.Error, guard.Fail: evidence.Fail,
}

// apply evaluates the rule and fills res. A pass or a fail that blocks put in
// doubt becomes undetermined. It reports whether a narrower interval might
// decide what is undetermined.
func (r rule) apply(res *evidence.GuardResult, f facts, blocks []string) (open bool) {
	outcome, eval := r.Classify(f.vars, f.why)
	res.Verdict, res.Explain = verdicts[outcome], eval.Explain
	res.Values = marshal(eval.Values)
	switch {
	case outcome == guard.Error:
		res.Reason = eval.Err.Error()
	case len(eval.Missing) > 0:
		res.Reason = absent(eval.Missing)
		open = r.onlyLimits(eval.Missing)
	case len(blocks) > 0:
		res.Verdict, res.Reason = evidence.Undetermined, strings.Join(blocks, "; ")
	case outcome == guard.Pass:
		res.Reason = "it holds"
	case outcome == guard.Undetermined:
		res.Reason = "not decided by" + f.span
		open = true
	case r.HasInterval():
		res.Reason = "it holds nowhere in" + f.span
	default:
		res.Reason = "it does not hold"
	}
	return open
}

func marshal(values map[string]any) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // rules are full of < and >
	if enc.Encode(values) != nil {
		return nil // cannot be: the values are booleans, strings and finite numbers
	}
	return bytes.TrimSpace(b.Bytes())
}

func absent(missing []guard.Missing) string {
	parts := make([]string, len(missing))
	for i, m := range missing {
		parts[i] = fmt.Sprintf("%s is absent: %s", m.Path, because(m.Reason))
	}
	return strings.Join(parts, "; ")
}

// onlyLimits reports whether all that is missing is the campaign's interval,
// which exists from some number of items on.
func (r rule) onlyLimits(missing []guard.Missing) bool {
	return !slices.ContainsFunc(missing, func(m guard.Missing) bool { return m.Path != "lo" && m.Path != "hi" })
}

// intervals lists the intervals that the rule names: "" is the campaign's own.
func (r rule) intervals() []string {
	var out []string
	if r.names("lo") || r.names("hi") || r.names("delta") {
		out = append(out, "")
	}
	for _, name := range []string{"boot", "tango", "t", "bca"} {
		if r.names(name) {
			out = append(out, name)
		}
	}
	return out
}

// decidedWith asks whether the rule would be decided if one interval were
// another one.
func (r rule) decidedWith(f facts, set func(*Quality, Limits)) func(stats.Interval) bool {
	q, _ := f.vars.(Quality)
	return func(iv stats.Interval) bool {
		if !iv.Defined {
			return false
		}
		q := q
		lo, hi := iv.Lo, iv.Hi
		set(&q, Limits{&lo, &hi})
		outcome, _ := r.Classify(q, f.why)
		return outcome == guard.Pass || outcome == guard.Fail
	}
}
