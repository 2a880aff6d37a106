package llm_test

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

func TestResponses(t *testing.T) {
	const done = `{"type":"response.completed","response":{"model":"m","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":3,"input_tokens_details":{"cached_tokens":8},"output_tokens_details":{"reasoning_tokens":2},"total_tokens":12}}}`
	inBand := func(words string) *llm.Failure { return &llm.Failure{Class: llm.ClassInBandError, Message: words} }
	runWire(t, []wireCase{
		{"vLLM with reasoning and logprobs", llm.OpenAIResponses, false, events(`
			{"type":"response.created","response":{"model":"m","status":"in_progress","output":[],"usage":null,"text":{"format":{"type":"text"}}},"sequence_number":0}
			{"type":"response.in_progress","response":{"model":"m","status":"in_progress"}}
			{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"content":null,"status":"in_progress"}}
			{"type":"response.reasoning_part.added","output_index":0,"part":{"type":"reasoning_text","text":""}}
			{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"item_id":"rs_1","delta":"Let"}
			{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"item_id":"rs_1","delta":" me"}
			{"type":"response.reasoning_text.done","output_index":0,"text":"Let me"}
			{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Let me"}]}}
			{"type":"response.output_text.delta","output_index":1,"delta":"4","logprobs":[{"token":"4","logprob":-0.25,"top_logprobs":[]}]}
			{"type":"response.output_text.done","output_index":1,"text":"4"}
			` + done),
			llm.Response{Text: "4", Reasoning: "Let me", FinishReason: "stop", Usage: usage(9, 3, 8, 2), Model: "m", Events: 11, ContentChunks: 1, ReasoningChunks: 2,
				Logprobs: []llm.Logprob{{"4", -0.25}}}},
		{"tool call in pieces, then [DONE]", llm.OpenAIResponses, false, events(`
			{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","call_id":"c1","type":"function_call","name":"w","arguments":""}}
			{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{\"a\":"}
			{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"1}"}
			{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_1","name":"w","arguments":"{\"a\":1}"}
			{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","call_id":"c1","type":"function_call","name":"w","arguments":"{\"a\":1}"}}
			` + done + `
			[DONE]`),
			llm.Response{ToolCalls: []llm.ToolCall{{ID: "c1", Name: "w", Arguments: `{"a":1}`}}, FinishReason: "tool_calls", Usage: usage(9, 3, 8, 2), Model: "m", Events: 6}},
		{"two tool calls that come whole", llm.OpenAIResponses, false, events(`
			{"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","name":"w","arguments":"{}"}}
			{"type":"response.output_item.done","output_index":1,"item":{"call_id":"c2","type":"function_call","name":"v","arguments":"{}"}}
			` + done),
			llm.Response{ToolCalls: []llm.ToolCall{{ID: "fc_1", Name: "w", Arguments: `{}`}, {ID: "c2", Name: "v", Arguments: `{}`}}, FinishReason: "tool_calls", Usage: usage(9, 3, 8, 2), Model: "m", Events: 3}},
		{"wrapped delta, summary, cut by the limit", llm.OpenAIResponses, false, events(`
			{"type":"response.reasoning_summary_text.delta","delta":"short"}
			{"type":"response.output_text.delta","delta":{"content":"We"}}
			{"type":"response.incomplete","response":{"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}
			{"type":"response.output_text.delta","delta":"ignored"}`),
			llm.Response{Text: "We", Reasoning: "short", FinishReason: "length", Model: "m", Events: 3, ContentChunks: 1, ReasoningChunks: 1}},
		{"filtered", llm.OpenAIResponses, false, events(`
			{"type":"response.output_text.delta","delta":"We"}
			{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`),
			llm.Response{Text: "We", FinishReason: "content_filter", Events: 2, ContentChunks: 1}},
		{"text in the last event only", llm.OpenAIResponses, false, events(`{"type":"response.completed","response":{"model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}`),
			llm.Response{Text: "hi", FinishReason: "stop", Model: "m", Events: 1, ContentChunks: 1}},
		{"failed", llm.OpenAIResponses, false, events(`
			{"type":"response.output_text.delta","delta":"We"}
			{"type":"response.failed","response":{"model":"m","status":"failed","error":{"code":"server_error","message":"engine died"}}}`),
			llm.Response{Text: "We", Events: 2, ContentChunks: 1, Failure: inBand("engine died")}},
		{"failed without a reason", llm.OpenAIResponses, false, events(`{"type":"response.failed"}`),
			llm.Response{Events: 1, Failure: inBand("the response's status is failed")}},
		{"error event", llm.OpenAIResponses, false, "event: error\ndata: {\"type\":\"error\",\"code\":\"x\",\"message\":\"too many\",\"param\":null}\n\n",
			llm.Response{Events: 1, Failure: inBand("too many")}},
		{"error object", llm.OpenAIResponses, false, events(`{"error":{"message":"bad request"}}`),
			llm.Response{Events: 1, Failure: inBand("bad request")}},
		{"no terminal event", llm.OpenAIResponses, false, events(`{"type":"response.output_text.delta","delta":"We"}`),
			llm.Response{Text: "We", Events: 1, ContentChunks: 1, Failure: &llm.Failure{Class: llm.ClassCutStream, Message: "the stream ended after 1 events without a finish reason"}}},
		{"whole", llm.OpenAIResponses, true, `{"object":"response","model":"m","status":"completed","error":null,"incomplete_details":null,"max_output_tokens":64,"output":[
			{"type":"reasoning","summary":[{"type":"summary_text","text":"sum"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[{"token":"a","logprob":-1}]},{"type":"refusal","refusal":"no"},{"type":"output_text","text":"b"}]},
			{"type":"function_call","call_id":"c1","name":"w","arguments":"{}"}],"usage":{"input_tokens":9,"output_tokens":3}}`,
			llm.Response{Text: "ab", Reasoning: "sum", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "w", Arguments: "{}"}}, FinishReason: "tool_calls", Usage: usage(9, 3), Model: "m", Events: 1,
				Logprobs: []llm.Logprob{{"a", -1}}}},
		{"whole, at the limit that it says", llm.OpenAIResponses, true, `{"model":"m","status":"completed","max_output_tokens":3,"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":9,"output_tokens":3}}`,
			llm.Response{Text: "a", FinishReason: "length", Usage: usage(9, 3), Model: "m", Events: 1}},
		{"whole, not done", llm.OpenAIResponses, true, `{"model":"m","status":"queued","output":[]}`,
			llm.Response{Events: 1, Failure: &llm.Failure{Class: llm.ClassProtocol, Message: `the answer's status is "queued"`}}},
		{"whole, error", llm.OpenAIResponses, true, `{"object":"error","message":"no such model"}`,
			llm.Response{Events: 1, Failure: inBand("no such model")}},
	})
}
