package llm

import (
	"context"
	"net/http"
)

// Found is a server that answers as an inference engine does.
type Found struct {
	API     API      `json:"api"`
	Engine  string   `json:"engine,omitempty"` // "" = it does not say
	Version string   `json:"version,omitempty"`
	Models  []string `json:"models"` // as it lists them
}

// Look asks an address whether an engine is there, with GET requests alone and
// without knowing a model. ctx bounds it. An address at which something else
// answers, or nothing, is an error.
func Look(ctx context.Context, url string) (Found, error) {
	c, err := New(Options{URL: url})
	if err != nil {
		return Found{}, err
	}
	defer c.Close()
	where := c.known.Load().where
	if version, err := c.ollamaVersion(ctx); err != nil {
		return Found{}, err
	} else if version != "" {
		return c.lookOllama(ctx, where.root, version)
	}
	return c.lookOpenAI(ctx, where.openAI())
}

func (c *Client) lookOllama(ctx context.Context, root, version string) (Found, error) {
	call := http.MethodGet + " " + root + "/api/tags"
	doc, f := c.ask(ctx, root+"/api/tags", nil)
	if f != nil {
		return Found{}, problem(call, f)
	}
	tags, err := decodeTags(doc)
	if err != nil {
		return Found{}, c.badDoc(call, err)
	}
	found := Found{API: Ollama, Engine: "ollama", Version: version, Models: []string{}}
	for _, t := range tags {
		found.Models = append(found.Models, plain(t.name))
	}
	return found, nil
}

func (c *Client) lookOpenAI(ctx context.Context, where place) (Found, error) {
	call := http.MethodGet + " " + where.base + "/models"
	doc, f := c.ask(ctx, where.base+"/models", nil)
	if f != nil {
		return Found{}, problem(call, f)
	}
	entries, err := decodeModels(doc)
	if err != nil {
		return Found{}, c.badDoc(call, err)
	}
	found := Found{API: OpenAI, Models: []string{}}
	for _, e := range entries {
		found.Models = append(found.Models, plain(e.id))
		if found.Engine == "" {
			found.Engine = engineOf(e.owner)
		}
	}
	return found, nil
}
