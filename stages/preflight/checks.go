package preflight

import (
	"context"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// check returns an outcome with its reason, or an error when the endpoint could
// not be asked.
type check struct {
	run    func(context.Context, *session) (evidence.Check, error)
	sends  func(*params) int // requests at most; nil = none
	short  bool              // of one token or a few each, whatever the candidate's limit is
	compat bool              // has another tool's prompts and rule
}

var checks map[string]check

func init() { // the checks refer to the table through session.run
	checks = map[string]check{
		"health":          {run: health},
		"identity":        {run: identity},
		"generate":        {run: generate, sends: always(1), compat: true},
		"json":            {run: jsonAnswer, sends: always(1), compat: true},
		"needle":          {run: needle, sends: calibrated, compat: true},
		"tools":           {run: tools, sends: func(p *params) int { return p.parallel() }, compat: true},
		"long-tools":      {run: longTools, sends: calibrated, compat: true},
		"streaming-tools": {run: streamingTools, sends: always(1), compat: true},
		"tool-result":     {run: toolResult, sends: always(2), compat: true},
		"parallel-tools":  {run: parallelTools, sends: always(1)},
		"responses":       {run: responses, sends: always(1), compat: true},
		"reasoning":       {run: reasoning, sends: always(2)},
		"structured":      {run: structured, sends: always(1)},
		"seed":            {run: seed, sends: func(p *params) int { return 2*(2+p.seed().Requests) + 1 }},
		"stop":            {run: stop, sends: always(2)},
		"max-tokens":      {run: maxTokens, sends: always(len(caps)), short: true},
		"image":           {run: image, sends: always(2)},
		"ocr":             {run: ocr, sends: always(1)},
		"video":           {run: video, sends: always(1)},
	}
}

// Checks returns the names of the checks, sorted.
func Checks() []string { return slices.Sorted(maps.Keys(checks)) }

func always(n int) func(*params) int { return func(*params) int { return n } }

// calibrated is one request and those that find its length.
func calibrated(p *params) int {
	if p.Compat != "" {
		return 1
	}
	return 1 + prompts.CalibrationLooks
}

// cost bounds what the checks send.
func (p *params) cost(c spec.Candidate) (sum step.Cost) {
	for _, name := range p.Checks {
		k := checks[name]
		if k.sends == nil {
			continue
		}
		n := k.sends(p)
		sum.Requests += n
		switch {
		case k.short:
			sum.Tokens += n * caps[0]
		case name == "needle" || name == "long-tools":
			sum.Tokens += n - 1 + visibleTokens(c.Sampling)
		case name == "generate" || name == "json":
			sum.Tokens += c.Sampling.MaxTokens
		default:
			sum.Tokens += n * visibleTokens(c.Sampling)
		}
	}
	return sum
}

func passed(reason string) evidence.Check {
	return evidence.Check{Verdict: evidence.CheckPassed, Reason: reason}
}

func failed(reason string) evidence.Check {
	return evidence.Check{Verdict: evidence.CheckFailed, Reason: reason}
}

func notSupported(reason string) evidence.Check {
	return evidence.Check{Verdict: evidence.CheckNotSupported, Reason: reason}
}

// judged is passed when nothing is wrong.
func judged(wrong, fine string) evidence.Check {
	if wrong != "" {
		return failed(wrong)
	}
	return passed(fine)
}
