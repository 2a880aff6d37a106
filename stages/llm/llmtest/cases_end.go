package llmtest

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/llm"
)

func endCases() []Hostile {
	text := say("hello ") + say("world")
	broken := strings.Replace(head, "Connection: close", "Transfer-Encoding: chunked", 1)
	half := func(name string, class llm.Class, end End, pieces ...string) Hostile {
		return Hostile{Name: name, Pieces: append([]string{head}, pieces...), End: end, Class: class, Text: "hello world", Tokens: -1}
	}
	held := fine("no sentinel, held open after the usage", head, text, stop("")+usage(2))
	held.End = Hold
	afterDone := fine("reset after the sentinel", head, good())
	afterDone.End = Reset
	heldAfter := fine("held open after the sentinel", head, strings.TrimSuffix(good(), "\n"))
	heldAfter.End = Hold
	noReason := fine("sentinel without a finish reason", head, text, usage(2), done)
	noReason.Finish = ""
	cutFinished := half("reset after the finish reason", llm.ClassCutStream, Reset, text, stop(""))
	cutFinished.Finish = "stop"
	chunk := Hostile{Name: "broken chunk", Pieces: []string{broken, chunked(text), "zz\r\n"}, Class: llm.ClassCutStream, Text: "hello world", Tokens: -1}
	noLast := Hostile{Name: "last chunk missing", Pieces: []string{broken, chunked(text)}, Class: llm.ClassCutStream, Text: "hello world", Tokens: -1, Says: "closed in the middle"}
	return []Hostile{
		fine("no sentinel, clean end", head, text, stop("")+usage(2)),
		fine("sentinel without a line end", head, strings.TrimSpace(good())),
		fine("text after the sentinel", head, good(), say("more")+"data: {broken\n\n"+ev(`{"error":"late"}`)),
		held, afterDone, heldAfter, noReason, cutFinished, chunk, noLast,
		half("cut", llm.ClassCutStream, Close, text),
		half("cut inside an event", llm.ClassCutStream, Close, text, `data: {"model":"tiny","cho`),
		half("cut inside an event after its line", llm.ClassCutStream, Close, text, "data: {\"model\":\"tiny\",\n"),
		half("reset", llm.ClassCutStream, Reset, text),
		half("quiet until the deadline", llm.ClassTimeout, Hold, text),
		half("error in the stream", llm.ClassInBandError, Close, text, ev(`{"error":{"message":"out of memory for sk-very-secret","code":500}}`), done),
		half("error as a string", llm.ClassInBandError, Close, text, ev(`{"error":"out of memory"}`)),
		half("error by its object", llm.ClassInBandError, Close, text, ev(`{"object":"error","message":"out of memory"}`)),
		half("error event", llm.ClassInBandError, Close, text, "event: error\ndata: {\"message\":\"out of memory\"}\n\n", done),
		half("error field", llm.ClassInBandError, Close, text, "error: {\"code\":500,\"message\":\"out of memory\"}\n\n"),
		{Name: "error only", Pieces: []string{head, ev(`{"error":{"message":"out of memory"}}`), done}, Class: llm.ClassInBandError, Says: "out of memory", Tokens: -1},
		{Name: "finish reason abort", Pieces: []string{head, text, strings.ReplaceAll(stop(""), `"stop"`, `"abort"`), done}, Class: llm.ClassInBandError, Text: "hello world", Finish: "abort", Tokens: -1},
		{Name: "empty stream", Pieces: []string{head}, Class: llm.ClassCutStream, Tokens: -1},
		{Name: "no event in the body", Pieces: []string{head, "Service sleeping\n\nteam-secret\n"}, Class: llm.ClassCutStream, Says: "Service sleeping", Tokens: -1},
	}
}

func refusalCases() []Hostile {
	html := "<html><title>Sign in</title></html>"
	oops := `{"error":{"message":"no such thing as sk-very-secret\u0007\u001b[31m"}}`
	refused := func(name string, class llm.Class, code int, says string, pieces ...string) Hostile {
		return Hostile{Name: name, Pieces: pieces, Class: class, Status: code, Says: says, Tokens: -1}
	}
	retry := func(h Hostile, s int) Hostile { h.Retry = s; return h }
	silent := Hostile{Name: "closed without an answer", Class: llm.ClassUnreachable, Tokens: -1, NoByte: true}
	quiet := Hostile{Name: "slow header", End: Hold, Class: llm.ClassTimeout, Tokens: -1}
	whole := Hostile{Name: "one document", NoStream: true, Text: "hi", Finish: "stop", Tokens: 2, Pieces: []string{status("200 OK", jsonType,
		`{"model":"tiny","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`)}}
	short := Hostile{Name: "one document, cut", NoStream: true, Class: llm.ClassCutStream, Tokens: -1, Pieces: []string{
		"HTTP/1.1 200 OK\r\n" + jsonType + "Content-Length: 99\r\n\r\n{\"model\":\"tiny\","}}
	return []Hostile{
		refused("400", llm.ClassRejected, 400, `no such thing as [redacted]\a\x1b[31m`, status("400 Bad Request", jsonType, oops)),
		refused("401", llm.ClassAuth, 401, "no such thing", status("401 Unauthorized", jsonType, oops)),
		refused("403", llm.ClassAuth, 403, "no such thing", status("403 Forbidden", jsonType, oops)),
		refused("404", llm.ClassNotFound, 404, "404 page not found", status("404 Not Found", "Content-Type: text/plain\r\n", "404 page not found")),
		refused("408", llm.ClassTimeout, 408, "HTTP 408", status("408 Request Timeout", "", "")),
		refused("422", llm.ClassRejected, 422, "field required", status("422 Unprocessable Entity", jsonType, `{"detail":[{"msg":"field required"}]}`)),
		retry(refused("429", llm.ClassOverload, 429, "slow down", status("429 Too Many Requests", jsonType+"Retry-After: 7\r\n", `{"error":"slow down"}`)), 7),
		retry(refused("503", llm.ClassOverload, 503, "loading", status("503 Service Unavailable", jsonType+
			"Date: Sun, 29 Nov 2026 19:26:08 GMT\r\nRetry-After: Sun, 29 Nov 2026 19:27:08 GMT\r\n", `{"error":{"message":"loading model"}}`)), 60),
		retry(refused("503, absurd Retry-After", llm.ClassOverload, 503, "HTTP 503", status("503 Service Unavailable", "Retry-After: -3\r\n", "")), 0),
		refused("500", llm.ClassServerError, 500, "boom", status("500 Internal Server Error", "Content-Type: text/plain\r\n", "boom")),
		refused("204", llm.ClassProtocol, 204, "HTTP 204", "HTTP/1.1 204 No Content\r\n\r\n"),
		refused("redirect", llm.ClassProtocol, 302, "redirects to https://login.test/?k=[redacted]", status("302 Found", "Location: https://login.test/?k=sk-very-secret\r\n", "")),
		refused("HTML", llm.ClassProtocol, 200, "Sign in", status("200 OK", "Content-Type: text/html; charset=utf-8\r\n", html)),
		refused("no content type", llm.ClassProtocol, 200, "no content type", status("200 OK", "", "data: x\n\n")),
		refused("gzip", llm.ClassProtocol, 200, "gzip", status("200 OK", "Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n", "\x1f\x8b\x08")),
		refused("does not stream", llm.ClassProtocol, 200, "does not stream", status("200 OK", jsonType, `{"choices":[{"message":{"content":"hi"}}]}`)),
		refused("error document with status 200", llm.ClassInBandError, 200, "no such thing", status("200 OK", jsonType, oops)),
		{Name: "not HTTP", Pieces: []string{"SSH-2.0-OpenSSH_9.2\r\n"}, Class: llm.ClassProtocol, Says: "malformed", Tokens: -1},
		silent, quiet, whole, short,
		{Name: "a stream that was not asked for", NoStream: true, Pieces: []string{head, good()}, Class: llm.ClassProtocol, Status: 200, Says: "text/event-stream", Tokens: -1},
	}
}

func ollamaCases() []Hostile {
	line := func(text string) string {
		return `{"model":"tiny","message":{"role":"assistant","content":` + quote(text) + `},"done":false}` + "\n"
	}
	last := `{"model":"tiny","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}` + "\n"
	text := line("hello ") + line("world")
	nd := func(h Hostile) Hostile { h.API = llm.Ollama; return h }
	bad := func(name string, class llm.Class, says string, pieces ...string) Hostile {
		return Hostile{Name: "ndjson: " + name, API: llm.Ollama, Pieces: append([]string{headND}, pieces...), Class: class, Says: says, Text: "hello world", Tokens: -1}
	}
	tool := nd(fine("ndjson: done inside a tool call", headND, `{"model":"tiny","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"done":true}}},{"function":{"name":"g","arguments":{}}}]},"done":false}`+"\n", text, last))
	tool.Tools = []llm.ToolCall{{Name: "f", Arguments: `{"done":true}`}, {Name: "g", Arguments: "{}"}}
	heldOpen := nd(fine("ndjson: held open after done", headND, text, last))
	heldOpen.End = Hold
	thinking := nd(fine("ndjson: thinking", headND, `{"model":"tiny","message":{"content":"","thinking":"hm"},"done":false}`+"\n", text, last))
	thinking.Reasoning = "hm"
	none := nd(fine("ndjson: counts left out", headND, text, strings.ReplaceAll(last, `,"prompt_eval_count":3,"eval_count":2`, "")))
	none.Tokens = -1
	negative := nd(fine("ndjson: negative count", headND, text, strings.ReplaceAll(last, `:2}`, `:-2}`)))
	negative.Tokens = -1
	return []Hostile{
		nd(fine("ndjson: plain", headND, text, last)),
		nd(fine("ndjson: every byte a read", Bytes(headND+text+last)...)),
		nd(fine("ndjson: CRLF and blank lines", headND, "\r\n\n"+strings.ReplaceAll(text+last, "\n", "\r\n\r\n"))),
		nd(fine("ndjson: no last line end", headND, text, strings.TrimSpace(last))),
		nd(fine("ndjson: spaces", headND, text, strings.ReplaceAll(last, `"done":true`, ` "done" : true `))),
		nd(fine("ndjson: text after done", headND, text+last+line("more")+"{broken\n")),
		tool, heldOpen, thinking, none, negative,
		bad("cut", llm.ClassCutStream, "", text),
		bad("cut inside a line", llm.ClassCutStream, "", text, last[:40]),
		bad("error line", llm.ClassInBandError, "runner stopped", text, `{"error":"llama runner stopped"}`+"\n"),
		bad("duplicate keys", llm.ClassInvalidJSON, "duplicate", text, `{"done":false,"done":true}`+"\n"),
		bad("not JSON", llm.ClassInvalidJSON, "", text, "oops\n"),
		{Name: "ndjson: does not stream", API: llm.Ollama, Class: llm.ClassProtocol, Status: 200, Says: "does not stream", Tokens: -1, Pieces: []string{status("200 OK", jsonType, strings.TrimSpace(last))}},
		{Name: "ndjson: error status", API: llm.Ollama, Class: llm.ClassNotFound, Status: 404, Says: "model 'x' not found", Tokens: -1, Pieces: []string{status("404 Not Found", jsonType, `{"error":"model 'x' not found"}`)}},
	}
}
