package scrape

import (
	"fmt"
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
)

// CacheHitLimit is the share of prompt tokens found in a cache above which a
// cell whose prompts were meant to be new is a warm-cache one.
const CacheHitLimit = 0.01

// UsageTolerance is how far the client's token sum may be off the server's
// counter, as a share of the latter.
const UsageTolerance = 0.02

// WarmCache says whether prompts that were meant to be new were found in a
// cache, and the sentence for the reader. share is metric.Server's
// PrefixHitShare or the client's cached share; a null one tells nothing.
func WarmCache(share metric.Value) (warm bool, sentence string) {
	if share.Value == nil || *share.Value <= CacheHitLimit {
		return false, ""
	}
	return true, fmt.Sprintf("%.3g %% of the prompt tokens were found in the engine's cache, above the %g %% that prompts meant to be new may have: the cell measured a warm cache", *share.Value*100, CacheHitLimit*100)
}

// UsageCheck compares the client's sum of tokens with the growth of the
// server's counter: ratio is client / server, within says that it is known and
// at most UsageTolerance off 1, and the sentence is "" unless it is known and
// further off. Other clients' traffic makes the ratio smaller than 1.
func UsageCheck(client int64, server metric.Value) (ratio metric.Value, within bool, sentence string) {
	if server.Value == nil {
		return metric.Null(server.Reason, "ratio"), false, ""
	}
	counted := *server.Value
	ratio = metric.Ratio(float64(client), counted, "ratio", metric.NoOutput)
	if ratio.Value == nil {
		return ratio, false, ""
	}
	// Products of whole numbers: 102 of 100 is within 2 %, 1.02-1 is not.
	if math.Abs(float64(client)-counted)*100 <= math.Round(UsageTolerance*100)*counted {
		return ratio, true, ""
	}
	return ratio, false, fmt.Sprintf("the client counted %d tokens and the server %.0f (ratio %.3f, beyond %g %%): one of them miscounts or other clients were served", client, counted, *ratio.Value, UsageTolerance*100)
}
