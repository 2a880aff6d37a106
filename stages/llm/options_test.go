package llm_test

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    llm.Options
		says string // "" = accepted
	}{
		{llm.Options{URL: "http://127.0.0.1:8000/v1"}, ""},
		{llm.Options{URL: "https://example.test/prefix/v1/", APIKey: "k"}, ""},
		{llm.Options{URL: "http://[::1]:11434"}, ""},
		{llm.Options{URL: ""}, "empty"},
		{llm.Options{URL: "127.0.0.1:8000"}, "http://127.0.0.1:8000/v1"},
		{llm.Options{URL: "localhost:8000/v1"}, "not http or https"},
		{llm.Options{URL: "ftp://x/v1"}, `"ftp"`},
		{llm.Options{URL: "http:///v1"}, "no host"},
		{llm.Options{URL: "http://:80/v1"}, "no host"},
		{llm.Options{URL: "http://u:hidden@x/v1"}, "apiKeyEnv"},
		{llm.Options{URL: "http://u:hidden@x:bad/v1"}, "does not parse"},
		{llm.Options{URL: "http://x/v1?key=hidden"}, "query"},
		{llm.Options{URL: "http://x/v1?"}, "query"},
		{llm.Options{URL: "http://x/v1#hidden"}, "fragment"},
		{llm.Options{URL: "http://x/v1#"}, "fragment"},
		{llm.Options{URL: "http://x", API: "grpc"}, "openai-responses, ollama or ollama-generate"},
		{llm.Options{URL: "http://x", API: llm.OpenAIResponses}, ""},
		{llm.Options{URL: "http://x/v1", API: llm.OpenAICompletions}, ""},
		{llm.Options{URL: "http://x", API: llm.OllamaGenerate}, ""},
		{llm.Options{URL: "http://x/v1", API: llm.OllamaGenerate}, "drop /v1"},
		{llm.Options{URL: "http://x/v1", API: llm.Ollama}, "drop /v1"},
		{llm.Options{URL: "http://x/v1", APIKey: "hidden\n"}, "line end"},
		{llm.Options{URL: "http://x/v1", APIKey: "k", Headers: map[string]string{"authorization": "hidden"}}, "keep one"},
		{llm.Options{URL: "http://x/v1", Headers: map[string]string{"X": "hidden\r\nY: 1"}}, "header X"},
		{llm.Options{URL: "http://x/v1", Headers: map[string]string{"a b": "hidden"}}, "not a header name"},
		{llm.Options{URL: "http://x/v1", Headers: map[string]string{"accept-encoding": "hidden"}}, "Accept-Encoding"},
		{llm.Options{URL: "http://x/v1", Timeout: -1}, "negative"},
	} {
		client, err := llm.New(c.o)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%q: %v", c.o.URL, err)
		case c.says == "":
			client.Close()
		case err == nil || !strings.Contains(err.Error(), c.says):
			t.Errorf("%q: %v, want %q in it", c.o.URL, err, c.says)
		case strings.Contains(err.Error(), "hidden"):
			t.Errorf("%q: the error repeats a secret: %v", c.o.URL, err)
		}
	}
}
