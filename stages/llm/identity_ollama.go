package llm

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// askOllama reads /api/tags and /api/show. What changes while it runs (/api/ps)
// is not part of an identity: the probe asks for the context in force.
func (c *Client) askOllama(ctx context.Context, id *Identity) error {
	root := c.known.Load().where.root
	call := http.MethodGet + " " + root + "/api/tags"
	doc, f := c.ask(ctx, root+"/api/tags", nil)
	if f != nil {
		return problem(call, f)
	}
	tags, err := decodeTags(doc)
	if err != nil {
		return c.badDoc(call, err)
	}
	for _, t := range tags {
		id.Listed = append(id.Listed, t.name)
	}
	i, err := c.choose(id.Listed)
	if err != nil {
		return err
	}
	id.tell("GET /api/tags", func() { id.Served, id.ModelDigest = c.Served(), tags[i].digest })

	call = http.MethodPost + " " + root + "/api/show"
	body, err := json.Marshal(map[string]string{"model": tags[i].name})
	if err != nil {
		return c.badDoc(call, err)
	}
	if doc, f = c.ask(ctx, root+"/api/show", body); f != nil {
		return problem(call, f)
	}
	show, err := decodeShow(doc)
	if err != nil {
		return c.badDoc(call, err)
	}
	id.tell("POST /api/show", func() { show.fill(id) })
	return nil
}

type ollamaTag struct{ name, digest string }

func decodeTags(doc []byte) ([]ollamaTag, error) {
	var in struct {
		Models []struct {
			Name   string `json:"name"`
			Model  string `json:"model"`
			Digest string `json:"digest"`
		} `json:"models"`
	}
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, err
	}
	var out []ollamaTag
	for _, m := range in.Models {
		if m.Name == "" {
			m.Name = m.Model
		}
		if m.Name != "" {
			out = append(out, ollamaTag{m.Name, hexDigest(m.Digest)})
		}
	}
	return out, nil
}

// ollamaShow is what /api/show says of a model.
type ollamaShow struct {
	template, weights, quantization string
	parameters                      map[string]string
	trained                         int // context length that the weights were made for
}

func decodeShow(doc []byte) (ollamaShow, error) {
	var in struct {
		Modelfile  string `json:"modelfile"`
		Parameters string `json:"parameters"`
		Template   string `json:"template"`
		Details    struct {
			Quantization string `json:"quantization_level"`
		} `json:"details"`
		ModelInfo map[string]jsontext.Value `json:"model_info"`
	}
	if err := json.Unmarshal(doc, &in); err != nil {
		return ollamaShow{}, err
	}
	s := ollamaShow{weights: weightsIn(in.Modelfile), parameters: parseParameters(in.Parameters),
		trained: length(in.ModelInfo[text(in.ModelInfo["general.architecture"])+".context_length"])}
	if in.Template != "" {
		s.template = step.Sum([]byte(in.Template)).String()
	}
	if q := plain(in.Details.Quantization); q != "unknown" { // Ollama's word for "not said", also for F32
		s.quantization = q
	}
	return s, nil
}

func (s ollamaShow) fill(id *Identity) {
	id.TemplateSHA256, id.WeightsDigest = s.template, s.weights
	id.Quantization, id.Parameters = s.quantization, s.parameters
	if n, err := strconv.Atoi(s.parameters["num_ctx"]); err == nil && n > 0 {
		id.ContextLength = n
	} else {
		if s.trained > 0 {
			id.setting(map[string]string{"n_ctx_train": strconv.Itoa(s.trained)})
		}
		id.Notes = append(id.Notes, "the model sets no num_ctx, so Ollama's own default context applies, which may be shorter than the model's; "+
			"set PARAMETER num_ctx in the Modelfile, because Ollama cuts longer prompts without saying so")
	}
	if s.parameters["repeat_penalty"] == "" {
		id.Notes = append(id.Notes, "the model sets no repeat_penalty, so Ollama's own default applies, also at temperature 0; "+
			"set PARAMETER repeat_penalty in the Modelfile to compare with another engine")
	}
}

// parseParameters reads Ollama's "name   value" lines. A name that comes
// several times (stop) has its values joined with LF, in their order.
func parseParameters(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		value = plain(value)
		if old, ok := out[name]; ok {
			value = old + "\n" + value
		}
		out[plain(name)] = value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// weightsIn returns the digest of the one weights blob that the head of a
// generated Modelfile names: "FROM /path/blobs/sha256-<64 hex>". With several
// (a projector, a split model) no single digest stands for the weights.
func weightsIn(modelfile string) string {
	found := ""
	for line := range strings.Lines(modelfile) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(word) {
		case "FROM":
			rest = strings.TrimSpace(rest)
			if found != "" {
				return ""
			}
			if found = hexDigest(rest[strings.LastIndexAny(rest, `/\`)+1:]); found == "" {
				return ""
			}
		case "", "#":
		default:
			return found // a template may hold lines that look like FROM
		}
	}
	return found
}
