package llm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// decoded is everything that decoding a stream comes to.
type decoded struct {
	Response Response
	Finished bool
	Ended    int64
	Failure  *Failure
}

// decodePayloads decodes a stream of one payload per read.
func decodePayloads(api API, strict bool, payloads ...[]byte) decoded {
	rec := newRecording(frameSSE)
	defer rec.release()
	for i, p := range payloads {
		rec.add(p, event{at: int64(10 * (i + 1)), read: int32(i)})
	}
	var out decoded
	t := &out.Response.Times
	t.FirstOutput, t.FirstVisible, t.LastOutput = never, never, never
	d := &decoding{resp: &out.Response, stream: true, strict: strict, same: func(m string) bool { return m == "tiny" }}
	d.decode(rec, api)
	out.Finished, out.Ended, out.Failure = d.finished, d.ended, d.failure
	return out
}

var allAPIs = []API{OpenAI, OpenAICompletions, OpenAIResponses, Ollama, OllamaGenerate}

var usualEvents = map[API][]string{
	OpenAI: {
		`{"id":"x","object":"chat.completion.chunk","created":1795980368,"model":"tiny","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":" tool"},"finish_reason":null}]}`,
		`{"id":"x","object":"chat.completion.chunk","created":1,"model":"tiny","choices":[{"index":0,"delta":{"content":"é\n\u00e9\"\\"},"logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":null}],"usage":null}`,
		`{"id":"x","object":"chat.completion.chunk","created":1,"model":"tiny","choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":"hm","tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}]}`,
		`{"choices":[{"delta":{"reasoning_content":"","reasoning":"a","thinking":"b"},"finish_reason":""}]}`,
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"tiny","choices":[{"index":0,"delta":{"content":"visible","reasoning":"thought"},"finish_reason":null}]}`,
		`{"model":"other", "service_tier":"default", "choices":[ { "delta": {"content": ""} } ] }`,
	},
	OpenAICompletions: {
		`{"id":"x","object":"text_completion","created":1,"model":"tiny","choices":[{"index":0,"text":" tool","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null}],"usage":null}`,
		`{"id":"x","model":"tiny","choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":""}]}`,
	},
	OpenAIResponses: {
		`{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" tool","logprobs":[]}`,
		`{"type":"response.output_text.delta","delta":null,"output_index":123}`,
	},
	OllamaGenerate: {
		`{"model":"tiny","created_at":"2026-11-29T19:26:08.665805051Z","response":"U","done":false}`,
		`{"model":"tiny","created_at":"","response":"","thinking":"hm","done":false}`,
	},
	Ollama: {
		`{"model":"tiny","created_at":"2026-11-29T19:26:08.665805051Z","message":{"role":"assistant","content":"U"},"done":false}`,
		`{"model":"tiny","created_at":"2026-11-29T19:26:08.665805051Z","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}`,
	},
}

// What is no business of the scanner.
var unusualEvents = map[API][]string{
	OpenAI: {
		`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"choices":[{"index":1,"delta":{"content":"a"}}]}`,
		`{"choices":[{"index":00,"delta":{"content":"a"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":0,"delta":{"content":"b"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a"}}]} x`,
		`{"choices":[{"index":0,"delta":{"content":"a",}}]}`,
		`{,"choices":[{"index":0,"delta":{"content":"a"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}`,
		"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}",
		"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\x00\"}}]}",
		`{"cho\u0069ces":[{"index":0,"delta":{"content":"a"}}]}`,
		`{"created":01,"choices":[{"index":0,"delta":{"content":"a"}}]}`,
		`{"created":1.5,"choices":[{"index":0,"delta":{"content":"a"}}]}`,
		`{"object":"error","message":"x"}`, `{"error":{"message":"x"}}`, `{"model":7}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a"}}]`, `{"choices":[{"index":0,"delta":{"content":"a`, `[]`, ` `, `{`, `{"choices":[{"index":0,"delta":{"content":"a\`,
	},
	OpenAICompletions: {`{"choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-1]}}]}`},
	OpenAIResponses: {
		`{"type":"response.completed","response":{"status":"completed"}}`, `{"delta":"a"}`, `{"type":"response.reasoning_text.delta","delta":"a"}`,
		`{"type":"response.output_text.delta","delta":"a","output_index":99999999999999999999}`, `{"type":"response.output_text.delta","delta":{"text":"a"}}`,
		`{"type":"response.output_text.delta","delta":"a","logprobs":[{"token":"a","logprob":-1}]}`,
	},
	OllamaGenerate: {`{"model":"tiny","response":"","done":true,"done_reason":"stop","eval_count":2}`, `{"response":"a","message":{"content":"b"},"done":false}`},
	Ollama: {
		`{"model":"tiny","message":{"content":""},"done":true,"done_reason":"stop","eval_count":2}`,
		`{"error":"x"}`, `{"done":nul}`, `{"message":{"content":"a","reasoning":"b"},"done":false}`,
	},
}

// The scanner takes the usual events and leaves the others alone, and either
// way the outcome is the strict decoder's.
func TestUsualEvents(t *testing.T) {
	for name, c := range map[string]struct {
		events map[API][]string
		usual  bool
	}{"usual": {usualEvents, true}, "unusual": {unusualEvents, false}} {
		for api, events := range c.events {
			for _, e := range events {
				d := &decoding{resp: &Response{}, stream: true, same: func(string) bool { return true }}
				if got := d.usual(api)([]byte(e), event{}); got != c.usual {
					t.Errorf("%s, %s: scanned %v: %s", name, api, got, e)
				}
				sameBothWays(t, api, []byte(e), []byte(e))
			}
		}
	}
}

func sameBothWays(t interface{ Fatalf(string, ...any) }, api API, payloads ...[]byte) {
	quick, strict := decodePayloads(api, false, payloads...), decodePayloads(api, true, payloads...)
	if diff := cmp.Diff(strict, quick); diff != "" {
		t.Fatalf("%s %q: strict decoding against the scanner's: %s", api, payloads, diff)
	}
}

// Small damage to a usual event never makes the two disagree.
func TestUsualEventsDamaged(t *testing.T) {
	bits := []string{"", "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "0", "1", "\\u0041", "\\ud83d\\ude00", "\xc3", "é", "\x00", " ", "\"content\":\"b\",", "\"x\":{},", "true", "-0", "e5"}
	rapid.Check(t, func(t *rapid.T) {
		api := rapid.SampledFrom(allAPIs).Draw(t, "api")
		e := rapid.SampledFrom(usualEvents[api]).Draw(t, "event")
		for range rapid.IntRange(1, 3).Draw(t, "cuts") {
			at := rapid.IntRange(0, len(e)).Draw(t, "at")
			e = e[:at] + rapid.SampledFrom(bits).Draw(t, "bit") + e[min(len(e), at+rapid.IntRange(0, 4).Draw(t, "gone")):]
		}
		sameBothWays(t, api, []byte(usualEvents[api][0]), []byte(e))
	})
}

// Events that are alike but for their texts, in any order and place.
func TestUsualEventsInARow(t *testing.T) {
	texts := []string{"", "a", "aa", "a\"", "\\n", "é", "\xc3", "\xa9", "\x01", `"}`, `","content":"`, "visible", "thought"}
	rapid.Check(t, func(t *rapid.T) {
		var payloads [][]byte
		for range rapid.IntRange(2, 8).Draw(t, "n") {
			text := rapid.SampledFrom(texts)
			payloads = append(payloads, fmt.Appendf(nil, `{"id":"chatcmpl-0123456789","model":"%s","choices":[{"index":0,"delta":{"content":"%s","reasoning":"%s"},"finish_reason":null}]}`,
				rapid.SampledFrom([]string{"tiny", "tiny", "tiny", "huge"}).Draw(t, "model"), text.Draw(t, "content"), text.Draw(t, "reasoning")))
		}
		sameBothWays(t, OpenAI, payloads...)
	})
}

// An event whose texts had to be unquoted is no likeness: its texts lie where
// those of the next such event will.
func TestEscapesAreNoLikeness(t *testing.T) {
	event := func(content, reasoning string) []byte {
		return fmt.Appendf(nil, `{"id":"chatcmpl-0123456789","model":"tiny","choices":[{"index":0,"delta":{"content":"%s","reasoning":"%s"}}]}`, content, reasoning)
	}
	long := `a thought with\n an escape in it, and room`
	sameBothWays(t, OpenAI, event("a", long), event(`\r`, long), event("c", long))
}

// FuzzUsual: whatever arrives, scanning first or not makes no difference.
func FuzzUsual(f *testing.F) {
	for i, api := range allAPIs {
		for _, e := range append(usualEvents[api], unusualEvents[api]...) {
			f.Add(uint8(i), []byte(e))
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, payload []byte) {
		api := allAPIs[int(n)%len(allAPIs)]
		sameBothWays(t, api, []byte(usualEvents[api][0]), payload, payload, []byte(usualEvents[api][0]), payload)
	})
}

// What is packed comes out as it was, in any order.
func checkPacked(t interface{ Fatalf(string, ...any) }, payloads [][]byte) {
	var p packed
	for i, b := range payloads {
		p.add(b, event{at: int64(i)})
	}
	for range 2 {
		for i := range payloads {
			if got := p.payload(p.events[len(payloads)-1-i]); !bytes.Equal(got, payloads[len(payloads)-1-i]) {
				t.Fatalf("%q, want %q of %q", got, payloads[len(payloads)-1-i], payloads)
			}
		}
	}
}

func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", "aa", "abcdefgh", `{"choices":[{"delta":{"content":"`, `"}}]}`, strings.Repeat("x", 1<<16), "0123456789abcdef"})
		var payloads [][]byte
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			payloads = append(payloads, []byte(strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), "")))
		}
		checkPacked(t, payloads)
	})
}

func FuzzPacked(f *testing.F) {
	f.Add([]byte("aaaa|aaba|aaba|c||aaaaaaaaaaaaaaaaaaaa|aaaaaaaaaabaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, b []byte) { checkPacked(t, bytes.Split(b, []byte("|"))) })
}

// A stream of like events takes a few bytes each, also when their form changes
// in the middle.
func TestPackedIsSmall(t *testing.T) {
	var p packed
	for i := range 1000 {
		form := `{"model":"tiny","choices":[{"index":0,"delta":{"content":" word %d"},"finish_reason":null}]}`
		if i > 10 {
			form = `{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1795980368,"choices":[{"delta":{"reasoning":" word %d"}}]}`
		}
		p.add(fmt.Appendf(nil, form, i), event{})
	}
	if perEvent := len(p.arena) / 1000; perEvent > 5 {
		t.Errorf("%d bytes per event", perEvent)
	}
}

// What decoding costs after the request has ended, by event.
func BenchmarkDecodeEvent(b *testing.B) {
	forms := map[API]string{
		OpenAI:            `{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1795980368,"model":"tiny","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null}]}`,
		OpenAIResponses:   `{"type":"response.output_text.delta","sequence_number":%[1]d,"item_id":"msg_0123456789","output_index":0,"content_index":0,"delta":" word%[1]d","logprobs":[]}`,
		Ollama:            `{"model":"tiny","created_at":"2026-11-29T19:26:08.%09[1]dZ","message":{"role":"assistant","content":" word%[1]d"},"done":false}`,
		OpenAICompletions: `{"id":"cmpl-0123456789abcdef","object":"text_completion","created":1795980368,"model":"tiny","choices":[{"index":0,"text":" word%d","logprobs":null,"finish_reason":null}]}`,
	}
	const perAnswer = 128
	for api, form := range forms {
		for _, strict := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/strict=%v", api, strict), func(b *testing.B) {
				rec := newRecording(frameSSE)
				defer rec.release()
				for i := range perAnswer {
					rec.add(fmt.Appendf(nil, form, i*i*7919%1000003), event{at: int64(i), read: int32(i)})
				}
				b.ReportAllocs()
				for n := 0; n < b.N; n += perAnswer {
					var r Response
					r.Times.FirstOutput = never
					d := &decoding{resp: &r, stream: true, strict: strict, same: func(string) bool { return true }}
					if d.decode(rec, api); r.ContentChunks != perAnswer {
						b.Fatal(r.ContentChunks)
					}
				}
			})
		}
	}
}
