package tinyengine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatRequest is the part of an OpenAI chat completion request that this
// engine honours, and the part that it must refuse because ignoring it would
// change what the caller measures. Anything else (user, metadata, ...) is
// ignored.
type chatRequest struct {
	Model         string         `json:"model"`
	Messages      []wireMessage  `json:"messages"`
	MaxTokens     *int           `json:"max_tokens"`
	MaxCompletion *int           `json:"max_completion_tokens"`
	Temperature   *float64       `json:"temperature"`
	TopP          *float64       `json:"top_p"`
	Seed          *int64         `json:"seed"`
	Stop          stopList       `json:"stop"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options"`

	N                *int            `json:"n"`
	Logprobs         *bool           `json:"logprobs"`
	TopLogprobs      *int            `json:"top_logprobs"`
	Tools            jsontext.Value  `json:"tools"`
	ToolChoice       jsontext.Value  `json:"tool_choice"`
	ResponseFormat   *responseFormat `json:"response_format"`
	FrequencyPenalty *float64        `json:"frequency_penalty"`
	PresencePenalty  *float64        `json:"presence_penalty"`
	LogitBias        map[string]any  `json:"logit_bias"`
	ReasoningEffort  *string         `json:"reasoning_effort"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type string `json:"type"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content wireContent `json:"content"`
}

// wireContent is a string or a list of text parts, which are joined.
type wireContent string

// UnmarshalJSON accepts "text", null and [{"type":"text","text":"..."}].
func (c *wireContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil { // also null
		*c = wireContent(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return errors.New("content must be a string or a list of text parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("content part of type %q: this model reads text only", p.Type)
		}
		text += p.Text
	}
	*c = wireContent(text)
	return nil
}

// stopList is a string or a list of strings.
type stopList []string

// UnmarshalJSON accepts "a", ["a", "b"] and null.
func (s *stopList) UnmarshalJSON(b []byte) error {
	var one *string
	if json.Unmarshal(b, &one) == nil {
		*s = nil
		if one != nil {
			*s = stopList{*one}
		}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return errors.New("stop must be a string or a list of strings")
	}
	*s = many
	return nil
}

// apiError is an error in OpenAI's shape with its HTTP status.
type apiError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (e *apiError) Error() string { return e.Message }

// badRequest is a 400 about one parameter.
func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{status: 400, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error"}
	if param != "" {
		e.Param = &param
	}
	return e
}

func (e *apiError) code(c string) *apiError {
	e.Code = &c
	return e
}

// decodeChat parses and checks a request body.
func decodeChat(body []byte) (*chatRequest, *apiError) {
	r := &chatRequest{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, badRequest("", "the body is not a chat completion request: %v", err)
	}
	if e := r.refuse(); e != nil {
		return nil, e
	}
	return r, r.check()
}

// refuse names what is asked for and cannot be done.
func (r *chatRequest) refuse() *apiError {
	given := func(v jsontext.Value, neutral ...string) bool {
		return len(v) > 0 && !slices.Contains(append(neutral, "null"), string(v))
	}
	nonZero := func(v *float64) bool { return v != nil && *v != 0 }
	for _, u := range []struct {
		asked bool
		param string
		why   string
	}{
		{given(r.Tools, "[]"), "tools", "tools are not supported: describe the call in the prompt and read it from the text"},
		{given(r.ToolChoice, `"none"`, `"auto"`), "tool_choice", "tools are not supported"},
		{r.Logprobs != nil && *r.Logprobs || r.TopLogprobs != nil && *r.TopLogprobs > 0, "logprobs", "log probabilities are not supported"},
		{r.N != nil && *r.N != 1, "n", "n must be 1: send one request per answer"},
		{r.ResponseFormat != nil && r.ResponseFormat.Type != "text", "response_format", "only response_format text is supported: there is no constrained decoding"},
		{nonZero(r.FrequencyPenalty), "frequency_penalty", "penalties are not supported"},
		{nonZero(r.PresencePenalty), "presence_penalty", "penalties are not supported"},
		{len(r.LogitBias) > 0, "logit_bias", "logit_bias is not supported"},
		{r.ReasoningEffort != nil && *r.ReasoningEffort != "none", "reasoning_effort", "this model does not reason"},
	} {
		if u.asked {
			return badRequest(u.param, "%s", u.why).code("unsupported_parameter")
		}
	}
	return nil
}

// maxStops is OpenAI's limit on stop strings.
const maxStops = 4

func (r *chatRequest) check() *apiError {
	switch {
	case r.Model == "":
		return badRequest("model", "model is missing: name one of GET /v1/models")
	case len(r.Messages) == 0:
		return badRequest("messages", "messages is empty: send at least one")
	case r.Temperature != nil && !(*r.Temperature >= 0 && *r.Temperature <= 2):
		return badRequest("temperature", "temperature is %v, want 0 to 2", *r.Temperature)
	case r.TopP != nil && !(*r.TopP > 0 && *r.TopP <= 1):
		return badRequest("top_p", "top_p is %v, want above 0 and at most 1", *r.TopP)
	case len(r.Stop) > maxStops || slices.Contains(r.Stop, ""):
		return badRequest("stop", "stop wants at most %d texts, none empty", maxStops)
	case r.limit() < 0:
		return badRequest("max_tokens", "max_tokens must be at least 1, and equal to max_completion_tokens when both are given")
	}
	for i, m := range r.Messages {
		if !slices.Contains(Roles, m.Role) {
			return badRequest("messages", "message %d has role %q, want one of %v", i, m.Role, Roles)
		}
	}
	return nil
}

// limit is the wanted number of tokens, 0 for "as many as fit", -1 for nonsense.
func (r *chatRequest) limit() int {
	a, b := r.MaxTokens, r.MaxCompletion
	if a == nil {
		a = b
	}
	switch {
	case a == nil:
		return 0
	case *a < 1 || *a > math.MaxInt32 || b != nil && *a != *b:
		return -1
	}
	return *a
}

// options are the sampling parameters, with OpenAI's defaults: temperature 1
// and top_p 1. seed is used when the request has none.
func (r *chatRequest) options(seed uint64) Options {
	o := Options{MaxTokens: r.limit(), Temperature: 1, TopP: 1, Seed: seed, Stop: r.Stop}
	if r.Temperature != nil {
		o.Temperature = *r.Temperature
	}
	if r.TopP != nil {
		o.TopP = *r.TopP
	}
	if r.Seed != nil {
		o.Seed = uint64(*r.Seed)
	}
	return o
}

func (r *chatRequest) messages() []Message {
	out := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		out[i] = Message{Role: m.Role, Content: string(m.Content)}
	}
	return out
}
