package llm

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// modelEntry is one entry of /v1/models. Only the id is common to all servers.
type modelEntry struct {
	id, owner, root, parent, digest, quantization string
	aliases                                       []string
	maxLen                                        int
	facts                                         map[string]string // llama.cpp: the size of the model
}

// askOpenAI reads /v1/models, and what llama.cpp and vLLM tell elsewhere.
func (c *Client) askOpenAI(ctx context.Context, id *Identity) error {
	where := c.known.Load().where
	call := http.MethodGet + " " + where.base + "/models"
	doc, f := c.ask(ctx, where.base+"/models", nil)
	if f != nil {
		return problem(call, f)
	}
	entries, err := decodeModels(doc)
	if err != nil {
		return c.badDoc(call, err)
	}
	for _, e := range entries {
		id.Listed = append(id.Listed, e.id)
	}
	i, err := c.choose(id.Listed)
	if err != nil {
		return err
	}
	e := entries[i]
	c.learn(func(k *known) { k.aliases = append([]string{e.id, e.root}, e.aliases...) })
	id.tell("GET /v1/models", func() { e.fill(id, entries, c.Served()) })
	return c.askBeside(ctx, id, where, e)
}

// fill adds what an entry says. vLLM names what it loaded as the root; of an
// adapter that is the adapter, and its parent's entry names the model.
func (e modelEntry) fill(id *Identity, all []modelEntry, served string) {
	id.Served, id.EngineName = ShownName(served), engineOf(e.owner)
	id.ServedCut = id.Served != served
	id.ModelDigest, id.WeightsDigest = e.digest, e.digest
	id.Quantization, id.ContextLength = e.quantization, e.maxLen
	id.setting(e.facts)
	if id.EngineName != engineVLLM {
		return
	}
	root := e.root
	if e.parent != "" {
		id.Parent = ShownName(e.parent)
		id.setting(map[string]string{"adapter": lastOf(e.root)})
		root = ""
		for _, other := range all {
			if other.id == e.parent && other.parent == "" {
				root = other.root
				set(&id.ContextLength, other.maxLen)
			}
		}
	}
	id.loaded(root)
}

// askBeside reads the pages next to the OpenAI API that some engines have.
// That a page is not there says nothing; that nothing answers is an error.
func (c *Client) askBeside(ctx context.Context, id *Identity, where place, e modelEntry) error {
	props := page{name: "GET /props", at: "/props?model=" + url.QueryEscape(e.id), read: func(doc []byte, id *Identity) bool {
		decodeProps(doc).fill(id, e.owner)
		return true
	}}
	if _, err := c.read(ctx, where, id, props); err != nil {
		return err
	}
	for _, alike := range pagesOf(id.EngineName) {
		for _, p := range alike {
			known, err := c.read(ctx, where, id, p)
			if err != nil {
				return err
			}
			if known {
				break
			}
		}
	}
	return nil
}

// engineOf maps what servers put into owned_by to the engine's usual name.
func engineOf(owner string) string {
	switch strings.ToLower(owner) {
	case engineVLLM, engineSGLang, "cupel-tinyengine":
		return strings.ToLower(owner)
	case "llamacpp", "llama.cpp":
		return engineLlamaCpp
	}
	return ""
}

func decodeModels(doc []byte) ([]modelEntry, error) {
	var in struct {
		Data []struct {
			ID           string         `json:"id"`
			OwnedBy      jsontext.Value `json:"owned_by"`
			Root         jsontext.Value `json:"root"`
			Parent       jsontext.Value `json:"parent"`
			Digest       jsontext.Value `json:"digest"`
			Quantization jsontext.Value `json:"quantization"`
			MaxModelLen  jsontext.Value `json:"max_model_len"`
			Aliases      jsontext.Value `json:"aliases"`
			Meta         jsontext.Value `json:"meta"`
		} `json:"data"`
	}
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, err
	}
	var out []modelEntry
	for _, d := range in.Data {
		if d.ID == "" {
			continue
		}
		meta := object(d.Meta) // another engine's meta is left alone
		e := modelEntry{id: d.ID, owner: plain(text(d.OwnedBy)), root: text(d.Root), parent: text(d.Parent), maxLen: length(d.MaxModelLen)}
		_ = json.Unmarshal(d.Aliases, &e.aliases) // likewise
		e.digest = hexDigest(text(firstPresent(d.Digest, meta["digest"])))
		e.quantization = plain(text(firstPresent(d.Quantization, meta["quantization"])))
		if engineOf(e.owner) == engineLlamaCpp {
			e.facts = meta.pick(llamaFacts...)
		}
		out = append(out, e)
	}
	return out, nil
}

// text is a JSON string's value; "" = it is something else.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// length is a number of tokens; 0 = it is something else.
func length(v jsontext.Value) int {
	var n *int64
	if !count(v, &n) || n == nil {
		return 0
	}
	return int(*n)
}
