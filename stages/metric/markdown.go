package metric

import (
	"fmt"
	"strings"
)

const intro = `# Metrics

Printed from the code (stages/metric); a test keeps it so.

A metric that cannot be computed is null with a reason code. It is never 0 and
never an estimate. Client times are nanoseconds on the monotonic clock, taken
when bytes arrive.

## Boundaries of one streamed request

| name | moment |
|---|---|
| t0 | the request is built; the moment before it is written |
| twritten | the whole request is written to the connection |
| tfo | the first non-empty delta of any channel arrives: reasoning, content or tool-call arguments |
| tft | the first non-empty content delta arrives; a delta with a role alone is no token, white space is |
| tlast | the last non-empty delta arrives |
| tend | the stream is complete; one that just stops is a failure |

On every row 0 <= tfo - t0 <= tft - t0 <= tend - t0, and tlast lies between tft
and tend. A row that breaks this is kept, marked inconsistent-clock and left out.

A failed request has no metric: its class is the reason of each of its values.

An answer in one piece has no stream: of its times only the last is known.

## Distributions

Over successful requests, unless said otherwise. A percentile is the nearest
rank: the sorted value at the 1-based rank ceil(p * n / 100), so the median of
an even number of values is the lower of the middle two. A standard deviation is
the sample's. Percentiles of fewer than 100 values are descriptive-only.

A certified percentile (p50_certified and so on) is an upper bound of the true
one with 99 % confidence: the sorted value at rank n - t, for the largest t >= 1
with P(Binomial(n, 1 - p) <= t) <= 0.01. It needs 11 values for p50, 64 for p90,
130 for p95, 662 for p99 and 6,636 for p99.9, and is null with fewer. It takes
the values as independent draws, which requests are more than the gaps of one
request: those of itl_ms and event_gap_ms promise less.
`

// Markdown returns the whole of docs/metrics.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	for _, s := range []struct{ scope, title string }{
		{scopeRequest, "Per request"}, {scopeCell, "Per cell"}, {scopeQuality, "Per scored generation"}, {scopeEnergy, "Energy"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| id | unit | better | formula | null when | version | also called |\n|---|---|---|---|---|---|---|\n", s.title)
		for _, d := range Dictionary {
			if d.Scope == s.scope {
				null := strings.Join(d.NullWhen, ", ")
				if s.scope == scopeEnergy && d.ID != perEnergy[0].ID {
					null = asJ(d.NullWhen)
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %s |\n", d.ID, d.Unit, d.Better, d.Formula, null, d.Version, strings.Join(d.Aliases, ", "))
			}
		}
	}
	b.WriteString("\n## The words of other tools\n\nn = output tokens. The same word is another number from tool to tool.\n\n| word | tools | formula | here |\n|---|---|---|---|\n")
	for _, o := range otherTools {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", o.Word, o.Tools, o.Formula, o.Ours)
	}
	b.WriteString("\n## Reason codes\n\n| code | meaning |\n|---|---|\n")
	for _, r := range Reasons {
		fmt.Fprintf(&b, "| %s | %s |\n", r.Code, r.Sentence)
	}
	return b.String()
}
