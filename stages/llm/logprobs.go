package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// appendLogprobs adds the output tokens that v names: a list of tokens (Ollama,
// responses), the same below "content" (chat), or two lists side by side
// (completions, MLX). It takes what it can read: servers differ here more than
// anywhere, and no answer is worth less for it.
func appendLogprobs(to []Logprob, v jsontext.Value) []Logprob {
	switch v.Kind() {
	case '[':
		return appendTokens(to, v)
	case '{':
	default:
		return to
	}
	var o struct {
		Content  jsontext.Value   `json:"content"`
		Tokens   []jsontext.Value `json:"tokens"`
		Logprobs []jsontext.Value `json:"token_logprobs"`
	}
	if json.Unmarshal(v, &o) != nil {
		return to
	}
	if present(o.Content) {
		return appendTokens(to, o.Content)
	}
	for i := range min(len(o.Tokens), len(o.Logprobs)) {
		to = appendLogprob(to, o.Tokens[i], o.Logprobs[i])
	}
	return to
}

func appendTokens(to []Logprob, list jsontext.Value) []Logprob {
	var tokens []struct {
		Token   jsontext.Value `json:"token"`
		Logprob jsontext.Value `json:"logprob"`
	}
	if json.Unmarshal(list, &tokens) != nil {
		return to
	}
	for _, t := range tokens {
		to = appendLogprob(to, t.Token, t.Logprob)
	}
	return to
}

// appendLogprob adds one token. MLX names tokens by their number, and the
// first token of a text has no log probability.
func appendLogprob(to []Logprob, token, logprob jsontext.Value) []Logprob {
	l := Logprob{Token: string(token)}
	if token.Kind() == '"' {
		l.Token = text(token)
	}
	if !present(token) || !present(logprob) || json.Unmarshal(logprob, &l.Logprob) != nil {
		return to
	}
	return append(to, l)
}
