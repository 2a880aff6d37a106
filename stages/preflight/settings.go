package preflight

import "github.com/cupel-dev/cupel/engine/spec"

// What the schema fills in where a section is there, for where it is not.
var (
	defaultLongTools = spec.LongToolsCheck{PromptTokens: 131072, Min: 100000}
	defaultReasoning = spec.ReasoningCheck{Require: "verified"}
	defaultSeed      = spec.SeedCheck{Requests: 16, Concurrency: 8, MinSame: 1, Temperature: 0.8}
)

const defaultParallel = 20

// MostAtOnce is how many requests of one check may be in flight: the schema's
// bound of tools.parallel and seed.concurrency.
const MostAtOnce = 256

func (p *params) parallel() int {
	if p.Tools == nil {
		return defaultParallel
	}
	return p.Tools.Parallel
}

func (p *params) longTools() spec.LongToolsCheck { return valueOr(p.LongTools, defaultLongTools) }
func (p *params) reasoning() spec.ReasoningCheck { return valueOr(p.Reasoning, defaultReasoning) }
func (p *params) seed() spec.SeedCheck           { return valueOr(p.Seed, defaultSeed) }

func (p *params) position() float64 {
	if p.Needle == nil || p.Needle.Position == nil {
		return needlePosition
	}
	return *p.Needle.Position
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
