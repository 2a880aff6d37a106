package llm_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
)

// fuzzAPI checks that however an answer is cut into reads, it means the same,
// and that a Response keeps its promises.
func fuzzAPI(f *testing.F, api llm.API, seeds ...string) {
	for _, s := range seeds {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, body string, stream bool) {
		kind := contentType(api, stream)
		whole := send(t, bodyAnswer(kind, body, readings["whole"]), api, stream)
		for _, how := range []string{"bytes", "with its end"} {
			if diff := cmp.Diff(whole, send(t, bodyAnswer(kind, body, readings[how]), api, stream)); diff != "" {
				t.Fatalf("whole against %s:\n%s", how, diff)
			}
		}
		if !utf8.ValidString(whole.Text) || !utf8.ValidString(whole.Reasoning) {
			t.Fatalf("text %q is not UTF-8", whole.Text)
		}
		if u := whole.Usage; u != nil {
			for _, n := range []*int64{u.PromptTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens} {
				if n != nil && (*n < 0 || *n > 1<<53-1) {
					t.Fatalf("usage %d", *n)
				}
			}
		}
		if fail := whole.Failure; fail == nil && whole.Text == "" && len(whole.ToolCalls) == 0 || fail != nil && (fail.Class == "" || fail.Message == "") {
			t.Fatalf("%+v", whole)
		}
	})
}

func FuzzCompletions(f *testing.F) {
	fuzzAPI(f, llm.OpenAICompletions,
		events(`{"model":"m","choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-1]}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`+"\n"+
			`{"model":"m","choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2},"timings":{"cache_n":1,"prompt_ms":1.5},"stats":{"generation_time":1}}`+"\n[DONE]"),
		`{"model":"m","choices":[{"text":"a","finish_reason":"length"}]}`, events(`{"error":{"message":"x"}}`))
}

func FuzzResponses(f *testing.F) {
	fuzzAPI(f, llm.OpenAIResponses,
		events(`{"type":"response.created","response":{"model":"m"}}`+"\n"+
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"f","call_id":"c","type":"function_call","name":"w"}}`+"\n"+
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`+"\n"+
			`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}"}`+"\n"+
			`{"type":"response.output_text.delta","delta":{"text":"a"},"logprobs":[{"token":"a","logprob":-1}]}`+"\n"+
			`{"type":"response.reasoning_text.delta","delta":"b"}`+"\n"+
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":2}}}`),
		`{"model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"reasoning","summary":[{"text":"b"}]},{"type":"function_call","name":"w","arguments":{}}],"usage":{"input_tokens":1}}`,
		events(`{"type":"response.failed","response":{"error":{"message":"x"}}}`), "event: error\ndata: {\"message\":\"x\"}\n\n", `data:{"error":""}`)
}

func FuzzGenerate(f *testing.F) {
	fuzzAPI(f, llm.OllamaGenerate,
		`{"model":"m","response":"a","thinking":"b","done":false,"logprobs":[{"token":"a","logprob":-1}]}`+"\n"+
			`{"model":"m","response":"","done":true,"done_reason":"stop","context":[1],"eval_count":3,"total_duration":5,"tool_calls":[{"function":{"name":"f","arguments":{}}}]}`+"\n",
		`{"error":"x"}`+"\n")
}

// The chat APIs too, now with log probabilities and servers' own counts.
func FuzzChatReads(f *testing.F) {
	fuzzAPI(f, llm.OpenAI,
		events(`{"model":"m","choices":[{"index":0,"delta":{"content":"a","tool_calls":{"function":{"name":"f","arguments":"{}"}}},"logprobs":{"content":[{"token":"a","logprob":-1}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`+"\n[DONE]"),
		`{"model":"m","choices":[{"message":{"content":"a"}}],"timings":{"cache_n":3,"predicted_ms":1}}`)
}
