package llm_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// probed serves a chat whose usage is what count says of the prompt; a negative
// count is a status, and 0 leaves the usage out.
func probed(t *testing.T, count func(prompt string, n int) int) (llm.TokenProbe, error) {
	t.Helper()
	asked := 0
	client := serve(t, llm.Options{URL: "/v1", Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		var in struct {
			Messages []llm.Message `json:"messages"`
			Max      int           `json:"max_tokens"`
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &in); err != nil || in.Max != 1 {
			t.Errorf("%s: %v", body, err)
		}
		asked++
		n := count(in.Messages[0].Content, asked)
		if n < 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(-n)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"request %d of this process"}}`, asked)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"model":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"length"}]}`+"\n\n")
		if n > 0 {
			_, _ = fmt.Fprintf(w, `data: {"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`+"\n\n", n)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
	return client.Probe(t.Context())
}

// words counts blank-separated words, with 7 of a template.
func words(prompt string, _ int) int { return 7 + len(strings.Fields(prompt)) }

func TestProbeByUsage(t *testing.T) {
	const leavesOut = "the engine leaves tokens out of its count of a prompt, perhaps those in a cache"
	longest := 0
	for name, c := range map[string]struct {
		count func(prompt string, n int) int
		want  llm.TokenProbe
	}{
		"all counted":     {words, llm.TokenProbe{Tokens: 27, Twice: 47, By: "usage"}},
		"nothing counted": {func(string, int) int { return 0 }, llm.TokenProbe{Unknown: "the engine does not count prompt tokens"}},
		"refused":         {func(string, int) int { return -400 }, llm.TokenProbe{Unknown: "the engine refuses a request of one token (HTTP 400)"}},
		"the second one is": {func(p string, n int) int {
			if n == 2 {
				return -403
			}
			return words(p, n)
		}, llm.TokenProbe{Unknown: "the engine refuses a request of one token (HTTP 403)"}},
		"a cold cache": {func(p string, n int) int { // what an earlier prompt began with is left out
			all := words(p, n)
			fresh := max(1, all-longest)
			longest = max(longest, all)
			return fresh
		}, llm.TokenProbe{Unknown: leavesOut}},
		"a warm cache": {func(string, int) int { return 1 }, llm.TokenProbe{Unknown: leavesOut}},
		"by blocks":    {func(p string, n int) int { return words(p, n) % 16 }, llm.TokenProbe{Unknown: leavesOut}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := probed(t, c.count)
			got.Requests = 0
			if err != nil || got != c.want {
				t.Errorf("%+v %v, want %+v", got, err, c.want)
			}
		})
	}
}

// What may be otherwise in a minute is an error: an unknown count of today
// would be another pin than that of tomorrow.
func TestProbeOfBusyEngine(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		if got, err := probed(t, func(string, int) int { return -status }); !errors.Is(err, step.ErrOutside) || got != (llm.TokenProbe{}) {
			t.Errorf("%d: %+v %v", status, got, err)
		}
	}
}

// A tokenizer page is asked instead, where there is one; one that answers
// wrongly is none.
func TestProbeByTokenizer(t *testing.T) {
	for name, c := range map[string]struct {
		page http.HandlerFunc
		want llm.TokenProbe
	}{
		"a page": {func(w http.ResponseWriter, r *http.Request) {
			var in struct {
				Prompt string `json:"prompt"`
			}
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &in)
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"count":%d}`, len(strings.Fields(in.Prompt)))
		}, llm.TokenProbe{Tokens: 20, Twice: 40, By: "tokenize"}},
		"a broken page": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
			llm.TokenProbe{Tokens: 20, Twice: 40, By: "usage"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := llmtest.New(t, llmtest.Script{Probes: true, Before: func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/tokenize" {
					return false
				}
				c.page(w, r)
				return true
			}})
			client := e.Client(t, llm.OpenAI)
			if _, err := client.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := client.Probe(t.Context())
			got.Requests = 0
			if err != nil || got != c.want || (e.Requests() > 0) != (c.want.By == "usage") {
				t.Errorf("%+v %v, want %+v; %d requests", got, err, c.want, e.Requests())
			}
		})
	}
}

// Ollama has no such page: the prompts go through its own API.
func TestProbeOfOllama(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4", Probes: true})
	client := e.Client(t, llm.Ollama)
	if _, err := client.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := client.Probe(t.Context())
	if want := (llm.TokenProbe{Tokens: 20, Twice: 40, By: "usage", Context: 4096, Requests: 2}); err != nil || got != want {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	if again, err := client.Probe(t.Context()); err != nil || again != got {
		t.Errorf("another count the second time: %+v %v", again, err)
	}
	for _, s := range e.Seen() {
		if s.Path != "/api/chat" {
			t.Errorf("asked at %s", s.Path)
		}
	}
}
