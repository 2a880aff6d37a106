package preflight

import (
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Characters that the evidence keeps of a text; its digest stands for the rest.
const (
	answerLimit    = 200
	textLimit      = 8192
	reasoningLimit = 2048
)

// observe keeps what came back.
func observe(q question, request step.Digest, r llm.Response) evidence.Observation {
	o := evidence.Observation{
		What: q.what, Request: request, Limited: q.limited,
		Text: clip(r.Text, textLimit), TextChars: utf8.RuneCountInString(r.Text), TextDigest: digest(r.Text),
		Reasoning: clip(r.Reasoning, reasoningLimit), ReasoningChars: utf8.RuneCountInString(r.Reasoning), ReasoningDigest: digest(r.Reasoning),
		Usage: r.Usage, Finish: r.FinishReason, Model: r.Model, Failure: r.Failure,
	}
	for _, c := range r.ToolCalls {
		o.ToolCalls = append(o.ToolCalls, llm.ToolCall{Name: c.Name, Arguments: c.Arguments})
	}
	return o
}

func digest(text string) *step.Digest {
	if text == "" {
		return nil
	}
	d := step.Sum([]byte(text))
	return &d
}

// textsKept is how many different texts of one check are kept. A check may send
// a thousand requests, and what it found stands in every record that uses it.
const textsKept = 16

// distinct leaves out texts that an earlier observation holds, and those that
// are too many.
func distinct(in []evidence.Observation) []evidence.Observation {
	held := map[step.Digest]bool{}
	keep := func(text string, d *step.Digest) string {
		if d == nil || held[*d] || len(held) >= textsKept {
			return ""
		}
		held[*d] = true
		return text
	}
	var out []evidence.Observation
	for _, o := range in {
		o.Text, o.Reasoning = keep(o.Text, o.TextDigest), keep(o.Reasoning, o.ReasoningDigest)
		out = append(out, o)
	}
	return out
}

// measured is a number that was found, wanted nil = nothing in particular.
func measured(name, unit string, value float64, wanted *float64) evidence.Measured {
	return evidence.Measured{Name: name, Value: &value, Wanted: wanted, Unit: unit}
}

// counted is a count that an endpoint may not have made.
func counted(name, unit string, n *int64, wanted *float64) evidence.Measured {
	if n == nil {
		return evidence.Measured{Name: name, Wanted: wanted, Unit: unit, Reason: "the endpoint does not say"}
	}
	return measured(name, unit, float64(*n), wanted)
}

func promptTokens(r *llm.Response) *int64 {
	if r.Usage == nil {
		return nil
	}
	return r.Usage.PromptTokens
}

func outputTokens(r *llm.Response) *int64 {
	if r.Usage == nil {
		return nil
	}
	return r.Usage.OutputTokens
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// clip keeps the first n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
