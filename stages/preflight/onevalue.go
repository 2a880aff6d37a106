package preflight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// oneValue says what keeps text from being exactly one JSON value, equal to
// expect unless that is nil; "" = nothing. White space around it is allowed;
// prose, code fences, a second value and duplicate keys are not. 1 equals 1.0.
func oneValue(text string, expect json.RawMessage) string {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	v, err := dec.ReadValue()
	if err == io.EOF {
		return "the answer is empty"
	}
	if err != nil {
		return "the answer is not one JSON value: " + err.Error()
	}
	v = v.Clone()
	if rest := strings.Trim(text[dec.InputOffset():], " \t\r\n"); rest != "" {
		return fmt.Sprintf("the answer goes on after its JSON value: %q", clip(rest, 40))
	}
	if expect == nil {
		return ""
	}
	// step.Canonical refuses numbers that float64 would make equal.
	want, err := step.Canonical(expect)
	if err != nil {
		return "the expected value cannot be compared: " + err.Error()
	}
	got, err := step.Canonical(v)
	if err != nil {
		return "the answer cannot be compared: " + err.Error()
	}
	if !bytes.Equal(got, want) {
		return "the answer is not the expected value " + clip(string(want), answerLimit)
	}
	return ""
}
