package llm

import (
	"context"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Identity asks the endpoint what it is. It also settles what the options left
// open: the API, and the model when the endpoint lists exactly one.
//
// Ollama behind its OpenAI-compatible API is asked through its own one, which
// knows the digest, the template and the parameters.
//
// Errors wrap step.ErrUnreachable when nothing answered, and step.ErrOutside
// when the answer was wrong or the model is not served.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	api, err := c.resolve(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	version := ""
	if api.ollama() || c.known.Load().where.v1 {
		if version, err = c.ollamaVersion(ctx); err != nil {
			return Identity{}, fmt.Errorf("identity: %w", err)
		}
	}
	id := Identity{API: api}
	if api.ollama() || version != "" {
		id.tell("GET /api/version", func() { id.EngineName, id.EngineVersion = engineOllama, version })
		err = c.askOllama(ctx, &id)
	} else {
		err = c.askOpenAI(ctx, &id)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	c.learn(func(k *known) {
		k.engine, k.unset = id.EngineName, id.EngineName == engineOllama && id.ContextLength == 0
	})
	return id, nil
}

// Engines whose name decides what may be asked of them.
const (
	engineOllama   = "ollama"
	engineLlamaCpp = "llama.cpp"
	engineVLLM     = "vllm"
	engineSGLang   = "sglang"
	engineTGI      = "tgi"
)

// choose returns the position of the served model among those listed, and
// settles it when the options left it out.
func (c *Client) choose(listed []string) (int, error) {
	want := c.Served()
	switch {
	case len(listed) == 0:
		return 0, step.WithHint(step.Mark(step.ErrOutside, errNoModel), "load a model first")
	case want == "" && len(listed) > 1:
		return 0, step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("the endpoint lists %d models (%s) and none was asked for", len(listed), listing(listed))),
			"set servedName in the binding")
	case want == "":
		c.learn(func(k *known) { k.served = listed[0] })
		return 0, nil
	}
	if i := findName(listed, want); i >= 0 {
		return i, nil
	}
	todo := "set servedName in the binding to one of these"
	if near := nearest(listed, want); near != "" {
		todo = fmt.Sprintf("did you mean %q? set servedName in the binding", escape(near, 200))
	}
	return 0, step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("model %q is not served; the endpoint lists %s", want, listing(listed))), todo)
}

// plain makes a string of an endpoint fit for an identity: printable, short.
func plain(s string) string { return escape(strings.TrimSpace(s), 512) }

// hexDigest returns the 64 digits of a SHA-256 written with or without the
// algorithm in front of it; "" = it is not one.
func hexDigest(s string) string {
	s = strings.TrimSpace(s)
	for _, prefix := range []string{"sha256:", "sha256-"} {
		s = strings.TrimPrefix(s, prefix)
	}
	d, err := step.ParseDigest(strings.ToLower(s))
	if err != nil || d.IsZero() {
		return ""
	}
	return d.String()
}
