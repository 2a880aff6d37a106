package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// policyName is what the policy's outcome is called among the checks.
const policyName = "evidence"

// policy holds the answers of all checks together; false = there is none.
func (s *session) policy(made []evidence.Check) (evidence.Check, bool) {
	p := s.Evidence
	if p == nil && s.Compat != "" {
		p = &spec.EvidencePolicy{FinishReasons: []string{"stop", "tool_calls"}, Reasoning: "any"}
	}
	if p == nil {
		return evidence.Check{}, false
	}
	c := judged(policyWrong(p, made), "every answer is as the policy wants it")
	c.Name, c.Passed, c.Compat = policyName, c.Verdict == evidence.CheckPassed, s.Compat
	return c, true
}

// policyWrong says what the policy does not allow, "" = nothing. Answers that
// failed have no finish reason to look at; those that were to be cut have one
// that was asked for.
func policyWrong(p *spec.EvidencePolicy, made []evidence.Check) string {
	var wrong, thinking []string
	answers := 0
	for _, c := range made {
		for _, o := range c.Observations {
			if o.Limited || o.Failure != nil {
				continue
			}
			answers++
			if !slices.Contains(p.FinishReasons, o.Finish) {
				wrong = append(wrong, fmt.Sprintf("%s, %s: the finish reason is %q", c.Name, o.What, clip(o.Finish, 64)))
			}
			if o.ReasoningChars > 0 || o.Usage != nil && o.Usage.ReasoningTokens != nil && *o.Usage.ReasoningTokens > 0 {
				thinking = append(thinking, c.Name)
			}
		}
	}
	switch {
	case len(wrong) > 0:
		return fmt.Sprintf("%s; allowed %s", strings.Join(wrong[:min(len(wrong), 3)], "; "), strings.Join(p.FinishReasons, ", "))
	case p.Reasoning == "required" && len(thinking) == 0:
		return fmt.Sprintf("reasoning is required, and none of %d answers shows any", answers)
	case p.Reasoning == "forbidden" && len(thinking) > 0:
		return fmt.Sprintf("reasoning is forbidden, and %d of %d answers show some, the first in %s", len(thinking), answers, thinking[0])
	}
	return ""
}
