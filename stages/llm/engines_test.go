package llm_test

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

// The chat API as each server speaks it.
func TestEngines(t *testing.T) {
	call := func(id, args string) []llm.ToolCall { return []llm.ToolCall{{ID: id, Name: "w", Arguments: args}} }
	runWire(t, []wireCase{
		{"vLLM, reasoning and running usage", llm.OpenAI, false, events(`
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"usage":{"prompt_tokens":11,"total_tokens":11,"completion_tokens":0}}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"reasoning":"Hm, so"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":11,"total_tokens":14,"completion_tokens":3}}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"4"},"logprobs":{"content":[{"token":"4","logprob":-0.125,"bytes":[52],"top_logprobs":[]}]},"finish_reason":null}],"usage":{"prompt_tokens":11,"total_tokens":15,"completion_tokens":4}}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":11,"total_tokens":16,"completion_tokens":5}}
			{"object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":11,"total_tokens":16,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8}}}
			[DONE]`),
			llm.Response{Text: "4", Reasoning: "Hm, so", FinishReason: "stop", Usage: usage(11, 5, 8), Model: "m", Events: 5, ContentChunks: 1, ReasoningChunks: 1, FirstChunkToks: 3,
				Logprobs: []llm.Logprob{{"4", -0.125}}}},
		{"vLLM, usage only and a null list of choices", llm.OpenAI, false, events(`
			{"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"Hm","reasoning":"Hm"}}]}
			{"model":"m","choices":[{"index":0,"delta":{"content":"4"},"finish_reason":"stop"}]}
			{"model":"m","choices":null,"usage":{"prompt_tokens":1,"completion_tokens":2}}
			[DONE]`),
			llm.Response{Text: "4", Reasoning: "Hm", FinishReason: "stop", Usage: usage(1, 2), Model: "m", Events: 3, ContentChunks: 1, ReasoningChunks: 1}},
		{"vLLM, tool call in pieces", llm.OpenAI, false, events(`
			{"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-1","type":"function","index":0,"function":{"name":"w"}}]}}]}
			{"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}]}
			{"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":": 1}"}}]}}]}
			{"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls","stop_reason":null}]}
			[DONE]`),
			llm.Response{ToolCalls: call("chatcmpl-tool-1", `{"a": 1}`), FinishReason: "tool_calls", Model: "m", Events: 4}},
		{"SGLang, usage in the last choice with reasoning tokens beside it", llm.OpenAI, false, events(`
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":"Hm","tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":null,"content":"4","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":"stop","matched_stop":151645}],"usage":{"prompt_tokens":11,"total_tokens":15,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":10},"reasoning_tokens":2},"sglext":{"cached_tokens_details":{"device":10,"host":0}}}
			[DONE]`),
			llm.Response{Text: "4", Reasoning: "Hm", FinishReason: "stop", Usage: usage(11, 4, 10, 2), Model: "m", Events: 3, ContentChunks: 1, ReasoningChunks: 1}},
		{"SGLang, aborted", llm.OpenAI, false, events(`{"model":"m","choices":[{"index":0,"delta":{"content":"4"},"finish_reason":"abort"}]}`),
			llm.Response{Text: "4", FinishReason: "abort", Model: "m", Events: 1, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassInBandError, Message: "finish reason abort"}}},
		{"llama.cpp, timings and progress", llm.OpenAI, false, ": ping\n\n" + events(`
			{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"model":"m","object":"chat.completion.chunk","prompt_progress":{"total":20,"cache":16,"processed":20,"time_ms":3}}
			{"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"Hm"}}],"model":"m","object":"chat.completion.chunk"}
			{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"4"},"logprobs":{"content":[{"id":19,"token":"4","bytes":[52],"logprob":-0.5,"top_logprobs":[]}]}}],"model":"m"}
			{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"model":"m","object":"chat.completion.chunk"}
			{"choices":[],"model":"m","usage":{"completion_tokens":3,"prompt_tokens":20,"total_tokens":23},"timings":{"cache_n":16,"prompt_n":4,"prompt_ms":12.5,"prompt_per_token_ms":3.125,"predicted_n":3,"predicted_ms":30.25}}
			[DONE]`),
			llm.Response{Text: "4", Reasoning: "Hm", FinishReason: "stop", Usage: usage(20, 3, 16), Model: "m", Events: 5, ContentChunks: 1, ReasoningChunks: 1,
				Server: &llm.ServerTimes{PromptEval: 12_500_000, Eval: 30_250_000}, Logprobs: []llm.Logprob{{"4", -0.5}}}},
		{"llama.cpp, usage with cached tokens of its own", llm.OpenAI, true,
			`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"4"},"finish_reason":"stop"}],"usage":{"completion_tokens":3,"prompt_tokens":20,"prompt_tokens_details":{"cached_tokens":15}},"timings":{"cache_n":16,"prompt_ms":1}}`,
			llm.Response{Text: "4", FinishReason: "stop", Usage: usage(20, 3, 15), Model: "m", Events: 1, Server: &llm.ServerTimes{PromptEval: 1_000_000}}},
		{"TGI, a tool call without a list", llm.OpenAI, false, events(`
			{"object":"chat.completion.chunk","model":"m","system_fingerprint":"2.4.1-native","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":{"index":0,"id":"0","type":"function","function":{"name":"w","arguments":"{\"a\""}}},"logprobs":null,"finish_reason":null}],"usage":null}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":{"index":0,"id":"","type":"function","function":{"name":null,"arguments":":1}"}}},"logprobs":null,"finish_reason":"stop"}],"usage":null}
			{"object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":6,"total_tokens":13}}
			[DONE]`),
			llm.Response{ToolCalls: call("0", `{"a":1}`), FinishReason: "stop", Usage: usage(7, 6), Model: "m", Events: 3}},
		{"TGI, error in the stream", llm.OpenAI, false, events(`
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}
			{"error":"Request failed during generation","error_type":"generation"}`),
			llm.Response{Text: "a", Model: "m", Events: 2, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassInBandError, Message: "Request failed during generation"}}},
		{"LM Studio", llm.OpenAI, true, `{"object":"chat.completion","model":"m","choices":[{"index":0,"logprobs":null,"finish_reason":"stop","message":{"role":"assistant","content":"Hi","reasoning_content":"","tool_calls":[]}}],
			"usage":{"prompt_tokens":24,"completion_tokens":53,"total_tokens":77,"completion_tokens_details":{"reasoning_tokens":0}},"stats":{"tokens_per_second":51.4,"time_to_first_token":0.111,"generation_time":0.954,"stop_reason":"eosFound"}}`,
			llm.Response{Text: "Hi", FinishReason: "stop", Usage: &llm.Usage{PromptTokens: usage(24, 53).PromptTokens, OutputTokens: usage(24, 53).OutputTokens, ReasoningTokens: new(int64)}, Model: "m", Events: 1,
				Server: &llm.ServerTimes{Total: 1_065_000_000, Eval: 954_000_000}}},
		{"LM Studio, stats that are empty", llm.OpenAI, false, events(`
			{"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"stats":{},"timings":"none"}
			[DONE]`),
			llm.Response{Text: "a", FinishReason: "stop", Model: "m", Events: 1, ContentChunks: 1}},
		{"MLX, keep-alive comments and tokens by number", llm.OpenAI, false, ": keepalive 512/2048\n\n" + events(`
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"finish_reason":null,"logprobs":{"token_logprobs":[-0.5],"top_logprobs":[{}],"tokens":[9707]},"delta":{"role":"assistant","reasoning":"Hm"}}]}
			{"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"finish_reason":"length","logprobs":{"token_logprobs":[],"top_logprobs":[],"tokens":[]},"delta":{"role":"assistant","content":"Hi"}}]}
			{"object":"chat.completion","model":"m","choices":[],"usage":{"prompt_tokens":2048,"completion_tokens":2,"total_tokens":2050}}
			[DONE]`),
			llm.Response{Text: "Hi", Reasoning: "Hm", FinishReason: "length", Usage: usage(2048, 2), Model: "m", Events: 3, ContentChunks: 1, ReasoningChunks: 1, Logprobs: []llm.Logprob{{"9707", -0.5}}}},
	})
}

// Log probabilities of an unknown or broken form cost nothing but themselves.
func TestStrangeLogprobs(t *testing.T) {
	for _, lp := range []string{`-0.5`, `true`, `{}`, `{"content":5}`, `{"content":[5]}`, `{"tokens":["a"]}`, `{"tokens":["a"],"token_logprobs":[null]}`, `{"content":[{"token":"a","logprob":1e999}]}`, `{"content":[{"logprob":-1}]}`} {
		r := send(t, bodyAnswer("application/json", `{"model":"m","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop","logprobs":`+lp+`}]}`, readings["whole"]), llm.OpenAI, false)
		if r.Failure != nil || r.Text != "a" || r.Logprobs != nil {
			t.Errorf("%s: %v %v", lp, r.Failure, r.Logprobs)
		}
	}
}
