package llm

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// contextInForce asks Ollama with which context it has loaded a model that sets
// none of its own: its default depends on its environment and on the GPU. The
// token probe has loaded the model; where another one has taken its place since,
// one more request loads it again.
func (c *Client) contextInForce(ctx context.Context, p *TokenProbe) (err error) {
	if !c.known.Load().unset {
		return nil
	}
	n, loaded, err := c.loadedContext(ctx)
	if p.Context = n; err != nil || loaded || p.Unknown != "" {
		return err
	}
	p.Requests++
	if _, _, err = c.promptTokens(ctx, ProbeText); err != nil {
		return err
	}
	p.Context, _, err = c.loadedContext(ctx)
	return err
}

// loadedContext is the context of the served model, 0 = the engine is too old
// to tell, or the model is not loaded.
func (c *Client) loadedContext(ctx context.Context) (n int, loaded bool, err error) {
	k := c.known.Load()
	url := k.where.root + "/api/ps"
	doc, f := c.page(ctx, c.beside, url, nil, jsonPage)
	switch {
	case f == nil:
		n, loaded = decodeLoaded(doc, k.served)
		return n, loaded, nil
	case f.untold():
		return 0, false, problem(http.MethodGet+" "+url, f)
	}
	return 0, true, nil // no such page: asking again would tell no more
}

// decodeLoaded reads a list of loaded models. How much memory they take and
// when they expire is left alone.
func decodeLoaded(doc []byte, served string) (n int, loaded bool) {
	var in struct {
		Models []struct {
			Name    string         `json:"name"`
			Model   string         `json:"model"`
			Context jsontext.Value `json:"context_length"`
		} `json:"models"`
	}
	if json.Unmarshal(doc, &in) != nil {
		return 0, true
	}
	for _, m := range in.Models {
		if sameName(m.Name, served) || sameName(m.Model, served) {
			return length(m.Context), true
		}
	}
	return 0, false
}
