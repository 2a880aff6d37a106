package llm_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

func newClient(tb testing.TB, o llm.Options) *llm.Client {
	tb.Helper()
	c, err := llm.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// full is a request that uses everything.
func full() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: "system", Content: "be brief"},
			{Role: "user", Content: "weather <in> \"Köln\"?\u2028"},
			{Role: "assistant", ToolCalls: json.RawMessage(`[ {"id":"c1","type":"function","function":{"name":"w","arguments":"{\"city\": \"Köln\"}"}} ]`)},
			{Role: "tool", Content: "rain", ToolCallID: "c1"},
		},
		Tools:    json.RawMessage(`[ {"type": "function", "function": {"name": "w"}} ]`),
		Format:   json.RawMessage(`{"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}`),
		Sampling: llm.Sampling{Temperature: 0, TopP: 0.95, Seed: 7, MaxTokens: 64, Stop: []string{"\n\n"}},
	}
}

// The bytes of a request are fixed: a change here changes every digest that
// users have stored.
func TestPreparedBytes(t *testing.T) {
	for api, want := range map[llm.API]string{
		llm.OpenAI: `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"weather <in> \"Köln\"?` + "\u2028" + `"},` +
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{\"city\": \"Köln\"}"}}]},` +
			`{"role":"tool","content":"rain","tool_call_id":"c1"}],"stream":true,"stream_options":{"include_usage":true},` +
			`"temperature":0,"top_p":0.95,"seed":7,"max_tokens":64,"stop":["\n\n"],"tools":[{"type":"function","function":{"name":"w"}}],` +
			`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}}`,
		llm.Ollama: `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"weather <in> \"Köln\"?` + "\u2028" + `"},` +
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"w","arguments":{"city":"Köln"}}}]},` +
			`{"role":"tool","content":"rain","tool_call_id":"c1"}],"stream":true,"truncate":false,"shift":false,"format":{"type":"object"},"tools":[{"type":"function","function":{"name":"w"}}],` +
			`"options":{"temperature":0,"top_p":0.95,"seed":7,"num_predict":64,"stop":["\n\n"]}}`,
		llm.OpenAIResponses: `{"model":"m","input":[{"role":"system","content":"be brief"},{"role":"user","content":"weather <in> \"Köln\"?` + "\u2028" + `"},` +
			`{"type":"function_call","call_id":"c1","name":"w","arguments":"{\"city\": \"Köln\"}"},{"type":"function_call_output","call_id":"c1","output":"rain"}],` +
			`"stream":true,"temperature":0,"top_p":0.95,"seed":7,"max_output_tokens":64,"store":false,"truncation":"disabled",` +
			`"tools":[{"type":"function","name":"w"}],"text":{"format":{"type":"json_schema","name":"x","schema":{"type":"object"}}}}`,
	} {
		c := newClient(t, llm.Options{URL: "http://127.0.0.1:1", API: api, Model: "m"})
		r := full()
		if api == llm.OpenAIResponses {
			r.Sampling.Stop = nil
		}
		p, err := c.Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(p.Body) != want {
			t.Errorf("%s:\n got %s\nwant %s", api, p.Body, want)
		}
		if p.Digest != step.Sum(p.Body) {
			t.Errorf("%s: digest %s is not that of the body", api, p.Digest)
		}
		if want := len("be brief") + len("weather <in> \"Köln\"?\u2028") + len("rain"); p.PromptBytes != want {
			t.Errorf("%s: %d prompt bytes, want %d", api, p.PromptBytes, want)
		}
	}
}

// The digest knows the model and the parameters, not the address or the key.
func TestDigest(t *testing.T) {
	digest := func(o llm.Options, change func(*llm.Request)) step.Digest {
		r := full()
		change(&r)
		p, err := newClient(t, o).Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	none := func(*llm.Request) {}
	base := llm.Options{URL: "http://127.0.0.1:1/v1", Model: "m"}
	other := llm.Options{URL: "https://example.test/x/v1", Model: "m", APIKey: "k", Headers: map[string]string{"X": "y"}}
	if digest(base, none) != digest(other, none) {
		t.Error("address or credentials are in the digest")
	}
	seen := map[step.Digest]string{digest(base, none): "base"}
	model := base
	model.Model = "n"
	for name, d := range map[string]step.Digest{
		"model":       digest(model, none),
		"seed":        digest(base, func(r *llm.Request) { r.Sampling.Seed++ }),
		"max tokens":  digest(base, func(r *llm.Request) { r.Sampling.MaxTokens++ }),
		"temperature": digest(base, func(r *llm.Request) { r.Sampling.Temperature = 0.1 }),
		"stream":      digest(base, func(r *llm.Request) { r.NoStream = true }),
		"stop":        digest(base, func(r *llm.Request) { r.Sampling.Stop = nil }),
		"tools":       digest(base, func(r *llm.Request) { r.Tools = nil }),
	} {
		if old, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", name, old)
		}
		seen[d] = name
	}
}

func TestPrepareErrors(t *testing.T) {
	open := newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1", Model: "m"})
	ollama := newClient(t, llm.Options{URL: "http://127.0.0.1:1", API: llm.Ollama, Model: "m"})
	for _, c := range []struct {
		client *llm.Client
		change func(*llm.Request)
		says   string
	}{
		{newClient(t, llm.Options{URL: "http://127.0.0.1:1", Model: "m"}), func(*llm.Request) {}, "API is not known"},
		{newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1"}), func(*llm.Request) {}, "servedName"},
		{open, func(r *llm.Request) { r.Messages = nil }, "no messages"},
		{open, func(r *llm.Request) { r.Sampling.MaxTokens = 0 }, "max tokens is 0"},
		{open, func(r *llm.Request) { r.Sampling.Temperature = math.NaN() }, "temperature NaN"},
		{open, func(r *llm.Request) { r.Sampling.TopP = 1.5 }, "top_p 1.5"},
		{open, func(r *llm.Request) { r.Sampling.Seed = 1 << 53 }, "2^53"},
		{open, func(r *llm.Request) { r.Messages[0].Content = "\xff" }, "UTF-8"},
		{open, func(r *llm.Request) { r.Logprobs = -2 }, "-2 is not between -1 and 20"},
		{open, func(r *llm.Request) { r.Logprobs = 21 }, "21 is not between"},
		{open, func(r *llm.Request) { r.Reasoning = "effort-huge" }, `"effort-huge" is not known`},
		{ollama, func(r *llm.Request) { r.IgnoreEOS = true }, "Ollama cannot go on"},
		{of(t, llm.OllamaGenerate), func(r *llm.Request) { r.IgnoreEOS = true }, "Ollama cannot go on"},
		{of(t, llm.OllamaGenerate), func(*llm.Request) {}, "one user message"},
		{of(t, llm.OllamaGenerate), func(r *llm.Request) { r.Messages = r.Messages[:2] }, "no tools"},
		{of(t, llm.OpenAICompletions), func(*llm.Request) {}, "one user message"},
		{of(t, llm.OpenAICompletions), func(r *llm.Request) { r.Messages, r.Tools = r.Messages[:2], nil }, "system message"},
		{of(t, llm.OpenAICompletions), func(r *llm.Request) { r.Messages, r.Tools = r.Messages[1:2], nil }, "response format"},
		{of(t, llm.OpenAIResponses), func(*llm.Request) {}, "no stop sequences"},
		{of(t, llm.OpenAIResponses), func(r *llm.Request) { r.Sampling.Stop, r.Tools = nil, json.RawMessage(`[{"type":"web"}]`) }, "tool 1 has no function"},
		{of(t, llm.OpenAIResponses), func(r *llm.Request) {
			r.Sampling.Stop, r.Format = nil, json.RawMessage(`{"type":"json_schema","json_schema":{}}`)
		}, "no schema object"},
		{of(t, llm.OpenAIResponses), func(r *llm.Request) {
			r.Sampling.Stop, r.Tools = nil, json.RawMessage(`[{"function":{"type":"x","name":"w"}}]`)
		}, "duplicate"},
		{open, func(r *llm.Request) { r.Tools = json.RawMessage(`{}`) }, "tools: a JSON"},
		{open, func(r *llm.Request) { r.Tools = json.RawMessage(`[{"a":1,"a":2}]`) }, "duplicate"},
		{open, func(r *llm.Request) { r.Messages[2].ToolCalls = json.RawMessage(`[`) }, "message 3: tool calls"},
		{open, func(r *llm.Request) { r.Format = json.RawMessage(`"json"`) }, "response format"},
		{ollama, func(r *llm.Request) { r.Format = json.RawMessage(`{"type":"grammar"}`) }, `"grammar"`},
		{ollama, func(r *llm.Request) { r.Format = json.RawMessage(`{"type":"json_schema"}`) }, "no schema"},
		{ollama, func(r *llm.Request) {
			r.Messages[2].ToolCalls = json.RawMessage(`[{"function":{"name":"w","arguments":"x"}}]`)
		}, "not a JSON object"},
	} {
		r := full()
		c.change(&r)
		if _, err := c.client.Prepare(r); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q in it", err, c.says)
		}
	}
}

func of(tb testing.TB, api llm.API) *llm.Client {
	return newClient(tb, llm.Options{URL: "http://127.0.0.1:1", API: api, Model: "m"})
}

// What a request may have beyond the plain one, in the spelling of each API.
func TestPreparedExtras(t *testing.T) {
	plain := func(change func(*llm.Request)) llm.Request {
		r := llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: 9}}
		change(&r)
		return r
	}
	const sampling = `"temperature":0,"top_p":1,"seed":0`
	chat := `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true},` + sampling + `,"max_tokens":`
	bare := `{"model":"m","prompt":"hi","stream":true,"stream_options":{"include_usage":true},` + sampling + `,"max_tokens":`
	responses := `{"model":"m","input":[{"role":"user","content":"hi"}],"stream":true,` + sampling + `,"max_output_tokens":9,"store":false,"truncation":"disabled"`
	ollama := `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true`
	const uncut, options = `,"truncate":false,"shift":false`, `,"options":{"temperature":0,"top_p":1,"seed":0,"num_predict":`
	thinkingOff := func(r *llm.Request) { r.Reasoning = "thinking-off" }
	low := func(r *llm.Request) { r.Reasoning = "effort-low" }
	top3 := func(r *llm.Request) { r.Logprobs = 3 }
	chosen := func(r *llm.Request) { r.Logprobs = -1 }
	endless := func(r *llm.Request) { r.IgnoreEOS = true }
	probe := func(r *llm.Request) { r.NoOutput = true }
	for _, c := range []struct {
		api    llm.API
		change func(*llm.Request)
		want   string
	}{
		{llm.OpenAI, func(r *llm.Request) { r.Reasoning = "none" }, chat + `9}`},
		{llm.OpenAI, thinkingOff, chat + `9,"chat_template_kwargs":{"enable_thinking":false}}`},
		{llm.OpenAI, low, chat + `9,"reasoning_effort":"low"}`},
		{llm.OpenAI, top3, chat + `9,"logprobs":true,"top_logprobs":3}`},
		{llm.OpenAI, chosen, chat + `9,"logprobs":true}`},
		{llm.OpenAI, endless, chat + `9,"ignore_eos":true,"min_tokens":9}`},
		{llm.OpenAI, probe, chat + `1}`},
		{llm.OpenAICompletions, func(*llm.Request) {}, bare + `9}`},
		{llm.OpenAICompletions, top3, bare + `9,"logprobs":3}`},
		{llm.OpenAICompletions, chosen, bare + `9,"logprobs":1}`},
		{llm.OpenAICompletions, endless, bare + `9,"ignore_eos":true,"min_tokens":9}`},
		{llm.OpenAICompletions, func(r *llm.Request) { r.NoStream = true }, `{"model":"m","prompt":"hi","stream":false,` + sampling + `,"max_tokens":9}`},
		{llm.OpenAIResponses, low, responses + `,"reasoning":{"effort":"low"}}`},
		{llm.OpenAIResponses, top3, responses + `,"include":["message.output_text.logprobs"],"top_logprobs":3}`},
		{llm.OpenAIResponses, chosen, responses + `,"include":["message.output_text.logprobs"]}`},
		{llm.OpenAIResponses, endless, responses + `,"ignore_eos":true}`},
		{llm.OpenAIResponses, func(r *llm.Request) { r.Format = json.RawMessage(`{"type":"text"}`) }, responses + `,"text":{"format":{"type":"text"}}}`},
		{llm.Ollama, thinkingOff, ollama + `,"think":false` + uncut + options + `9}}`},
		{llm.Ollama, low, ollama + `,"think":"low"` + uncut + options + `9}}`},
		{llm.Ollama, top3, ollama + uncut + `,"logprobs":true,"top_logprobs":3` + options + `9}}`},
		{llm.Ollama, probe, ollama + uncut + options + `1}}`},
		{llm.OllamaGenerate, chosen, `{"model":"m","prompt":"hi","stream":true` + uncut + `,"logprobs":true` + options + `9}}`},
		{llm.OllamaGenerate, func(r *llm.Request) {
			r.Messages = append([]llm.Message{{Role: "system", Content: "be brief"}}, r.Messages...)
		}, `{"model":"m","system":"be brief","prompt":"hi","stream":true` + uncut + options + `9}}`},
	} {
		p, err := of(t, c.api).Prepare(plain(c.change))
		if err != nil {
			t.Errorf("%s: %v, want %s", c.api, err, c.want)
		} else if string(p.Body) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.api, p.Body, c.want)
		}
	}
}

func TestOllamaFormats(t *testing.T) {
	c := newClient(t, llm.Options{URL: "http://127.0.0.1:1", API: llm.Ollama, Model: "m"})
	for format, want := range map[string]string{`{"type":"text"}`: `"shift":false,"tools"`, `null`: `"shift":false,"tools"`, `{"type":"json_object"}`: `"format":"json"`} {
		r := full()
		r.Format = json.RawMessage(format)
		p, err := c.Prepare(r)
		if err != nil || !bytes.Contains(p.Body, []byte(want)) {
			t.Errorf("%s: %s %v, want %s", format, p.Body, err, want)
		}
	}
}

// Requests prepared for what an endpoint said that it is have the digests of
// those that are sent to it, and are refused for the same reasons.
func TestPrepareFor(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4", Models: []llmtest.Model{{ID: "m:latest", Digest: hexA, Weights: hexB}}})
	plain := llmtest.New(t, llmtest.Script{Models: []llmtest.Model{{ID: "m:latest"}}})
	request := llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{TopP: 1, Seed: 7, MaxTokens: 64}}
	for name, o := range map[string]llm.Options{
		"detected":           {URL: e.URL},
		"by another name":    {URL: e.URL, Model: "m"},
		"ollama":             {URL: e.URL, API: llm.Ollama},
		"ollama-generate":    {URL: e.URL, API: llm.OllamaGenerate},
		"openai on ollama":   {URL: e.URL + "/v1"},
		"openai":             {URL: plain.URL, API: llm.OpenAI},
		"openai-completions": {URL: plain.URL, API: llm.OpenAICompletions},
		"openai-responses":   {URL: plain.URL, API: llm.OpenAIResponses},
	} {
		id, c, err := identify(t, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		prepare := llm.PrepareFor(id)
		for _, change := range []func(*llm.Request){
			func(*llm.Request) {},
			func(r *llm.Request) { r.Reasoning = "effort-low" },
			func(r *llm.Request) { r.Reasoning = "thinking-off" },
			func(r *llm.Request) { r.IgnoreEOS = true },
			func(r *llm.Request) { r.Sampling.MaxTokens = 0 },
		} {
			r := request
			change(&r)
			want, errWant := c.Prepare(r)
			got, err := prepare(r)
			if (err == nil) != (errWant == nil) || err == nil && got.Digest != want.Digest || err != nil && err.Error() != errWant.Error() {
				t.Errorf("%s, %+v: %v, %v", name, r, errWant, err)
			}
		}
	}
	if _, err := llm.PrepareFor(llm.Identity{Served: "m"})(request); err == nil {
		t.Error("a request was prepared for no protocol")
	}
}
