package publish

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior"
	"github.com/cupel-dev/cupel/stages/stats"
)

// none stands where there is no number; the reason is given beside it.
const none = "–"

const minus = "−"

// scale says how scores are written: as percentages when all of them lie in
// [0, 1], as they are otherwise.
type scale struct{ percent bool }

// score writes a mean, nil as a dash.
func (s scale) score(x *float64) string {
	switch {
	case x == nil:
		return none
	case s.percent:
		return fixed(100**x, 1)
	}
	return strings.ReplaceAll(fmt.Sprintf("%.3g", *x), "-", minus)
}

// diff writes a difference of means with its sign.
func (s scale) diff(x *float64) string {
	switch {
	case x == nil:
		return none
	case s.percent:
		return signed(100**x, 2)
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.3g", *x), "-", minus)
}

// interval writes two limits, with their sign.
func (s scale) interval(lo, hi *float64) string {
	if lo == nil || hi == nil {
		return none
	}
	return "[" + s.diff(lo) + ", " + s.diff(hi) + "]"
}

// unit of differences.
func (s scale) unit() string {
	if s.percent {
		return "pp"
	}
	return "score"
}

// scoreUnit is the unit of means.
func (s scale) scoreUnit() string {
	if s.percent {
		return "%"
	}
	return "score"
}

// scaleOf looks at the means of comparisons.
func scaleOf(results ...stats.Result) scale {
	for _, r := range results {
		for _, s := range append(summaries(r), r.Overall) {
			for _, x := range []*float64{s.MeanA, s.MeanB} {
				if x != nil && (*x < 0 || *x > 1) {
					return scale{}
				}
			}
		}
	}
	return scale{percent: true}
}

func summaries(r stats.Result) []stats.Summary {
	out := make([]stats.Summary, 0, len(r.Strata)+1)
	for _, s := range r.Strata {
		out = append(out, s)
	}
	return out
}

// fixed writes x with that many decimals and never a negative zero.
func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return strings.ReplaceAll(s, "-", minus)
}

// signed is fixed with a plus before what is above 0.
func signed(x float64, decimals int) string {
	s := fixed(x, decimals)
	if x > 0 && strings.Trim(s, "0.") != "" {
		return "+" + s
	}
	return s
}

// quantity writes a time, a rate or a count to three digits, the integer part
// in full.
func quantity(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e12:
		return fmt.Sprintf("%.3g", x)
	case a >= 100 || a == math.Trunc(a) && a < 100:
		return grouped(fixed(x, 0))
	case a >= 10:
		return fixed(x, 1)
	case a >= 1:
		return fixed(x, 2)
	}
	return fmt.Sprintf("%.3g", x)
}

// thousands writes a count with separators.
func thousands(n int) string { return grouped(strings.ReplaceAll(strconv.Itoa(n), "-", minus)) }

func grouped(digits string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(digits, minus); ok {
		sign, digits = minus, rest
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// percent writes a share as a percentage.
func percent(x float64) string { return fixed(100*x, 1) + " %" }

// number is one value or the code of the reason why there is none.
type number struct {
	Text   string
	Reason string // code; "" when there is a value
}

func numberOf(x *float64, reason string) number {
	if x != nil {
		return number{Text: quantity(*x)}
	}
	if reason == "" {
		reason = "absent"
	}
	return number{Text: none, Reason: reason}
}

func valueOf(v metric.Value) number { return numberOf(v.Value, v.Reason) }

var sentences = func() map[string]string {
	out := map[string]string{}
	for _, r := range stats.Reasons {
		out[string(r.Code)] = r.Sentence
	}
	for _, r := range metric.Reasons {
		out[r.Code] = r.Sentence
	}
	for _, r := range prior.Reasons {
		out[r.Code] = r.Sentence
	}
	return out
}()

// because is a reason code with its sentence, where it has one.
func because(code string) string {
	if s := sentences[code]; s != "" {
		return code + " (" + s + ")"
	}
	return code
}

// plural counts things: 1 item, 1,200 items.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}
