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
	ask func(c *Client, ctx context.Context, chat probeChat) (string, *Failure)
}

// probeChat is a conversation of one message.
type probeChat struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Begin    *bool         `json:"add_generation_prompt,omitempty"`
}

var templatings = map[string]templating{
	engineLlamaCpp: {"POST /apply-template", func(c *Client, ctx context.Context, chat probeChat) (string, *Failure) {
		return c.promptAt(ctx, "/apply-template", chat, "prompt")
	}},
	engineTGI: {"POST /chat_tokenize", func(c *Client, ctx context.Context, chat probeChat) (string, *Failure) {
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
	page, f := c.answerAt(ctx, at, ask)
	return text(page[field]), f
}

// answerAt posts to a page below the root and returns its fields.
func (c *Client) answerAt(ctx context.Context, at string, ask any) (fields, *Failure) {
	body, err := json.Marshal(ask)
	if err != nil {
		panic("llm: a chat of one message is plain data: " + err.Error())
	}
	doc, f := c.page(ctx, c.beside, c.known.Load().where.root+at, body, jsonPage)
	return object(doc), f
}

// throughTokens asks vLLM, which tells a prompt only as tokens, what text they
// are.
func (c *Client) throughTokens(ctx context.Context, chat probeChat) (string, *Failure) {
	begin := true
	chat.Begin = &begin
	page, f := c.answerAt(ctx, "/tokenize", chat)
	tokens := page["tokens"]
	if f != nil || tokens.Kind() != '[' {
		return "", f
	}
	return c.promptAt(ctx, "/detokenize", struct {
		Model  string         `json:"model"`
		Tokens jsontext.Value `json:"tokens"`
	}{chat.Model, tokens}, "prompt")
}

const months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?`

// dates are the forms in which templates write today's date.
var dates = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2} ` + months + `,? \d{4}\b|\b` + months + ` \d{1,2},? \d{4}\b`)

// dateless leaves dates out of a prompt: a template that writes today's is not
// another one tomorrow.
func dateless(prompt string) string { return dates.ReplaceAllString(prompt, "<date>") }
