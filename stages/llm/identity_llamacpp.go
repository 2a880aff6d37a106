package llm

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// llamaFacts are the fields of llama.cpp's meta in /v1/models that tell one
// model from another where nothing better does.
var llamaFacts = []string{"n_params", "size", "n_vocab", "n_embd", "n_ctx_train", "vocab_type"}

// llamaParameters are the sampler's settings that a request leaves to the
// server. Those that every request names (temperature, top_p, seed, the number of
// tokens, stop) and those that only shape the answer are not among them.
var llamaParameters = []string{
	"dynatemp_range", "dynatemp_exponent", "top_k", "min_p", "top_n_sigma", "xtc_probability", "xtc_threshold", "typical_p",
	"repeat_last_n", "repeat_penalty", "presence_penalty", "frequency_penalty",
	"dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers",
	"mirostat", "mirostat_tau", "mirostat_eta", "adaptive_target", "adaptive_decay",
	"n_keep", "min_keep", "ignore_eos", "samplers", "reasoning_format",
}

// props is what /props of llama.cpp, or of an engine like it, says.
type props struct {
	build, template, tokenizer string
	ctx                        int
	all                        fields
}

// decodeProps is lenient: what it does not find, the engine does not say.
func decodeProps(doc []byte) props {
	all := object(doc)
	p := props{all: all, build: all.text("build_info"), tokenizer: hexDigest(text(all["tokenizer_sha256"])),
		ctx: all.object("default_generation_settings").length("n_ctx")}
	p.template = hexDigest(text(all["chat_template_sha256"]))
	if t := text(all["chat_template"]); p.template == "" && t != "" {
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
	set(&id.ContextLength, p.ctx)
	if id.EngineName == engineLlamaCpp {
		p.fillLlama(id)
	}
}

// fillLlama adds what only llama.cpp says: its slots, its file, its sampler.
func (p props) fillLlama(id *Identity) {
	id.MaxSeqs = p.all.length("total_slots")
	id.loaded(text(p.all["model_path"]))
	set(&id.Quantization, ftype(p.all.text("model_ftype")))
	if m := modalities(p.all.object("modalities")); m != "" {
		id.setting(map[string]string{"modalities": m})
	}
	settings := p.all.object("default_generation_settings")
	params := settings.object("params")
	if params == nil { // before the parameters had an object of their own
		params = settings
	}
	id.applies(params.pick(llamaParameters...))
}

// modalities names what a model takes besides text.
func modalities(f fields) string {
	if f == nil {
		return ""
	}
	out := []string{"text"}
	for _, name := range []string{"vision", "audio", "video"} {
		if f.onOff(name) == "on" {
			out = append(out, name)
		}
	}
	return strings.Join(out, ",")
}

// quantType is llama.cpp's name of a file type: "Q4_K - Medium" is Q4_K_M.
var quantType = regexp.MustCompile(`^(?:\(guessed\) )?(?:all )?([A-Z0-9_]+)(?: - (Small|Medium|Large))?(?: - [0-9.]+ bpw.*)?$`)

// ftype returns the usual name of a file type, "" where the name is not known
// to mean one.
func ftype(s string) string {
	m := quantType.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	if m[2] == "" || m[1] == "Q2_K" && m[2] == "Medium" { // Q2_K has no M in its name
		return m[1]
	}
	return m[1] + "_" + m[2][:1]
}

// firstPresent returns the first value that is neither missing nor null.
func firstPresent(vs ...jsontext.Value) jsontext.Value {
	for _, v := range vs {
		if present(v) {
			return v
		}
	}
	return nil
}
