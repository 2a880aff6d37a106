package llm

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// modelEntry is one entry of /v1/models. Only the id is common to all servers.
type modelEntry struct {
	id, owner, root, digest, quantization string
	aliases                               []string
	maxLen                                int
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
	id.Served = c.Served()
	id.EngineName = engineOf(e.owner)
	id.ModelDigest, id.WeightsDigest = e.digest, e.digest
	id.Quantization, id.ContextLength = e.quantization, e.maxLen
	return c.askBeside(ctx, id, where, e)
}

// askBeside reads the pages next to the OpenAI API that some engines have.
// That a page is not there says nothing; that nothing answers is an error.
func (c *Client) askBeside(ctx context.Context, id *Identity, where place, e modelEntry) error {
	at := where.root + "/props?model=" + url.QueryEscape(e.id)
	switch doc, f := c.ask(ctx, at, nil); {
	case f == nil:
		decodeProps(doc).fill(id, e.owner)
	case f.untold():
		return problem(http.MethodGet+" "+at, f)
	}
	if id.EngineName != "vllm" || id.EngineVersion != "" {
		return nil
	}
	at = where.root + "/version"
	doc, f := c.ask(ctx, at, nil)
	switch {
	case f == nil:
		id.EngineVersion = decodeVersion(doc)
	case f.untold():
		return problem(http.MethodGet+" "+at, f)
	}
	return nil
}

// engineOf maps what servers put into owned_by to the engine's usual name.
func engineOf(owner string) string {
	switch strings.ToLower(owner) {
	case "vllm", "sglang", "cupel-tinyengine":
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
		var meta struct {
			Digest       jsontext.Value `json:"digest"`
			Quantization jsontext.Value `json:"quantization"`
		}
		e := modelEntry{id: d.ID, owner: plain(text(d.OwnedBy)), root: text(d.Root), maxLen: length(d.MaxModelLen)}
		_ = json.Unmarshal(d.Meta, &meta)         // another engine's meta is left alone
		_ = json.Unmarshal(d.Aliases, &e.aliases) // likewise
		e.digest = hexDigest(text(firstPresent(d.Digest, meta.Digest)))
		e.quantization = plain(text(firstPresent(d.Quantization, meta.Quantization)))
		out = append(out, e)
	}
	return out, nil
}

// props is what /props of llama.cpp, or of an engine like it, says.
type props struct {
	build, template, tokenizer string
	ctx                        int
}

// decodeProps is lenient: what it does not find, the engine does not say.
func decodeProps(doc []byte) props {
	var in struct {
		BuildInfo       jsontext.Value `json:"build_info"`
		ChatTemplate    jsontext.Value `json:"chat_template"`
		ChatTemplateSHA jsontext.Value `json:"chat_template_sha256"`
		TokenizerSHA    jsontext.Value `json:"tokenizer_sha256"`
		Defaults        struct {
			NCtx jsontext.Value `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if json.Unmarshal(doc, &in) != nil {
		return props{}
	}
	p := props{build: plain(text(in.BuildInfo)), tokenizer: hexDigest(text(in.TokenizerSHA)), ctx: length(in.Defaults.NCtx)}
	p.template = hexDigest(text(in.ChatTemplateSHA))
	if t := text(in.ChatTemplate); p.template == "" && t != "" {
		p.template = step.Sum([]byte(t)).String()
	}
	return p
}

// fill adds what props say. build_info is "engine version" from the engine
// that owns the model, and a bare build number from llama.cpp.
func (p props) fill(id *Identity, owner string) {
	if p.build != "" {
		id.EngineVersion = p.build
		if version, ok := strings.CutPrefix(p.build, owner+" "); ok && owner != "" {
			id.EngineVersion = version
		} else if id.EngineName == "" {
			id.EngineName = engineLlamaCpp
		}
	}
	id.TemplateSHA256, id.TokenizerSHA256 = p.template, p.tokenizer
	if id.ContextLength == 0 {
		id.ContextLength = p.ctx
	}
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

func firstPresent(vs ...jsontext.Value) jsontext.Value {
	for _, v := range vs {
		if present(v) {
			return v
		}
	}
	return nil
}
