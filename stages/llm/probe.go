package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cupel-dev/cupel/engine/step"
)

// ProbeText is what an endpoint is asked to count: words, digits, punctuation,
// blanks and letters of several scripts, none of which a tokenizer leaves
// alone. It begins with a digit, because some engines put a space before a
// text and others do not. Another text is another pin: it is never changed.
const ProbeText = "7 tokens? The quick brown fox, 1234567890 + 3.14 = x_y[0]; don't  panic: naïve Straße — 東京 мир 😀\n\tend"

// probeTwice shares its beginning with ProbeText and is sent before it: an
// engine that leaves cached tokens out of its count then counts far too few of
// ProbeText, and shows itself.
const probeTwice = ProbeText + "\n" + ProbeText

// leastProbe is fewer tokens than any tokenizer makes of ProbeText.
const leastProbe = 16

// TokenProbe is what an endpoint does with ProbeText: how many tokens it makes
// of it, and which prompt its chat template makes of it. It tells two engines
// apart that say the same of themselves and treat a text differently.
type TokenProbe struct {
	Tokens  int    `json:"tokens,omitempty"`  // by usage with what the chat template adds to a message
	Twice   int    `json:"twice,omitempty"`   // of the text twice, with a line end between
	By      string `json:"by,omitempty"`      // tokenize | usage
	Unknown string `json:"unknown,omitempty"` // why there are no counts

	Template   string `json:"template,omitempty"`    // SHA-256 of the prompt of a chat with ProbeText, dates left out; "" = no page tells it
	TemplateBy string `json:"template_by,omitempty"` // the page that told it
	Context    int    `json:"context,omitempty"`     // tokens that a request may use, told by Ollama of a loaded model; 0 = not told, or the model itself says

	Requests int `json:"-"` // of one token that were sent
}

// Text is the number of tokens that the text adds where it stands again: the
// tokenizer's share, without the chat template's.
func (p TokenProbe) Text() int { return p.Twice - p.Tokens }

// Probe counts the tokens of ProbeText: at the tokenizer page where there is
// one, else by the prompt tokens of two requests of one token. An endpoint that
// counts neither way is no error; one that cannot be reached or is too busy is,
// because the count of today must be that of tomorrow. It also asks for what
// else only shows in use: the prompt that the chat template makes, and the
// context with which Ollama has loaded a model that sets none.
func (c *Client) Probe(ctx context.Context) (TokenProbe, error) {
	p, err := c.probe(ctx)
	switch {
	case err != nil:
		return TokenProbe{}, fmt.Errorf("token probe: %w", err)
	case p.Unknown == "":
		p.Unknown = p.implausible()
	}
	if p.Unknown != "" {
		p = TokenProbe{Unknown: p.Unknown, Requests: p.Requests}
	}
	if p.Template, p.TemplateBy, err = c.templated(ctx); err != nil {
		return TokenProbe{}, fmt.Errorf("template probe: %w", err)
	}
	if err = c.contextInForce(ctx, &p); err != nil {
		return TokenProbe{}, fmt.Errorf("context in force: %w", err)
	}
	return p, nil
}

func (c *Client) probe(ctx context.Context) (p TokenProbe, err error) {
	for _, part := range p.parts() {
		if *part.to, p.By, err = c.Tokens(ctx, part.text); err != nil {
			break
		}
	}
	if err == nil || errors.Is(err, step.ErrUnreachable) || ctx.Err() != nil {
		return p, err
	}
	p = TokenProbe{By: "usage"} // a page that answers wrongly is as good as none
	for _, part := range p.parts() {
		p.Requests++
		if *part.to, p.Unknown, err = c.promptTokens(ctx, part.text); err != nil || p.Unknown != "" {
			break
		}
	}
	return p, err
}

type probePart struct {
	text string
	to   *int
}

// parts are the texts in the order in which they are counted.
func (p *TokenProbe) parts() []probePart {
	return []probePart{{probeTwice, &p.Twice}, {ProbeText, &p.Tokens}}
}

// promptTokens sends the text for one token of output and returns what the
// endpoint counted, or why it did not.
func (c *Client) promptTokens(ctx context.Context, text string) (n int, unknown string, err error) {
	req, err := c.Prepare(Request{
		Messages: []Message{{Role: "user", Content: text}},
		Sampling: Sampling{TopP: 1, MaxTokens: 1}, NoOutput: true,
	})
	if err != nil {
		return 0, "", err
	}
	r := c.Do(ctx, req)
	switch {
	case r.Failure == nil && (r.Usage == nil || r.Usage.PromptTokens == nil):
		return 0, "the engine does not count prompt tokens", nil
	case r.Failure == nil:
		return int(*r.Usage.PromptTokens), "", nil
	case r.Failure.untold() || r.Failure.Class == ClassServerError || r.Failure.Class == ClassCutStream:
		return 0, "", problem(http.MethodPost+" "+req.path, r.Failure)
	case r.Failure.Status != 0: // without the endpoint's words, which may change
		return 0, fmt.Sprintf("the engine refuses a request of one token (HTTP %d)", r.Failure.Status), nil
	}
	return 0, fmt.Sprintf("a request of one token failed (%s)", r.Failure.Class), nil
}

// implausible says why the counts cannot be those of the whole texts.
func (p TokenProbe) implausible() string {
	if p.Text() < leastProbe || p.Text() > p.Tokens+1 { // the line end may be a token
		return "the engine leaves tokens out of its count of a prompt, perhaps those in a cache"
	}
	return ""
}
