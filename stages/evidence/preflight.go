package evidence

import (
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// PreflightDoc is the outcome of a candidate's checks.
type PreflightDoc struct {
	Passed bool    `json:"passed"`
	Checks []Check `json:"checks"`
}

// Check is one preflight check, in the order of the campaign. A policy over the
// answers of all of them stands last, under the name evidence.
type Check struct {
	Name    string  `json:"name"`
	Passed  bool    `json:"passed"`            // nothing but the verdict passed
	Verdict Outcome `json:"verdict,omitempty"` // "" = of a record older than outcomes
	Reason  string  `json:"reason"`
	Compat  string  `json:"compat,omitempty"` // the tool whose pass rule was used, "" = cupel's own
	Status  string  `json:"status,omitempty"` // of a reasoning control: verified | unverified | contradicted | unsupported

	Request      *step.Digest  `json:"request,omitempty"` // the first one
	Answer       string        `json:"answer,omitempty"`  // the last one, at most 200 characters
	Measured     []Measured    `json:"measured,omitempty"`
	Observations []Observation `json:"observations,omitempty"` // in the order in which they were asked
}

// Outcome is what came of a check. An ability that the endpoint lacks is told apart from one
// that it fails at, and refuses the candidate as well: the campaign asked for it.
type Outcome string

// The outcomes.
const (
	CheckPassed       Outcome = "passed"
	CheckFailed       Outcome = "failed"
	CheckNotSupported Outcome = "not-supported"
)

// Measured is a number that a check is about.
type Measured struct {
	Name   string   `json:"name"` // prompt_tokens, same_under_load, ...
	Value  *float64 `json:"value"`
	Wanted *float64 `json:"wanted,omitempty"`
	Unit   string   `json:"unit"`             // tokens | share | characters | requests
	Reason string   `json:"reason,omitempty"` // why there is no value
}

// Observation is one request of a check and its answer, without anything that
// time changes: a duration says nothing of what a candidate can do.
type Observation struct {
	What    string      `json:"what"` // "request 3", "turn 2", "with the control", ...
	Request step.Digest `json:"request"`

	// Text is the answer's first 8,192 characters. It is left out where an
	// earlier observation of the check has the same digest, and of a check with
	// more than 16 different texts.
	Text       string       `json:"text,omitempty"`
	TextChars  int          `json:"text_chars"`
	TextDigest *step.Digest `json:"text_sha256,omitempty"` // of the whole answer, nil = it is empty

	Reasoning       string       `json:"reasoning,omitempty"` // its first 2,048 characters
	ReasoningChars  int          `json:"reasoning_chars"`
	ReasoningDigest *step.Digest `json:"reasoning_sha256,omitempty"`

	ToolCalls []llm.ToolCall `json:"tool_calls,omitempty"` // without their ids, which are drawn
	Usage     *llm.Usage     `json:"usage,omitempty"`
	Finish    string         `json:"finish,omitempty"`
	Model     string         `json:"model,omitempty"`
	Failure   *llm.Failure   `json:"failure,omitempty"`

	// Limited answers were meant to be cut, so that no policy looks at them.
	Limited bool `json:"limited,omitempty"`
}
