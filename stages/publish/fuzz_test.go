package publish

import (
	"math"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// A bound that is drawn stands in the rule as a number.
func FuzzBounds(f *testing.F) {
	for _, rule := range []string{"lo > -0.02", "lo > -0.02 && hi < 1e-3", "lo > -0.02 || true", "1e999 < lo", ""} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		bounds := boundsOf(evidence.GuardResult{Rule: rule})
		for _, b := range bounds {
			if math.IsNaN(b.At) || math.IsInf(b.At, 0) || !strings.Contains(rule, b.Text) {
				t.Errorf("%q: %+v", rule, b)
			}
		}
		if strings.Contains(rule, "||") && bounds != nil {
			t.Errorf("%q has no one margin: %+v", rule, bounds)
		}
	})
}

// A key is found whatever stands around it.
func FuzzCredential(f *testing.F) {
	f.Add("", "")
	f.Add("bearer sk- sk-", "://x@")
	f.Fuzz(func(t *testing.T, before, after string) {
		if credentialIn([]byte(before+` "sk-a1b2c3d4e5f6a7b8" `+after)) == "" {
			t.Errorf("not found after %q and before %q", before, after)
		}
	})
}
