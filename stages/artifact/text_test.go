package artifact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Texts of a file are shown on one line, without what a terminal would act on,
// of bounded length, and never when they look like a credential.
func TestTexts(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31m\nb\tc":             "a [31m b c",
		"  x  ":                       "x",
		"":                            "-",
		"model sk-a1b2c3d4e5f6a7b8c9": "-",
		"http://user:pass@host/v1":    "-",
		strings.Repeat("é", 1000):     strings.Repeat("é", 299) + "…",
		"vllm/vllm-openai@sha256:212a1bd7b4267c604408d17dc0048ef152101bc67fbe6ba8567899fc1f227bcd": "vllm/vllm-openai@sha256:212a1bd7b4267c604408d17dc0048ef152101bc67fbe6ba8567899fc1f227bcd",
	} {
		quoted, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Read(fmt.Appendf(nil, `{"schema":"anvil-serving.benchmark/v1","metrics":{},"model":%s}`, quoted), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(byName(doc.Records[0])["identity.model"].Value); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// A serve command beside a recipe is not read.
func TestNoCommandLine(t *testing.T) {
	doc, err := Read([]byte(`{"schema":"anvil-serving.fast-tier-bakeoff/v1","suites":{},"source_recipe":{"ref":"recipes.toml#a","serve_command":"vllm serve --api-key hunter2"}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(doc)
	if !strings.Contains(string(b), "recipes.toml#a") || strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "vllm serve") {
		t.Errorf("%s", b)
	}
}
