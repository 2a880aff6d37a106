package llm

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// draft is a request on its way to its bytes.
type draft struct {
	Request
	model   string
	stream  bool
	control ReasoningControl
}

// Prepare builds and hashes the body of a request, so that none of this is
// inside a timed region. Equal requests give equal bytes. The digest is the
// SHA-256 of the body: everything but the address and the headers.
//
// What the protocol, the engine or the model's family does not have is refused
// here, because most servers ignore what they do not know.
func (c *Client) Prepare(r Request) (*Prepared, error) {
	k := c.known.Load()
	proto, ok := k.api.protocol()
	switch {
	case !ok:
		return nil, step.WithHint(errors.New("request: the endpoint's API is not known yet"), "set api in the binding, or ask for the identity first")
	case k.served == "":
		return nil, step.WithHint(errors.New("request: the model to ask for is not known yet"), "set servedName in the binding, or ask for the identity first")
	}
	d := &draft{Request: r, model: k.served, stream: !r.NoStream}
	if d.NoOutput {
		d.Sampling.MaxTokens = 1
	}
	if err := d.check(k); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	doc, err := proto.body(d)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return &Prepared{
		Body: body, Digest: step.Sum(body), PromptBytes: r.promptBytes(),
		path: proto.path, api: k.api, model: k.served, stream: d.stream, noOutput: r.NoOutput,
	}, nil
}

// PrepareFor prepares requests as a client does to which an endpoint said that it
// is id. It opens nothing: the requests are for their digests, and those of an
// identity whose name was cut are not the ones that a client sends.
func PrepareFor(id Identity) func(Request) (*Prepared, error) {
	c := new(Client)
	c.known.Store(&known{api: id.API, served: id.Served, engine: id.EngineName})
	return c.Prepare
}

// check refuses what no endpoint could answer, and what this one would ignore.
func (d *draft) check(k *known) (err error) {
	s := &d.Sampling
	switch {
	case len(d.Messages) == 0:
		return errors.New("it has no messages")
	case s.MaxTokens <= 0:
		return fmt.Errorf("max tokens is %d, want at least 1", s.MaxTokens)
	case s.Temperature < 0 || !finite(s.Temperature):
		return fmt.Errorf("temperature %v is not a number from 0", s.Temperature)
	case s.TopP < 0 || s.TopP > 1 || !finite(s.TopP):
		return fmt.Errorf("top_p %v is not between 0 and 1", s.TopP)
	case s.Seed > maxCount || s.Seed < -maxCount:
		return fmt.Errorf("seed %d is beyond 2^53-1, which JSON readers round", s.Seed)
	case d.Logprobs < -1 || d.Logprobs > maxLogprobs:
		return fmt.Errorf("log probabilities: %d is not between -1 and %d", d.Logprobs, maxLogprobs)
	case d.IgnoreEOS && (k.api.ollama() || k.engine == engineOllama):
		return step.WithHint(errors.New("Ollama cannot go on after the end token, it would ignore the wish"),
			"ask for output of a known length in the prompt instead")
	}
	if err := d.checkMedia(k); err != nil {
		return err
	}
	if d.control, err = ParseReasoning(d.Reasoning); err != nil {
		return err
	}
	return d.control.check(k.api, k.engine, k.served)
}

// maxLogprobs is the most top log probabilities that common servers give.
const maxLogprobs = 20

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// promptBytes is the length of all messages' text in UTF-8, without what the
// engine's template adds.
func (r *Request) promptBytes() (n int) {
	for _, m := range r.Messages {
		n += len(m.Content)
	}
	return n
}

// bare returns the one prompt of a protocol without turns, and the system
// message before it, "" = none.
func (d *draft) bare(api API) (system, prompt string, err error) {
	rest := d.Messages
	if rest[0].Role == "system" {
		system, rest = rest[0].Content, rest[1:]
	}
	switch {
	case len(rest) != 1 || rest[0].Role != "user" || len(rest[0].ToolCalls) > 0:
		return "", "", step.WithHint(fmt.Errorf("api %s takes one user message, not a conversation", api), "use api: openai or ollama")
	case len(d.Tools) > 0:
		return "", "", step.WithHint(fmt.Errorf("api %s takes no tools", api), "use api: openai or ollama")
	}
	return system, rest[0].Content, nil
}

// compact checks a raw JSON part and takes its white space out; member order
// stays, as a prompt template may print it. what names the part in errors.
func compact(raw []byte, what string, want jsontext.Kind) (jsontext.Value, error) {
	if len(raw) == 0 || jsontext.Value(raw).Kind() == 'n' {
		return nil, nil
	}
	v := jsontext.Value(raw).Clone()
	if err := v.Compact(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if v.Kind() != want {
		return nil, fmt.Errorf("%s: a JSON %s, want %s", what, v.Kind(), want)
	}
	return v, nil
}
