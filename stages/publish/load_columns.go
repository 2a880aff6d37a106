package publish

import (
	"github.com/cupel-dev/cupel/stages/metric"
)

// loadColumn is one number of a cell in a load table.
type loadColumn struct {
	Head string
	of   func(*metric.Cell) number
}

func p50(what, unit string, d func(*metric.Cell) *metric.Dist) loadColumn {
	return loadColumn{what + " p50" + unit, func(c *metric.Cell) number { return numberOf(d(c).P50, d(c).Reason) }}
}

func p95(what, unit string, d func(*metric.Cell) *metric.Dist) loadColumn {
	return loadColumn{what + " p95" + unit, func(c *metric.Cell) number { return numberOf(d(c).P95, d(c).Reason) }}
}

func one(head string, v func(*metric.Cell) metric.Value) loadColumn {
	return loadColumn{head, func(c *metric.Cell) number { return valueOf(v(c)) }}
}

func share(head string, v func(*metric.Cell) metric.Value) loadColumn {
	return loadColumn{head, func(c *metric.Cell) number {
		if x := v(c).Value; x != nil {
			return number{Text: percent(*x)}
		}
		return valueOf(v(c))
	}}
}

func ttft(c *metric.Cell) *metric.Dist         { return &c.TTFT }
func tpot(c *metric.Cell) *metric.Dist         { return &c.TPOT }
func prompts(c *metric.Cell) *metric.Dist      { return &c.PromptTokens }
func outputs(c *metric.Cell) *metric.Dist      { return &c.OutputTokens }
func throughput(c *metric.Cell) metric.Value   { return c.ThroughputTokS }
func passRate(c *metric.Cell) metric.Value     { return c.PassRate }
func sloAttained(c *metric.Cell) metric.Value  { return c.SLOAttained }
func cachedTokens(c *metric.Cell) *metric.Dist { return &c.CachedTokens }

// columns are what a table shows of each kind of workload.
var columns = map[string][]loadColumn{
	"capacity": {p50("TTFT", ", ms", ttft), p95("TTFT", ", ms", ttft), p50("TPOT", ", ms", tpot), one("throughput, tok/s", throughput),
		one("goodput, req/s", func(c *metric.Cell) metric.Value { return c.Goodput })},
	"imported": {p50("TTFT", ", ms", ttft), p95("TTFT", ", ms", ttft), p95("end to end", ", ms", func(c *metric.Cell) *metric.Dist { return &c.E2E }),
		p50("decode", ", tok/s", func(c *metric.Cell) *metric.Dist { return &c.DecodeTokS }), one("throughput, tok/s", throughput)},
	"open-loop": {one("offered, req/s", func(c *metric.Cell) metric.Value { return c.OfferedRate }),
		one("sent, req/s", func(c *metric.Cell) metric.Value { return c.AchievedRate }),
		p50("TTFT from schedule", ", ms", func(c *metric.Cell) *metric.Dist { return &c.TTFTFromSchedule }),
		p95("TTFT from schedule", ", ms", func(c *metric.Cell) *metric.Dist { return &c.TTFTFromSchedule }),
		p95("end to end from schedule", ", ms", func(c *metric.Cell) *metric.Dist { return &c.E2EFromSchedule }),
		one("goodput, req/s", func(c *metric.Cell) metric.Value { return c.Goodput }), share("in SLO", sloAttained)},
	"search": {one("most requests/s", func(c *metric.Cell) metric.Value { return c.MaxRate }),
		one("most in flight", func(c *metric.Cell) metric.Value { return c.MaxConcurrency }),
		share("in SLO", sloAttained), p95("TTFT", ", ms", ttft), one("throughput, tok/s", throughput)},
	"decode": {p50("decode", ", tok/s", func(c *metric.Cell) *metric.Dist { return &c.DecodeTokS }), p50("TPOT", ", ms", tpot),
		p95("token gap", ", ms", func(c *metric.Cell) *metric.Dist { return &c.ITL }), p50("output tokens", "", outputs), one("throughput, tok/s", throughput)},
	"ladder": {p50("prompt tokens", "", prompts), p50("cached tokens", "", cachedTokens), p50("TTFT", ", ms", ttft), p95("TTFT", ", ms", ttft),
		p50("prefill", ", tok/s", func(c *metric.Cell) *metric.Dist { return &c.EffectivePrefill }), share("needle found", passRate)},
	"effective-context": {one("effective context, tokens", func(c *metric.Cell) metric.Value { return c.EffectiveContext }),
		share("right answers", passRate), p50("TTFT", ", ms", ttft)},
	"prefix-burst": {p50("TTFT", ", ms", ttft), p95("TTFT", ", ms", ttft), share("prompt from cache", func(c *metric.Cell) metric.Value { return c.CachedShare }),
		one("throughput, tok/s", throughput)},
	"bench": {p50("tok/s", "", func(c *metric.Cell) *metric.Dist { return &c.TokPerSec }),
		one("deviation, tok/s", func(c *metric.Cell) metric.Value { return c.StdDevTokS }), p50("TTFT", ", ms", ttft),
		p50("end to end", ", ms", func(c *metric.Cell) *metric.Dist { return &c.E2E }), p50("output tokens", "", outputs)},
}

func columnsOf(kind string) []loadColumn {
	if cs := columns[kind]; cs != nil {
		return cs
	}
	return columns["capacity"]
}
