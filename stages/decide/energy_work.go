package decide

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
)

// What is named in a rule, beside what it is called.
const (
	aPower   = "W"
	aRequest = "J/request"
	aToken   = "J/token"
)

// kindOf is what an energy is: a power, or joules for a request or a token.
var kindOf = map[string]string{
	"w": aPower, "loaded_idle_w": aPower, "power_watts": aPower, "soc_watts": aPower, "idle_soc_watts": aPower,
	"j_per_request": aRequest, "net_j_per_request": aRequest,
	"j_per_output_token": aToken, "j_per_output_interval": aToken, "j_per_total_token": aToken,
	"net_j_per_output_token": aToken, "net_j_per_output_interval": aToken, "net_j_per_total_token": aToken,
	"energy_per_token_j": aToken, "energy_per_token_active_j": aToken, "cost_per_m_output_tokens": aToken, "tok_per_sec_per_watt": aToken,
}

// Energies of whole requests, and of all requests together, grow with how much was
// answered. A rule that names what makes them as a product, a power and its time, names
// them.
var (
	ofAll      = [][]string{{"j"}, {"net_j"}, {aPower, "duration_s"}, {aPower, "wall_s"}}
	ofRequests = [][]string{{aRequest}}
)

// Of these only a product is one: beside a condition on the joules of a token, one on
// the length of the answers is a good rule.
var (
	ofAllMultiplied      = [][]string{{aRequest, "completed"}, {aRequest, "attempted"}}
	ofRequestsMultiplied = [][]string{{aToken, "output_tokens"}, {aToken, "prompt_tokens"}, {aPower, "e2e_ms"}, {aPower, "request_rate"}}
)

// unequalLoad says why a rule that compares the energies of requests cannot: the
// answers, or how many there were, differ.
func (r rule) unequalLoad(sides []side) (out []string) {
	a, b := sides[0].cell, sides[1].cell
	all := r.bothName(ofAll, ofAllMultiplied)
	if a == nil || b == nil || !all && !r.bothName(ofRequests, ofRequestsMultiplied) {
		return nil
	}
	if x, y := a.OutputTokens.Mean, b.OutputTokens.Mean; x != nil && y != nil && apart(*x, *y) > workTolerance {
		out = append(out, fmt.Sprintf("%s: the answers differ in length, and longer ones take more energy; compare joules per token: %.1f output tokens a request on %s, %.1f on %s", unequalWork, *x, sides[0].name, *y, sides[1].name))
	}
	if all && a.Completed != b.Completed {
		out = append(out, fmt.Sprintf("%s: the cells hold different numbers of requests; compare joules per request or per token: %d on %s, %d on %s", unequalWork, a.Completed, sides[0].name, b.Completed, sides[1].name))
	}
	return out
}

// answersTolerance is how far apart the mean output tokens of two cells may lie before
// it is noted beside joules per token.
const answersTolerance = 0.10

// unequalAnswers notes that joules per token of both sides are of answers of another
// length.
func (r rule) unequalAnswers(sides []side) []string {
	a, b := sides[0].cell, sides[1].cell
	if a == nil || b == nil || !r.bothName([][]string{{aToken}}, nil) {
		return nil
	}
	x, y := a.OutputTokens.Mean, b.OutputTokens.Mean
	if x == nil || y == nil || apart(*x, *y) <= answersTolerance {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s: %.1f output tokens a request on %s, %.1f on %s", answersDiffer, sentences[answersDiffer], *x, sides[0].name, *y, sides[1].name)}
}

// apart is the difference of two counts, relative to the larger.
func apart(x, y float64) float64 {
	if x == y {
		return 0
	}
	return math.Abs(x-y) / math.Max(x, y)
}

// bothName reports whether the rule, or one of its conditions, names all of one of the
// sets of either side: of the first sets anywhere, of the second in one condition.
func (r rule) bothName(anywhere, together [][]string) bool {
	if has(anywhere, r.Paths()) {
		return true
	}
	return slices.ContainsFunc(r.Clauses(), func(c guard.Clause) bool { return has(together, c.Paths) })
}

func has(sets [][]string, paths []string) bool {
	mine, theirs := amounts(paths, "candidate"), amounts(paths, "baseline")
	return slices.ContainsFunc(sets, func(set []string) bool {
		return !slices.ContainsFunc(set, func(name string) bool { return !mine[name] || !theirs[name] })
	})
}

// amounts are the names of a side's numbers among the paths, and the kinds of its
// energies.
func amounts(paths []string, side string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		of, rest, _ := strings.Cut(p, ".")
		first, _, _ := strings.Cut(rest, ".")
		last := p[strings.LastIndexByte(p, '.')+1:]
		switch {
		case of != side:
		case first == "energy" || first == "asiai":
			out[last], out[kindOf[last]] = true, true
		default:
			out[first] = true
		}
	}
	return out
}
