package prompts

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
)

// Burst returns the prompts of requests that begin with the same bytes: shared
// tokens of a prefix that this point and trial alone have, so that it is cold
// when the burst begins, and a tail that is each request's own. tokens is the
// whole length.
func Burst(point string, shared, tokens, trial int, seed int64, cpt float64, out spec.CapacityOutput) (Builder, error) {
	if shared < 1 {
		return nil, fmt.Errorf("a burst with a shared prefix of %d tokens is none", shared)
	}
	return newWords(Cell{
		Prompt: spec.CapacityPrompt{Tokens: tokens, SharedTokens: shared, Cache: "unique"}, Output: out,
		Trial: trial, Point: point, Seed: seed, CharsPerToken: cpt,
	}, BurstV1)
}
