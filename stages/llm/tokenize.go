package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNoTokenize says that an endpoint cannot count the tokens of a text. None
// of the other ways to count are tried.
var ErrNoTokenize = errors.New("the endpoint has no tokenizer page")

// tokenizeForm is one way to ask for the tokens of a text at /tokenize.
type tokenizeForm struct {
	engines []string // that are known to want it
	body    func(model, text string) any
}

// tokenizeForms are tried in this order when the engine is not known. An
// engine that does not know the form refuses it or finds no text in it.
var tokenizeForms = []tokenizeForm{
	{[]string{"vllm", "sglang"}, func(model, text string) any {
		return struct {
			Model  string `json:"model"`
			Prompt string `json:"prompt"`
			Add    bool   `json:"add_special_tokens"`
		}{model, text, false}
	}},
	{[]string{engineLlamaCpp}, func(_, text string) any {
		return struct {
			Content string `json:"content"`
		}{text}
	}},
	{[]string{"tgi"}, func(_, text string) any {
		return struct {
			Inputs string `json:"inputs"`
			Add    bool   `json:"add_special_tokens"`
		}{text, false}
	}},
}

// Tokens counts the tokens of a text as the served model's tokenizer makes
// them, without the special tokens that a template or a request adds. by says
// how it was counted. It is not timed, and uses a connection of its own.
//
// errors.Is(err, ErrNoTokenize) when the endpoint cannot do it, which includes
// every Ollama. Other errors wrap step.ErrUnreachable and step.ErrOutside as
// Scrape does.
func (c *Client) Tokens(ctx context.Context, text string) (n int, by string, err error) {
	const how = "tokenize"
	k := c.known.Load()
	url := k.where.root + "/tokenize"
	none := fmt.Errorf("tokens: POST %s: %w", url, ErrNoTokenize)
	if k.api.ollama() || k.engine == engineOllama {
		return 0, "", none
	}
	if text == "" {
		return 0, how, nil
	}
	for i := k.firstForm(); i < len(tokenizeForms); i++ {
		n, f, err := c.countTokens(ctx, url, tokenizeForms[i].body(k.served, text))
		switch {
		case err != nil:
			return 0, "", fmt.Errorf("tokens: %w", err)
		case f == nil && n > 0:
			c.learn(func(k *known) { k.tokens = i + 1 })
			return n, how, nil
		case f == nil, f.Class == ClassRejected && !f.absent():
			continue // another form may be understood
		case f.absent():
			return 0, "", none
		}
		return 0, "", fmt.Errorf("tokens: %w", problem(http.MethodPost+" "+url, f))
	}
	return 0, "", none
}

// firstForm is the form to begin with.
func (k *known) firstForm() int {
	if k.tokens > 0 {
		return k.tokens - 1
	}
	for i, f := range tokenizeForms {
		if slices.Contains(f.engines, k.engine) {
			return i
		}
	}
	return 0
}

func (c *Client) countTokens(ctx context.Context, url string, ask any) (int, *Failure, error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return 0, nil, err // the text is not UTF-8
	}
	doc, f := c.page(ctx, c.beside, url, body, jsonPage)
	if f != nil {
		return 0, f, nil
	}
	n, err := decodeTokens(doc)
	if err != nil {
		return 0, nil, c.badDoc(http.MethodPost+" "+url, err)
	}
	return n, nil, nil
}

// decodeTokens reads {"count": n, "tokens": [...]}, either of them, or a bare
// list (TGI). A count that the list belies is an error.
func decodeTokens(doc []byte) (int, error) {
	list := jsontext.Value(bytes.TrimSpace(doc))
	var o struct {
		Count  jsontext.Value `json:"count"`
		Tokens jsontext.Value `json:"tokens"`
	}
	if list.Kind() != '[' {
		if err := json.Unmarshal(doc, &o); err != nil {
			return 0, err
		}
		list = o.Tokens
	}
	var said *int64
	if !count(o.Count, &said) {
		return 0, fmt.Errorf("count %s is not a whole number from 0", escape(string(o.Count), 80))
	}
	if !present(list) && said != nil {
		return int(*said), nil
	}
	if list.Kind() != '[' {
		return 0, errors.New("it has neither a count nor a list of tokens")
	}
	n, err := elements(list)
	if err == nil && said != nil && *said != int64(n) {
		err = fmt.Errorf("it counts %d tokens and lists %d", *said, n)
	}
	return n, err
}

// elements counts the elements of a JSON array without keeping them.
func elements(list jsontext.Value) (n int, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(list))
	if _, err := d.ReadToken(); err != nil {
		return 0, err
	}
	for d.PeekKind() != ']' {
		if err := d.SkipValue(); err != nil {
			return 0, err
		}
		n++
	}
	_, err = d.ReadToken()
	return n, err
}
