package publish

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// bound is one comparison of a rule with a constant: lo > -0.02.
type bound struct {
	Guard string
	Text  string
	At    float64
}

var (
	plainNumber = `-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`
	ofInterval  = `(?:(?:boot|tango|t|bca)\.)?(?:lo|hi)|delta`
	boundLeft   = regexp.MustCompile(`^(?:` + ofInterval + `)\s*(?:<|<=|>|>=)\s*(` + plainNumber + `)$`)
	boundRight  = regexp.MustCompile(`^(` + plainNumber + `)\s*(?:<|<=|>|>=)\s*(?:` + ofInterval + `)$`)
)

// boundsOf returns the constants that a rule holds the interval against, when
// the rule is such a comparison or several joined by &&. A rule of any other
// form has no line that could be drawn without saying too much.
func boundsOf(g evidence.GuardResult) []bound {
	var out []bound
	for part := range strings.SplitSeq(g.Rule, "&&") {
		part = strings.TrimSpace(part)
		m := boundLeft.FindStringSubmatch(part)
		if m == nil {
			m = boundRight.FindStringSubmatch(part)
		}
		if m == nil {
			return nil
		}
		at, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil
		}
		out = append(out, bound{Guard: g.Guard, Text: part, At: at})
	}
	return out
}
