package llm_test

import (
	"io"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

// What a real Ollama sent over the newer APIs.
func TestCapturedAPIs(t *testing.T) {
	weather := []llm.ToolCall{{ID: "call_2fgloeon", Name: "get_weather", Arguments: `{"city":"paris"}`}}
	for _, c := range []wireCase{
		{name: "generate", api: llm.OllamaGenerate, want: llm.Response{Text: " thi;", FinishReason: "length", Usage: usage(15, 4), Model: "tiny",
			Server: &llm.ServerTimes{Total: 8018463, Load: 3729778, PromptEval: 1141166, Eval: 532215}, Events: 3, ContentChunks: 2}},
		// It says "completed", and its own counts say that the limit of 4 cut it.
		{name: "v1-responses", api: llm.OpenAIResponses, want: llm.Response{Text: "M$V", FinishReason: "length", Usage: usage(15, 4, 0, 0), Model: "tiny",
			Events: 11, ContentChunks: 3}},
		{name: "v1-responses-toolcall", api: llm.OpenAIResponses, want: llm.Response{ToolCalls: weather, FinishReason: "tool_calls", Usage: usage(167, 2, 0, 0),
			Model: "table2", Events: 7}},
	} {
		raw := strings.ReplaceAll(strings.ReplaceAll(ours(t, c.name), `"model":"tiny"`, `"model":"m"`), `"model":"table2"`, `"model":"m"`)
		c.want.Model = "m"
		c.run(t, func(form func(io.Reader) io.Reader) answering { return rawAnswer(raw, form) })
	}
}

// Told not to, Ollama neither cuts a long prompt nor its context.
func TestCapturedLimits(t *testing.T) {
	r := send(t, rawAnswer(ours(t, "err-truncate-false"), readings["whole"]), llm.Ollama, false)
	if f := r.Failure; f == nil || f.Class != llm.ClassRejected || f.Status != 400 || !strings.Contains(f.Message, "exceeds the context length") {
		t.Errorf("a prompt that is too long: %+v", f)
	}
	raw := strings.ReplaceAll(ours(t, "table2-shift-past-ctx"), `"table2"`, `"m"`)
	if r = send(t, rawAnswer(raw, readings["whole"]), llm.Ollama, false); r.Failure != nil || !r.Truncated() || *r.Usage.OutputTokens != 2046 {
		t.Errorf("an answer past the context: %v, %q, %+v", r.Failure, r.FinishReason, r.Usage)
	}
}

func TestCompletions(t *testing.T) {
	zeros := `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
	runWire(t, []wireCase{
		{"Ollama", llm.OpenAICompletions, false, events(`
			{"id":"cmpl-1","object":"text_completion","model":"m","choices":[{"text":"U","index":0,"finish_reason":null}],` + zeros + `}
			{"id":"cmpl-1","object":"text_completion","model":"m","choices":[{"text":" tool","index":0,"finish_reason":null}],` + zeros + `}
			{"id":"cmpl-1","object":"text_completion","model":"m","choices":[{"text":"","index":0,"finish_reason":"length"}],` + zeros + `}
			{"id":"cmpl-1","object":"text_completion","model":"m","choices":[],"usage":{"prompt_tokens":15,"completion_tokens":2,"total_tokens":17}}
			[DONE]`),
			llm.Response{Text: "U tool", FinishReason: "length", Usage: usage(15, 2), Model: "m", Events: 4, ContentChunks: 2}},
		{"vLLM with running usage", llm.OpenAICompletions, false, events(`
			{"object":"text_completion","model":"m","choices":[{"index":0,"text":"a b","logprobs":{"text_offset":[0,1],"token_logprobs":[-0.5,-1.25],"tokens":["a"," b"],"top_logprobs":[{"a":-0.5},{" b":-1.25}]},"finish_reason":null,"stop_reason":null}],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}
			{"object":"text_completion","model":"m","choices":[{"index":0,"text":" c","logprobs":{"token_logprobs":[-2],"tokens":[" c"]},"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":3,"total_tokens":6,"completion_tokens":3}}
			{"object":"text_completion","model":"m","choices":[],"usage":{"prompt_tokens":3,"total_tokens":7,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}
			[DONE]`),
			llm.Response{Text: "a b c", FinishReason: "stop", Usage: usage(3, 4, 2), Model: "m", Events: 3, ContentChunks: 2, FirstChunkToks: 2,
				Logprobs: []llm.Logprob{{"a", -0.5}, {" b", -1.25}, {" c", -2}}}},
		{"LM Studio", llm.OpenAICompletions, true,
			`{"object":"text_completion","model":"m","choices":[{"index":0,"text":" to find","logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14},
			"stats":{"tokens_per_second":57.6,"time_to_first_token":0.299,"generation_time":0.156,"stop_reason":"maxPredictedTokensReached"},"model_info":{"arch":"granite"},"runtime":{"name":"llama.cpp"}}`,
			llm.Response{Text: " to find", FinishReason: "length", Usage: usage(5, 9), Model: "m", Events: 1, Server: &llm.ServerTimes{Total: 455e6, Eval: 156e6}}},
		{"error in the stream", llm.OpenAICompletions, false, events(`
			{"object":"text_completion","model":"m","choices":[{"index":0,"text":"a"}]}
			{"error":{"message":"out of memory","type":"server_error"}}`),
			llm.Response{Text: "a", Model: "m", Events: 2, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassInBandError, Message: "out of memory"}}},
		{"other choices", llm.OpenAICompletions, true, `{"model":"m","choices":[{"index":1,"text":"no"},{"index":0,"text":"yes","finish_reason":"stop"}]}`,
			llm.Response{Text: "yes", FinishReason: "stop", Model: "m", Events: 1}},
		{"cut", llm.OpenAICompletions, false, events(`{"model":"m","choices":[{"index":0,"text":"a"}]}`),
			llm.Response{Text: "a", Model: "m", Events: 1, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassCutStream, Message: "the stream ended after 1 events without a finish reason"}}},
	})
}

func TestGenerate(t *testing.T) {
	runWire(t, []wireCase{
		{"thinking and logprobs", llm.OllamaGenerate, false,
			`{"model":"m","response":"","thinking":"because","done":false,"logprobs":[{"token":"because","logprob":-1}]}` + "\n" +
				`{"model":"m","response":"true","done":false,"logprobs":[{"token":"true","logprob":-0.5,"bytes":[116],"top_logprobs":[{"token":"x","logprob":-3}]}]}` + "\n" +
				`{"model":"m","response":"","done":true,"done_reason":"stop","context":[1,2,3],"eval_count":5}` + "\n",
			llm.Response{Text: "true", Reasoning: "because", FinishReason: "stop", Usage: &llm.Usage{OutputTokens: usage(0, 5).OutputTokens}, Model: "m",
				Events: 3, ContentChunks: 1, ReasoningChunks: 1, Logprobs: []llm.Logprob{{"because", -1}, {"true", -0.5}}}},
		{"whole", llm.OllamaGenerate, true, `{"model":"m","response":"hi","done":true,"done_reason":"stop","prompt_eval_count":2,"eval_count":1}`,
			llm.Response{Text: "hi", FinishReason: "stop", Usage: usage(2, 1), Model: "m", Events: 1}},
		{"error", llm.OllamaGenerate, false, `{"model":"m","response":"hi","done":false}` + "\n" + `{"error":"runner gone"}` + "\n",
			llm.Response{Text: "hi", Model: "m", Events: 2, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassInBandError, Message: "runner gone"}}},
		{"chat lines", llm.OllamaGenerate, false, `{"model":"m","message":{"content":"hi"},"done":true,"done_reason":"stop"}` + "\n",
			llm.Response{FinishReason: "stop", Model: "m", Events: 1, Failure: &llm.Failure{Class: llm.ClassEmpty, Message: `the answer is complete and empty (finish reason "stop")`}}},
	})
}

// A probe for the prompt's length may be answered by nothing.
func TestNoOutput(t *testing.T) {
	rt := bodyAnswer("application/json", `{"model":"m","choices":[{"index":0,"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`, readings["whole"])
	c := newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1", Model: "m", Transport: rt})
	for _, probe := range []bool{true, false} {
		p, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{MaxTokens: 1}, NoStream: true, NoOutput: probe})
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Do(t.Context(), p); (r.Failure == nil) != probe || *r.Usage.PromptTokens != 7 {
			t.Errorf("probe %v: %+v, %+v", probe, r.Failure, r.Usage)
		}
	}
}
