package publish

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// Imputed says of a comparison under the policy zero which of its numbers nobody
// measured, "" for none.
func Imputed(c *evidence.Comparison) string {
	if n := c.Attrition.Total; n > 0 && c.Attrition.Policy == "zero" {
		return fmt.Sprintf("%s of %s have no score on a side, and missing: zero takes the worst case for them (the candidate's is 0, the baseline's 1): means, difference, lost and won are that case and no measurement",
			thousands(n), plural(c.Stats.Overall.N, "item", "items"))
	}
	return ""
}
