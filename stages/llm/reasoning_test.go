package llm

import (
	"strings"
	"testing"
)

func TestReasoningControls(t *testing.T) {
	for _, s := range []string{"none", "thinking-on", "thinking-off", "effort-minimal", "effort-low", "effort-medium", "effort-high", "effort-max", "effort-xhigh"} {
		if c, err := ParseReasoning(s); err != nil || c.String() != s {
			t.Errorf("%s: %s, %v", s, c, err)
		}
	}
	if c, err := ParseReasoning(""); err != nil || c != (ReasoningControl{}) {
		t.Errorf("empty: %v, %v", c, err)
	}
	for _, s := range []string{"on", "thinking", "effort-", "effort-LOW", "low", "effort-none"} {
		if c, err := ParseReasoning(s); err == nil {
			t.Errorf("%q was read as %s", s, c)
		}
	}
}

// A control that the model or the protocol would ignore is refused.
func TestReasoningRules(t *testing.T) {
	for _, c := range []struct {
		api                    API
		engine, model, control string
		says                   string // "" = accepted
	}{
		{OpenAI, "vllm", "openai/GPT-OSS-120b", "effort-high", ""},
		{OpenAI, "vllm", "openai/gpt-oss-120b", "effort-max", "family gpt-oss"},
		{OpenAI, "vllm", "openai/gpt-oss-120b", "thinking-off", "cannot switch thinking"},
		{OpenAI, "vllm", "deepseek-ai/DeepSeek-V4-Flash", "effort-max", ""},
		{OpenAI, "sglang", "deepseek_v4", "effort-medium", "do not have it"},
		{OpenAI, "vllm", "Qwen3.8-32B", "effort-xhigh", ""},
		{OpenAI, "vllm", "qwen38-27b", "effort-high", "family qwen38"},
		{OpenAI, "vllm", "Qwen/Qwen3-8B", "effort-low", "family qwen "},
		{OpenAI, "vllm", "Qwen/Qwen3-8B", "thinking-off", ""},
		{OpenAI, "", "some-model", "effort-minimal", ""},
		{OpenAI, "ollama", "qwen3:8b", "thinking-off", "ignores it"},
		{OpenAI, "ollama", "gpt-oss:20b", "effort-low", ""},
		{Ollama, "ollama", "qwen3:8b", "thinking-off", ""},
		{OllamaGenerate, "ollama", "gpt-oss:20b", "thinking-on", "cannot switch"},
		{OpenAIResponses, "vllm", "gpt-oss-20b", "effort-low", ""},
		{OpenAIResponses, "vllm", "m", "thinking-on", "no switch"},
		{OpenAICompletions, "vllm", "m", "effort-low", "bare prompt"},
		{OpenAICompletions, "vllm", "m", "none", ""},
		{OpenAI, "ollama", "qwen3", "none", ""},
	} {
		control, err := ParseReasoning(c.control)
		if err != nil {
			t.Fatal(err)
		}
		err = control.check(c.api, c.engine, c.model)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s on %s, %s, %s: %v, want %q", c.control, c.api, c.engine, c.model, err, c.says)
		}
	}
}
