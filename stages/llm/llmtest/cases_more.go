package llmtest

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/llm"
)

// reportedCases are about counts, which are taken as the engine reports them
// and never made up.
func reportedCases() []Hostile {
	counted := func(name, text, usage string, tokens int64, want string) Hostile {
		h := fine(name, head, say(text), stop(""), ev(`{"model":"tiny","choices":[],"usage":`+usage+`}`), done)
		h.Text, h.Tokens, h.Usage = text, tokens, want
		return h
	}
	spaces := strings.Repeat(" ", 100)
	long := strings.Repeat("0123456789 ", 2000)
	cut := Hostile{Name: "running usage of a stream that is cut", Class: llm.ClassCutStream, Text: "hello ", Tokens: 1, Usage: `{"prompt_tokens":3,"output_tokens":1}`,
		Pieces: []string{head, say("hello "), usage(1)}}
	tool := fine("prose and a tool call with null content", head, say("hello world"),
		ev(chunk(`"content":null,"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]`)), stop(""), usage(40), done)
	tool.Tools, tool.Tokens = []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}}, 40
	probe := Hostile{Name: "empty answer to a probe of the prompt", NoOutput: true, Finish: "length", Tokens: 0, Usage: `{"prompt_tokens":3,"output_tokens":0}`,
		Pieces: []string{head, ev(`{"model":"tiny","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`), usage(0), done}}
	cutPrompt := Hostile{Name: "ndjson: a prompt that the server cut", API: llm.Ollama, Text: "hi", Finish: "stop", Tokens: 2, Usage: `{"prompt_tokens":2050,"output_tokens":2}`, Pieces: []string{headND,
		`{"model":"tiny","message":{"content":"hi"},"done":false}` + "\n", `{"model":"tiny","message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":2050,"eval_count":2}` + "\n"}}
	cached := Hostile{Name: "ndjson: no prompt count for a cached prompt", API: llm.Ollama, Text: "hi", Finish: "stop", Tokens: 2, Usage: `{"output_tokens":2}`, Pieces: []string{headND,
		`{"model":"tiny","message":{"content":"hi"},"done":false}` + "\n", `{"model":"tiny","message":{"content":""},"done":true,"done_reason":"stop","eval_count":2}` + "\n"}}
	return []Hostile{
		counted("completion tokens include reasoning", "ok", `{"prompt_tokens":3,"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":7}}`, 10,
			`{"prompt_tokens":3,"output_tokens":10,"reasoning_tokens":7}`),
		counted("reasoning tokens without completion tokens", "ok", `{"prompt_tokens":3,"completion_tokens_details":{"reasoning_tokens":7}}`, -1, `{"prompt_tokens":3,"reasoning_tokens":7}`),
		counted("text that a tokenizer would shorten", spaces, `{"prompt_tokens":3,"completion_tokens":100}`, 100, ""),
		counted("special tokens as text", "<s>hello</s><|im_end|>", `{"prompt_tokens":3,"completion_tokens":4}`, 4, ""),
		counted("more prompt than was planned", "ok", `{"prompt_tokens":1970,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1920}}`, 2, `{"prompt_tokens":1970,"output_tokens":2,"cached_tokens":1920}`),
		counted("22,000 characters", long, `{"prompt_tokens":3,"completion_tokens":4000}`, 4000, ""),
		cut, tool, probe, cutPrompt, cached,
	}
}

// moreCases are further forms of framing, endings and refusals.
func moreCases() []Hostile {
	typed := func(t string) string { return strings.Replace(head, "text/event-stream", t, 1) }
	half := func(name string, class llm.Class, pieces ...string) Hostile {
		return Hostile{Name: name, Pieces: pieces, Class: class, Text: "hello world", Tokens: -1}
	}
	text := say("hello ") + say("world")
	broken := strings.Replace(head, "Connection: close", "Transfer-Encoding: chunked", 1)
	big := strings.Repeat("y", 200_000)
	wide := fine("200,000-byte event", head, say(big), stop(""), usage(2), done)
	wide.Text = big
	empty := fine("empty content chunks, sentinel without a finish reason", head, say(""), say("hello "), say(""), say("world"), say(""), usage(2), done)
	empty.Finish = ""
	many := Hostile{Name: "header beyond the bound", Class: llm.ClassProtocol, Tokens: -1, Status: 0}
	many.Pieces = []string{"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Padding: "+strings.Repeat("x", 1000)+"\r\n", 20_000)}
	return []Hostile{
		wide, empty,
		fine("content type with a charset", typed("text/event-stream; charset=utf-8"), good()),
		fine("HTTP/1.0", strings.Replace(head, "HTTP/1.1", "HTTP/1.0", 1), good()),
		fine("interim answers before the real one", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", head, good()),
		fine("chunked with extensions and trailers", broken, fmt.Sprintf("%x;a=b\r\n%s\r\n", len(good()), good()), "0\r\nX-Trailer: 1\r\n\r\n"),
		fine("chunks that do not respect events", broken, chunked(good()[:20]), chunked(good()[20:21]), chunked(good()[21:]), "0\r\n\r\n"),
		fine("no space before the sentinel", head, strings.ReplaceAll(good(), "data: [DONE]", "data:[DONE]")),
		fine("spaces around the sentinel", head, strings.ReplaceAll(good(), "data: [DONE]", "data:  [DONE] ")),
		fine("sentinel inside one write with all events", head+good()),
		half("raw line end in a string", llm.ClassInvalidJSON, head, text, ev(chunk("\"content\":\"a\nb\""))),
		half("chunk size beyond any number", llm.ClassCutStream, broken, chunked(text), "fffffffffffffffff\r\n"),
		half("chunk without its line end", llm.ClassCutStream, broken, chunked(text), "5\r\ndata:XX0\r\n\r\n"),
		half("length promised and not kept", llm.ClassCutStream, strings.Replace(head, "Connection: close", "Content-Length: 99999", 1), text),
		{Name: "500 with Retry-After", Class: llm.ClassServerError, Status: 500, Retry: 3, Says: "overloaded", Tokens: -1,
			Pieces: []string{status("500 Internal Server Error", jsonType+"Retry-After: 3\r\n", `{"error":{"message":"overloaded"}}`)}},
		{Name: "502 of a proxy", Class: llm.ClassServerError, Status: 502, Says: "Bad Gateway", Tokens: -1,
			Pieces: []string{status("502 Bad Gateway", "Content-Type: text/html\r\n", "<h1>502 Bad Gateway</h1>")}},
		{Name: "reset without an answer", End: Reset, Class: llm.ClassUnreachable, Tokens: -1, NoByte: true},
		many,
	}
}
