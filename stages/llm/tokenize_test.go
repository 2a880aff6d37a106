package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// tokenizer answers /tokenize when the text is under that name, and what else
// an engine of that owner is asked for.
func tokenizer(field, owner string, unknown int, answer string, seen *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var ask map[string]any
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &ask)
		*seen = append(*seen, r.Method+" "+r.URL.Path+" "+string(body))
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = fmt.Fprintf(w, `{"data":[{"id":"m","owned_by":%q}]}`, owner)
		case r.URL.Path != "/tokenize":
			w.WriteHeader(http.StatusNotFound)
		case ask[field] == "one two":
			_, _ = io.WriteString(w, answer)
		case unknown == 200:
			_, _ = io.WriteString(w, `{"tokens":[]}`)
		default:
			w.WriteHeader(unknown)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name, field, owner string
		unknown            int
		answer             string
		want, asks         int // asks: of the first call
	}{
		{"vLLM", "prompt", "vllm", 400, `{"count":2,"max_model_len":4096,"tokens":[11,12],"token_strs":null}`, 2, 1},
		{"SGLang", "prompt", "sglang", 422, `{"tokens":[11,12,13],"count":3,"max_model_len":4096}`, 3, 1},
		{"llama.cpp", "content", "llamacpp", 200, `{"tokens":[1,2,3]}`, 3, 1},
		{"an unknown one like llama.cpp", "content", "", 200, `{"tokens":[{"id":1,"piece":"a"},{"id":2,"piece":[195]}]}`, 2, 2},
		{"TGI", "inputs", "", 422, `[{"id":1,"text":"a","start":0,"stop":1},{"id":2,"text":"b","start":1,"stop":2}]`, 2, 3},
	} {
		var seen []string
		client := serve(t, llm.Options{URL: "/v1", Model: "m"}, tokenizer(c.field, c.owner, c.unknown, c.answer, &seen))
		if c.owner != "" {
			if _, err := client.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		seen = nil
		for i := range 2 {
			n, by, err := client.Tokens(t.Context(), "one two")
			if n != c.want || by != "tokenize" || err != nil {
				t.Errorf("%s: %d %q %v, want %d", c.name, n, by, err, c.want)
			}
			if want := c.asks + i; len(seen) != want {
				t.Errorf("%s: %d requests after call %d, want %d: %q", c.name, len(seen), i+1, want, seen)
			}
		}
	}
}

func TestTokenBodies(t *testing.T) {
	var seen []string
	client := serve(t, llm.Options{URL: "/v1", Model: "m"}, tokenizer("inputs", "", 400, `[]`, &seen))
	if _, _, err := client.Tokens(t.Context(), "one two"); !errors.Is(err, llm.ErrNoTokenize) {
		t.Errorf("a tokenizer that finds nothing: %v", err)
	}
	want := []string{
		`POST /tokenize {"model":"m","prompt":"one two","add_special_tokens":false}`,
		`POST /tokenize {"content":"one two"}`,
		`POST /tokenize {"inputs":"one two","add_special_tokens":false}`,
	}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", seen)
	}
}

func TestNoTokens(t *testing.T) {
	for _, c := range []struct {
		answer, says string
		status       int
		is           error
	}{
		{`{"count":3,"tokens":[1]}`, "counts 3 tokens and lists 1", 200, step.ErrOutside},
		{`{"count":-1}`, "count -1", 200, step.ErrOutside},
		{`{"count":1.5}`, "count 1.5", 200, step.ErrOutside},
		{`{"count":1e3}`, "count 1e3", 200, step.ErrOutside},
		{`{"ok":true}`, "neither a count nor a list", 200, step.ErrOutside},
		{`{"tokens":7}`, "neither a count nor a list", 200, step.ErrOutside},
		{`{"tokens":[1,]}`, "invalid", 200, step.ErrOutside},
		{`"x"`, "", 200, step.ErrOutside},
		{``, "", 200, step.ErrOutside},
		{`[` + strings.Repeat("0,", 9<<20) + `0]`, "longer than 16 MiB", 200, step.ErrOutside},
		{`loading sk-secret`, "loading [redacted]", 503, step.ErrOutside},
		{``, "no tokenizer page", 404, llm.ErrNoTokenize},
		{``, "no tokenizer page", 405, llm.ErrNoTokenize},
	} {
		client := serve(t, llm.Options{URL: "/v1", Model: "m", APIKey: "sk-secret"}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.answer)
		})
		n, by, err := client.Tokens(t.Context(), "one two")
		if n != 0 || by != "" || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %d %q %v, want %q", c.answer, n, by, err, c.says)
		}
	}
}

// What no engine needs to be asked about.
func TestTokensWithoutAsking(t *testing.T) {
	c := newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1", Model: "m"})
	if n, _, err := c.Tokens(t.Context(), ""); n != 0 || err != nil {
		t.Errorf("no text: %d, %v", n, err)
	}
	if _, _, err := c.Tokens(t.Context(), "\xff"); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("not UTF-8: %v", err)
	}
	for _, api := range []llm.API{llm.Ollama, llm.OllamaGenerate} {
		if _, _, err := of(t, api).Tokens(t.Context(), "x"); !errors.Is(err, llm.ErrNoTokenize) {
			t.Errorf("%s: %v", api, err)
		}
	}
}

// Once the endpoint has said that it is Ollama behind /v1, what Ollama would
// ignore there is refused.
func TestOllamaBehindOpenAI(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4"})
	c := e.Client(t, llm.OpenAI)
	ask := llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{MaxTokens: 4}}
	thinking, endless := ask, ask
	thinking.Reasoning, endless.IgnoreEOS = "thinking-off", true
	for _, r := range []llm.Request{thinking, endless} {
		if _, err := c.Prepare(r); err != nil {
			t.Errorf("before it is known: %v", err)
		}
	}
	if id, err := c.Identity(t.Context()); err != nil || id.EngineName != "ollama" {
		t.Fatal(id, err)
	}
	for _, r := range []llm.Request{thinking, endless} {
		if _, err := c.Prepare(r); err == nil || !strings.Contains(err.Error(), "ignore") {
			t.Errorf("once it is known: %v", err)
		}
	}
	if _, _, err := c.Tokens(t.Context(), "x"); !errors.Is(err, llm.ErrNoTokenize) {
		t.Errorf("tokens: %v", err)
	}
}
