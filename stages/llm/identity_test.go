package llm_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

const (
	hexA = "533f9266dde3427843fedb28c71ea96cb338089c99a1e838a68767329cde0293"
	hexB = "588cbf0ced4e0bf066607ca35ae37d221813ce58721b6278cd68df05afa184b9"
	// SHA-256 of "abc" (FIPS 180-2)
	hexABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

// pages serves fixed documents; a path that is not there is 404, "captured"
// ones are full HTTP responses of a real server.
func pages(tb testing.TB, docs map[string]string) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		doc, ok := docs[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if _, body, captured := strings.Cut(doc, "\r\n\r\n"); captured {
			doc = body
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/metrics" {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		}
		_, _ = w.Write([]byte(doc))
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

func identify(tb testing.TB, o llm.Options) (llm.Identity, *llm.Client, error) {
	tb.Helper()
	c, err := llm.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	id, err := c.Identity(tb.Context())
	return id, c, err
}

func same(t *testing.T, got, want llm.Identity) {
	t.Helper()
	got.Notes, got.By = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIdentityOfTinyEngine(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Models: []llmtest.Model{{ID: "tiny-q8", Digest: hexB, Quantization: "Q8_0", Template: "abc", Context: 1024}}})
	id, c, err := identify(t, llm.Options{URL: e.URL})
	if err != nil {
		t.Fatal(err)
	}
	same(t, id, llm.Identity{API: llm.OpenAI, Served: "tiny-q8", EngineName: "cupel-tinyengine", EngineVersion: "1", ModelDigest: hexB, WeightsDigest: hexB,
		Quantization: "Q8_0", ContextLength: 1024, TemplateSHA256: hexABC, Listed: []string{"tiny-q8"}})
	if c.Served() != "tiny-q8" || c.API() != llm.OpenAI {
		t.Errorf("served %q, api %q", c.Served(), c.API())
	}
	if r := c.Do(t.Context(), hi(t, c)); r.Failure != nil || r.Model != "tiny-q8" {
		t.Errorf("after detection: %+v", r.Failure)
	}
}

// A captured Ollama says the same through its own API and behind /v1.
func TestIdentityOfOllama(t *testing.T) {
	url := pages(t, map[string]string{"/api/version": capture(t, "version"), "/api/tags": capture(t, "tags"), "/api/show": capture(t, "show-tiny"), "/v1/models": capture(t, "v1-models")})
	want := llm.Identity{API: llm.Ollama, Served: "tiny", EngineName: "ollama", EngineVersion: "0.17.4", ModelDigest: hexA, ContextLength: 4096,
		TemplateSHA256: "b6a1d25324281c5c645e8abdd4bbda8d4c015385b4df97a83aa4fe107fdf50b7",
		Parameters:     map[string]string{"stop": "\"<|im_start|>\"\n\"<|im_end|>\"", "temperature": "0", "num_ctx": "4096", "num_thread": "1", "seed": "1"},
		Listed:         []string{"table2:latest", "table:latest", "tiny:latest"}}
	id, _, err := identify(t, llm.Options{URL: url, Model: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, id, want)
	if len(id.Notes) != 1 || !strings.Contains(id.Notes[0], "repeat_penalty") {
		t.Errorf("notes %q", id.Notes)
	}
	id, _, err = identify(t, llm.Options{URL: url + "/v1", Model: "tiny:latest"})
	if err != nil {
		t.Fatal(err)
	}
	want.API, want.Served = llm.OpenAI, "tiny:latest"
	same(t, id, want)
}

// Without num_ctx Ollama's default applies, and a blob in FROM is the weights.
func TestIdentityOfOllamaBlob(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4", Models: []llmtest.Model{{ID: "m:latest", Digest: hexA, Weights: hexB, Template: "abc", Quantization: "Q4_0"}}})
	id, _, err := identify(t, llm.Options{URL: e.URL})
	if err != nil {
		t.Fatal(err)
	}
	same(t, id, llm.Identity{API: llm.Ollama, Served: "m:latest", EngineName: "ollama", EngineVersion: "0.17.4", ModelDigest: hexA, WeightsDigest: hexB,
		Quantization: "Q4_0", TemplateSHA256: hexABC, Parameters: map[string]string{"temperature": "0"}, Settings: map[string]string{"n_ctx_train": "32768"}, Listed: []string{"m:latest"}})
	if len(id.Notes) != 2 || !strings.Contains(id.Notes[0], "num_ctx") {
		t.Errorf("notes %q", id.Notes)
	}
}

func TestIdentityOfOtherEngines(t *testing.T) {
	for name, c := range map[string]struct {
		docs map[string]string
		want llm.Identity
	}{
		"llama.cpp": {map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"q.gguf","object":"model","owned_by":"llamacpp","meta":{"n_vocab":32000,"n_ctx_train":8192}}]}`,
			"/props":     `{"build_info":"b6000-abcdef","chat_template":"abc","default_generation_settings":{"n_ctx":2048,"params":{}}}`,
		}, llm.Identity{Served: "q.gguf", EngineName: "llama.cpp", EngineVersion: "b6000-abcdef", ContextLength: 2048, TemplateSHA256: hexABC,
			Settings: map[string]string{"n_vocab": "32000", "n_ctx_train": "8192"}}},
		"vLLM": {map[string]string{
			"/v1/models": `{"data":[{"id":"m","owned_by":"vllm","root":"/models/m","parent":null,"max_model_len":4096,"permission":[]}]}`,
			"/version":   `{"version":"0.11.2"}`,
		}, llm.Identity{Served: "m", EngineName: "vllm", EngineVersion: "0.11.2", File: "m", ContextLength: 4096}},
		"says little": {map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/props": `<html>`}, llm.Identity{Served: "m"}},
		"says nonsense": {map[string]string{
			"/v1/models": `{"data":[{"id":"m","owned_by":7,"digest":"0000","max_model_len":-1,"meta":[],"aliases":{},"root":{}},{"id":""}]}`,
			"/props":     `{"build_info":"x\u001b[31m","chat_template":{},"default_generation_settings":{"n_ctx":1.5}}`,
		}, llm.Identity{Served: "m", EngineName: "llama.cpp", EngineVersion: `x\x1b[31m`}},
	} {
		t.Run(name, func(t *testing.T) {
			id, _, err := identify(t, llm.Options{URL: pages(t, c.docs) + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			c.want.API, c.want.Listed = llm.OpenAI, []string{c.want.Served}
			same(t, id, c.want)
		})
	}
}

// An alias that the endpoint gives itself is the asked model; another is not.
func TestAliasOfIdentity(t *testing.T) {
	fault := func(int, string) llmtest.Fault { return llmtest.Fault{Model: "Org/Tiny"} }
	e := llmtest.New(t, llmtest.Script{Fault: fault, Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/models" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":[{"id":"tiny","root":"Org/Tiny"}]}`))
		return true
	}})
	c := e.Client(t, llm.OpenAI)
	if r := c.Do(t.Context(), hi(t, c)); r.Failure == nil || r.Failure.Class != llm.ClassWrongModel {
		t.Errorf("before the identity: %+v", r.Failure)
	}
	if _, err := c.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := c.Do(t.Context(), hi(t, c)); r.Failure != nil {
		t.Errorf("after the identity: %+v", r.Failure)
	}
}

func TestIdentityErrors(t *testing.T) {
	list := `{"data":[{"id":"llama-3.1-8b"},{"id":"org/Tiny-Q8"}]}`
	reply := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		model  string
		mark   error
		says   []string
	}{
		"not listed, near": {reply(200, "application/json", list), "llama-3.1-8B", step.ErrOutside, []string{`"llama-3.1-8b"`, "did you mean"}},
		"other directory":  {reply(200, "application/json", list), "tiny-q8", step.ErrOutside, []string{`did you mean "org/Tiny-Q8"`}},
		"not listed":       {reply(200, "application/json", list), "gemma", step.ErrOutside, []string{"lists", "one of these"}},
		"several":          {reply(200, "application/json", list), "", step.ErrOutside, []string{"2 models", "servedName"}},
		"none":             {reply(200, "application/json", `{"data":[]}`), "", step.ErrOutside, []string{"lists no model"}},
		"duplicate keys":   {reply(200, "application/json", `{"data":[],"data":[]}`), "", step.ErrOutside, []string{"duplicate"}},
		"HTML":             {reply(200, "text/html", "<title>Login</title>"), "", step.ErrOutside, []string{"Login", "/v1"}},
		"401":              {reply(401, "application/json", `{"error":{"message":"bad key sk-very-secret"}}`), "", step.ErrOutside, []string{"bad key [redacted]", "apiKeyEnv", "401"}},
		"404":              {reply(404, "text/plain", "nothing"), "", step.ErrOutside, []string{"nothing"}},
		"loading":          {reply(503, "application/json", `{"error":{"message":"Loading model"}}`), "", step.ErrOutside, []string{"Loading model", "later"}},
		"dropped":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", step.ErrUnreachable, []string{"start the server"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			_, _, err := identify(t, llm.Options{URL: s.URL + "/v1", Model: c.model, APIKey: "sk-very-secret"})
			if !errors.Is(err, c.mark) {
				t.Fatalf("%v, want %v", err, c.mark)
			}
			for _, part := range append(c.says, "identity: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v, want %q in it", err, part)
				}
			}
			var hint *step.Hint
			if !errors.As(err, &hint) {
				t.Errorf("no hint in %v", err)
			}
		})
	}
}

func TestHealthAndDetect(t *testing.T) {
	open := llmtest.New(t, llmtest.Script{})
	ollama := llmtest.New(t, llmtest.Script{Ollama: "0.17.4"})
	for url, want := range map[string]llm.API{open.URL: llm.OpenAI, ollama.URL: llm.Ollama, ollama.URL + "/v1/": llm.OpenAI, "http://127.0.0.1:1/v1": llm.OpenAI} {
		if got, err := llm.Detect(t.Context(), url); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", url, got, err, want)
		}
	}
	if _, err := llm.Detect(t.Context(), "http://127.0.0.1:1"); !errors.Is(err, step.ErrUnreachable) {
		t.Errorf("nothing there: %v", err)
	}
	for _, e := range []*llmtest.Endpoint{open, ollama} {
		c, err := llm.New(llm.Options{URL: e.URL})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Health(t.Context()); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open.Client(t, llm.OpenAI).Health(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, step.ErrUnreachable) {
		t.Errorf("canceled: %v", err)
	}
}
