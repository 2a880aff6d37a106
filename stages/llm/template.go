package llm

import (
	"context"
	"net/http"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// templating asks an engine for the prompt that its chat template makes of one
// message, without generating anything; "" = it does not tell.
type templating struct {
	by  string // the pages, as they are shown
	ask func(c *Client, ctx context.Context, chat any) (string, *Failure)
}

// probeChat is a conversation of one message.
type probeChat struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Begin    *bool         `json:"add_generation_prompt,omitempty"`
}

var templatings = map[string]templating{
	engineLlamaCpp: {"POST /apply-template", func(c *Client, ctx context.Context, chat any) (string, *Failure) {
		return c.promptAt(ctx, "/apply-template", chat, "prompt")
	}},
	engineTGI: {"POST /chat_tokenize", func(c *Client, ctx context.Context, chat any) (string, *Failure) {
		return c.promptAt(ctx, "/chat_tokenize", chat, "templated_text")
	}},
	engineVLLM: {"POST /tokenize, POST /detokenize", (*Client).throughTokens},
}

// templated returns the digest of the prompt, and the page that told it. Which
// engine is asked is known from Identity.
func (c *Client) templated(ctx context.Context) (digest, by string, err error) {
	k := c.known.Load()
	t, ok := templatings[k.engine]
	if !ok || k.api == OpenAICompletions {
		return "", "", nil
	}
	prompt, f := t.ask(c, ctx, probeChat{Model: k.served, Messages: []chatMessage{{Role: "user", Content: ProbeText}}})
	switch {
	case f != nil && f.untold():
		return "", "", problem(http.MethodPost+" "+k.where.root, f)
	case f != nil, prompt == "":
		return "", "", nil
	}
	return step.Sum([]byte(dateless(prompt))).String(), t.by, nil
}

// promptAt reads one field of the answer to a chat.
func (c *Client) promptAt(ctx context.Context, at string, ask any, field string) (string, *Failure) {
	body, err := json.Marshal(ask)
	if err != nil {
		panic("llm: a chat of one message is plain data: " + err.Error())
	}
	doc, f := c.page(ctx, c.beside, c.known.Load().where.root+at, body, jsonPage)
	if f != nil {
		return "", f
	}
	return text(object(doc)[field]), nil
}

// throughTokens asks vLLM, which tells a prompt only as tokens, what text they
// are.
func (c *Client) throughTokens(ctx context.Context, chat any) (string, *Failure) {
	ask, begin := chat.(probeChat), true
	ask.Begin = &begin
	body, err := json.Marshal(ask)
	if err != nil {
		panic("llm: a chat of one message is plain data: " + err.Error())
	}
	doc, f := c.page(ctx, c.beside, c.known.Load().where.root+"/tokenize", body, jsonPage)
	if f != nil {
		return "", f
	}
	tokens := object(doc)["tokens"]
	if tokens.Kind() != '[' {
		return "", nil
	}
	return c.promptAt(ctx, "/detokenize", struct {
		Model  string         `json:"model"`
		Tokens jsontext.Value `json:"tokens"`
	}{ask.Model, tokens}, "prompt")
}

const months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?`

// dates are the forms in which templates write today's date.
var dates = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2} ` + months + `,? \d{4}\b|\b` + months + ` \d{1,2},? \d{4}\b`)

// dateless leaves dates out of a prompt: a template that writes today's is not
// another one tomorrow.
func dateless(prompt string) string { return dates.ReplaceAllString(prompt, "<date>") }
