package llm

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
)

// Detect finds out which protocol an endpoint speaks: OpenAI when the URL's
// path ends in /v1, without asking; Ollama when it answers /api/version; else
// OpenAI. An endpoint that cannot be reached is an error.
func Detect(ctx context.Context, url string) (API, error) {
	c, err := New(Options{URL: url})
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.resolve(ctx)
}

// resolve returns the API, and finds it out first if it was left out.
func (c *Client) resolve(ctx context.Context) (API, error) {
	if api := c.API(); api != "" {
		return api, nil
	}
	version, err := c.ollamaVersion(ctx)
	if err != nil {
		return "", err
	}
	c.learn(func(k *known) {
		if k.api = Ollama; version == "" {
			k.api, k.where = OpenAI, k.where.openAI()
		}
	})
	return c.API(), nil
}

// ollamaVersion returns the version that Ollama answers, "" when the endpoint
// answers something else, and an error when it cannot be told.
func (c *Client) ollamaVersion(ctx context.Context) (string, error) {
	url := c.known.Load().where.root + "/api/version"
	doc, f := c.ask(ctx, url, nil)
	if f == nil {
		return decodeVersion(doc), nil
	}
	if f.untold() {
		return "", problem(http.MethodGet+" "+url, f)
	}
	return "", nil
}

// decodeVersion reads {"version": "..."}; "" = it is something else.
func decodeVersion(doc []byte) string {
	var v struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(doc, &v) != nil {
		return ""
	}
	return plain(v.Version)
}
