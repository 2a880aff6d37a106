package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// ReasoningControl says how a model is asked to reason. At most one of its
// fields is set; none means the engine's default, and nothing is sent.
//
//	                    Thinking                               Effort
//	openai              chat_template_kwargs.enable_thinking   reasoning_effort
//	openai-responses    refused                                reasoning.effort
//	openai-completions  refused                                refused
//	ollama, -generate   think: true or false                   think: "low"
type ReasoningControl struct {
	Thinking *bool
	Effort   string
}

var efforts = []string{"minimal", "low", "medium", "high", "max", "xhigh"}

// ParseReasoning reads a control as it is written in a campaign: none (or ""),
// thinking-on, thinking-off, effort-low and so on.
func ParseReasoning(control string) (ReasoningControl, error) {
	switch control {
	case "", "none":
		return ReasoningControl{}, nil
	case "thinking-on", "thinking-off":
		on := control == "thinking-on"
		return ReasoningControl{Thinking: &on}, nil
	}
	if effort, ok := strings.CutPrefix(control, "effort-"); ok && slices.Contains(efforts, effort) {
		return ReasoningControl{Effort: effort}, nil
	}
	return ReasoningControl{}, step.WithHint(fmt.Errorf("reasoning control %q is not known", control),
		"use none, thinking-on, thinking-off or effort- with one of "+strings.Join(efforts, ", "))
}

// String is the control as it is written in a campaign.
func (c ReasoningControl) String() string {
	switch {
	case c.Effort != "":
		return "effort-" + c.Effort
	case c.Thinking == nil:
		return "none"
	case *c.Thinking:
		return "thinking-on"
	}
	return "thinking-off"
}

// check refuses a control that would have no effect.
func (c ReasoningControl) check(api API, engine, model string) error {
	if c == (ReasoningControl{}) {
		return nil
	}
	refuse := func(why, hint string) error {
		return step.WithHint(fmt.Errorf("reasoning control %s: %s", c, why), hint)
	}
	switch {
	case api == OpenAICompletions:
		return refuse("a bare prompt passes no template that could apply it", "use api: openai")
	case api == OpenAIResponses && c.Thinking != nil:
		return refuse("the responses API has no switch for thinking", "use api: openai")
	case api == OpenAI && engine == engineOllama && c.Thinking != nil:
		return refuse("Ollama ignores it on its OpenAI-compatible API", "use api: ollama with a url that does not end in /v1")
	}
	return c.checkFamily(model)
}

// think is the member of Ollama's own requests; nil = leave it out.
func (c ReasoningControl) think() jsontext.Value {
	switch {
	case c.Thinking != nil:
		return jsontext.Value(strconv.FormatBool(*c.Thinking))
	case c.Effort != "":
		return jsontext.Value(strconv.Quote(c.Effort))
	}
	return nil
}
