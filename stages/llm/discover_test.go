package llm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

func TestLook(t *testing.T) {
	many := pages(t, map[string]string{"/v1/models": `{"data": [{"id": "a\nb", "owned_by": "vllm"}, {"id": "c", "owned_by": "vllm"}]}`})
	for url, want := range map[string]llm.Found{
		llmtest.New(t, llmtest.Script{Ollama: "0.17.4"}).URL: {API: llm.Ollama, Engine: "ollama", Version: "0.17.4", Models: []string{"scripted"}},
		many:         {API: llm.OpenAI, Engine: "vllm", Models: []string{`a\nb`, "c"}},
		many + "/v1": {API: llm.OpenAI, Engine: "vllm", Models: []string{`a\nb`, "c"}},
		pages(t, map[string]string{"/v1/models": `{"data": []}`}): {API: llm.OpenAI, Models: []string{}},
	} {
		got, err := llm.Look(t.Context(), url)
		if want.Engine == "ollama" && len(got.Models) > 0 {
			want.Models = got.Models // as the script names them
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", url, err, d)
		}
	}
}

// What is no engine is not taken for one, and is asked with GET alone.
func TestLookElsewhere(t *testing.T) {
	var methods []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>a wiki</h1>"))
	}))
	t.Cleanup(s.Close)
	for _, url := range []string{s.URL, "http://127.0.0.1:1", "ftp://127.0.0.1", pages(t, map[string]string{"/v1/models": `[]`}), pages(t, map[string]string{"/api/version": `{"version": "1"}`})} {
		if found, err := llm.Look(t.Context(), url); err == nil {
			t.Errorf("%s: %+v", url, found)
		}
	}
	if strings.Trim(strings.Join(methods, ""), "GET") != "" {
		t.Errorf("asked with %v", methods)
	}
}
