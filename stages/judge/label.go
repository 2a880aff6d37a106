package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Label is an answer that a person has judged: a line of a labels file.
type Label struct {
	ID        string          `json:"id"`
	Candidate string          `json:"candidate,omitempty"` // whose answer it is
	System    string          `json:"system,omitempty"`
	Input     items.Input     `json:"input"`
	Tools     json.RawMessage `json:"tools,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"` // the reference
	Facts     []string        `json:"facts,omitempty"`
	Rubric    string          `json:"rubric,omitempty"`
	Output    string          `json:"output"` // what is judged
	ToolCalls []llm.ToolCall  `json:"tool_calls,omitempty"`
	Label     json.RawMessage `json:"label"` // pass | fail | true | false, or 1 to points
	By        string          `json:"by,omitempty"`
	Note      string          `json:"note,omitempty"`
}

// Key names a label: one item may have answers of several candidates.
func (l *Label) Key() string {
	if l.Candidate == "" {
		return l.ID
	}
	return l.ID + "@" + l.Candidate
}

// Subject is what the judge sees of it: not the label, and not whose it is.
func (l *Label) Subject() Subject {
	return Subject{System: l.System, Input: l.Input, Tools: l.Tools, Reference: l.Answer, Facts: l.Facts, Rubric: l.Rubric, Text: l.Output, ToolCalls: l.ToolCalls}
}

// Value is the label in [0,1], on the judge's scale.
func (f Form) Value(l *Label) (float64, error) {
	word := strings.TrimSpace(string(l.Label))
	switch {
	case word == "" || word == "null":
		return 0, step.WithHint(errors.New("the label is missing"), "a person writes it, or the line is taken out")
	case word[0] == '"':
		if err := json.Unmarshal(l.Label, &word); err != nil {
			return 0, fmt.Errorf("label: %w", err)
		}
	case f.Points == 0 && (word == "true" || word == "1"):
		word = "pass"
	case f.Points == 0 && (word == "false" || word == "0"):
		word = "fail"
	}
	v, err := f.value(word)
	if err != nil {
		want := "pass or fail"
		if f.Points > 0 {
			want = fmt.Sprintf("a whole number from 1 to %d", f.Points)
		}
		return 0, fmt.Errorf("the label %s is not %s", clip(string(l.Label)), want)
	}
	return v, nil
}

// ReadLabels calls use with each label of a file in its order, with its value
// in [0,1]. A problem is an *items.Error with the line.
func (f Form) ReadLabels(name string, r io.Reader, use func(l Label, value float64) error) error {
	seen := map[string]bool{}
	return items.ReadRows(name, r, func(l Label) error {
		switch {
		case l.ID == "":
			return errors.New("the id is missing")
		case len(l.Input) == 0:
			return errors.New("the input is missing: the judge must see the task")
		case seen[l.Key()]:
			return step.WithHint(fmt.Errorf("the answer %q has a label already", l.Key()), "where people disagree, settle it and keep one line")
		}
		seen[l.Key()] = true
		v, err := f.Value(&l)
		if err != nil {
			return err
		}
		return use(l, v)
	})
}
