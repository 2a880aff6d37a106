package prompts

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// AnvilAgentic is the distribution of prompt lengths as coding agents send
// them.
const AnvilAgentic = "anvil/agentic"

// agentic is the distribution function of AnvilAgentic: the share of prompts
// that are at most so long.
var agentic = []struct {
	share  float64
	tokens int
}{{0.218, 16000}, {0.602, 32768}, {0.906, 65536}, {0.995, 131072}, {1, 262144}}

// Lengths draws n prompt lengths in tokens, in order of index, by the inverse
// of the distribution function. The draws are CPython's random.Random(seed).
func Lengths(l spec.Lengths, n int) ([]int, error) {
	if l.Distribution != AnvilAgentic {
		return nil, step.WithHint(fmt.Errorf("distribution of prompt lengths %q is not known", l.Distribution), "use "+AnvilAgentic)
	}
	if n < 0 {
		return nil, fmt.Errorf("%d prompt lengths cannot be drawn", n)
	}
	rng, out := newMT(l.Seed), make([]int, n)
	for i := range out {
		out[i] = quantile(rng.float64())
		if l.Max > 0 {
			out[i] = min(out[i], l.Max)
		}
	}
	return out, nil
}

func quantile(share float64) int {
	for _, step := range agentic {
		if share <= step.share {
			return step.tokens
		}
	}
	return agentic[len(agentic)-1].tokens
}
