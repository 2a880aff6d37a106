package tinyengine

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// modelCard is an entry of GET /v1/models: OpenAI's fields, llama.cpp's meta,
// and what pins the model exactly.
type modelCard struct {
	ID           string    `json:"id"`
	Object       string    `json:"object"`
	Created      int64     `json:"created"`
	OwnedBy      string    `json:"owned_by"`
	Meta         modelMeta `json:"meta"`
	Digest       string    `json:"digest"`       // SHA-256 of the GGUF file, hex
	Quantization string    `json:"quantization"` // from the tensors; MIXED if they differ
	MaxModelLen  int       `json:"max_model_len"`
}

type modelMeta struct {
	Vocab    int   `json:"n_vocab"`
	Context  int   `json:"n_ctx_train"`
	Width    int   `json:"n_embd"`
	Params   int64 `json:"n_params"`
	ByteSize int64 `json:"size"` // of the tensors
}

func (m *Model) card() modelCard {
	return modelCard{
		ID: m.name, Object: "model", Created: created, OwnedBy: owner,
		Meta:   modelMeta{m.cfg.vocab, m.cfg.context, m.cfg.width, m.params, m.bytes},
		Digest: m.digest, Quantization: m.quant, MaxModelLen: m.cfg.context,
	}
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	cards := make([]modelCard, len(s.models))
	for i, m := range s.models {
		cards[i] = m.card()
	}
	reply(w, http.StatusOK, struct {
		Object string      `json:"object"`
		Data   []modelCard `json:"data"`
	}{"list", cards})
}

// modelProps has llama.cpp's shape of GET /props.
type modelProps struct {
	Defaults       propsDefaults `json:"default_generation_settings"`
	TotalSlots     int64         `json:"total_slots"`
	ModelAlias     string        `json:"model_alias"`
	ChatTemplate   string        `json:"chat_template"`
	TemplateSHA256 string        `json:"chat_template_sha256"`
	TokenizerSHA   string        `json:"tokenizer_sha256"`
	BuildInfo      string        `json:"build_info"`
}

type propsDefaults struct {
	Context int `json:"n_ctx"`
}

// props describes the model named in the query; with one model served the name
// may be left out.
func (s *Server) props(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("model")
	if name == "" && len(s.models) == 1 {
		name = s.models[0].name
	}
	m, e := s.model(name)
	if e != nil {
		replyError(w, e)
		return
	}
	sum := sha256.Sum256([]byte(chatTemplate))
	reply(w, http.StatusOK, modelProps{
		Defaults: propsDefaults{m.cfg.context}, TotalSlots: s.slots, ModelAlias: m.name,
		ChatTemplate: chatTemplate, TemplateSHA256: hex.EncodeToString(sum[:]),
		TokenizerSHA: m.tok.digest, BuildInfo: BuildInfo,
	})
}
