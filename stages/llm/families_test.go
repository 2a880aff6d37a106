package llm

import (
	"strings"
	"testing"
)

func TestFamilies(t *testing.T) {
	if len(families) < 6 {
		t.Fatalf("%+v", families)
	}
	for model, want := range map[string]string{
		"openai/gpt-oss-120b": "low medium high", "deepseek-ai/DeepSeek-V4-Pro": "low high max", "Qwen/Qwen3.8-32B": "low medium xhigh",
		"Qwen/Qwen3-8B": "", "meta-llama/Llama-4": "",
	} {
		if got := strings.Join(Efforts(model), " "); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
	for _, c := range []struct{ control, model, says string }{
		{"effort-low", "openai/gpt-oss-20b", ""},
		{"thinking-off", "openai/gpt-oss-20b", "cannot switch thinking"},
		{"effort-high", "Qwen/Qwen3-8B", "do not have it"},
		{"effort-high", "some/other", ""},
		{"none", "Qwen/Qwen3-8B", ""},
		{"effort-huge", "some/other", "is not known"},
	} {
		err := CheckReasoning(c.control, c.model)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s for %s: %v, want %q", c.control, c.model, err, c.says)
		}
	}
}

func TestFamilyTable(t *testing.T) {
	for table, want := range map[string]string{
		"a\tyes":                    "line 1: 2 cells",
		"# x\n\nA\tyes\t-":          "line 3: the mark",
		"a\tmaybe\t-":               "maybe",
		"a\tno\thuge":               "huge",
		"qwen\tno\t-\nqwen3\tno\t-": "line 2: qwen3 is never reached",
	} {
		if _, err := readFamilies(table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", table, err, want)
		}
	}
}
