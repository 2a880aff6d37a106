package llmtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/llm"
)

const (
	head   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	headND = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
	done   = "data: [DONE]\n\n"
)

func chunk(delta string) string {
	return `{"model":"tiny","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":null}]}`
}

func ev(doc string) string { return "data: " + doc + "\n\n" }

func say(text string) string { return ev(chunk(`"content":` + quote(text))) }

func stop(extra string) string {
	return ev(`{"model":"tiny","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]` + extra + `}`)
}

func usage(out int) string {
	return ev(fmt.Sprintf(`{"model":"tiny","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":%d,"total_tokens":9}}`, out))
}

func status(line, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", line, header, len(body), body)
}

const jsonType = "Content-Type: application/json\r\n"

// good is an answer "hello world" of 2 tokens.
func good() string { return say("hello ") + say("world") + stop("") + usage(2) + done }

// Bytes makes every byte of s a piece of its own.
func Bytes(s string) []string {
	out := make([]string, len(s))
	for i := range len(s) {
		out[i] = s[i : i+1]
	}
	return out
}

// Hostiles returns the whole suite.
func Hostiles() []Hostile {
	return slices.Concat(framingCases(), deltaCases(), usageCases(), endCases(), refusalCases(), ollamaCases(),
		timedCases(), countedCases(), reportedCases(), moreCases())
}

// fine completes the expectation of a good answer.
func fine(name string, pieces ...string) Hostile {
	return Hostile{Name: name, Pieces: pieces, Text: "hello world", Finish: "stop", Tokens: 2}
}

func framingCases() []Hostile {
	crlf := strings.ReplaceAll(good(), "\n", "\r\n")
	big := strings.Repeat("x", 1<<20)
	utf8 := say("grüß 世界") + stop("") + usage(2) + done
	text := func(h Hostile, s string) Hostile { h.Text = s; return h }
	multi := "data: {\"model\":\"tiny\",\ndata: \"choices\":[{\"delta\":\ndata:{\"content\":\"hello world\"}}]}\n\n" + stop("") + usage(2) + done
	return []Hostile{
		fine("plain", head, good()),
		fine("every byte a read", Bytes(head+good())...),
		fine("CRLF", head, crlf),
		fine("CRLF, every byte a read", Bytes(head+crlf)...),
		fine("CR", head, strings.ReplaceAll(good(), "\n", "\r")),
		fine("no space after data:", head, strings.ReplaceAll(good(), "data: ", "data:")),
		fine("comments", head, ": ping\n\n", strings.ReplaceAll(good(), "data:", ": ping\n:\ndata:")),
		fine("event, id and retry lines", head, strings.ReplaceAll(good(), "data:", "event: message\nid: 7\nretry: 10\ndata:")),
		fine("unknown fields", head, strings.ReplaceAll(good(), "data:", "datum: {\ndata-x: 1\nnothing\ndata:")),
		fine("byte order mark", append([]string{head}, Bytes("\xef\xbb\xbf"+good())...)...),
		fine("several data lines", head, multi),
		fine("several data lines, every byte a read", Bytes(head+multi)...),
		fine("blank lines first", head, "\n\n\r\n", good()),
		fine("empty data lines", head, "data:\n\ndata: \n\ndata\n\n", good()),
		fine("blank line comes with the next event", head, strings.TrimSuffix(say("hello "), "\n"), "\n"+strings.TrimSuffix(say("world"), "\n"), "\n"+stop("")+usage(2)+done),
		fine("chunked", strings.Replace(head, "Connection: close", "Transfer-Encoding: chunked", 1), chunked(say("hello ")), chunked(say("world")), chunked(stop("")+usage(2)+done), "0\r\n\r\n"),
		text(fine("UTF-8 split over reads", append([]string{head}, Bytes(utf8)...)...), "grüß 世界"),
		text(fine("white space is content, at a read's edge too", head, say(" "), say("\n\n"), say("hello "), say("\tworld "), stop("")+usage(2)+done), " \n\nhello \tworld "),
		text(fine("U+2028, U+0085 and NUL in a string", head, say("a\u2028b\u0085c")+ev(chunk(`"content":"\u0000d"`)), stop("")+usage(2)+done), "a\u2028b\u0085c\x00d"),
		text(fine("1 MiB event", head, say(big), stop("")+usage(2)+done), big),
		text(fine("text that looks like the protocol", head, say(`data: [DONE]`)+say("\n\n")+say(`{"error":{"message":"no"}}`), stop("")+usage(2)+done), "data: [DONE]\n\n"+`{"error":{"message":"no"}}`),
		{Name: "raw NUL", Pieces: []string{head, say("a"), ev("{\"model\":\"tiny\x00\"}"), done}, Text: "a", Tokens: -1, Class: llm.ClassInvalidJSON},
		{Name: "not UTF-8", Pieces: []string{head, say("a"), ev(chunk("\"content\":\"\xff\"")), done}, Text: "a", Tokens: -1, Class: llm.ClassInvalidJSON, Says: "UTF-8"},
		{Name: "half a surrogate pair", Pieces: []string{head, ev(chunk(`"content":"\ud83d"`)), done}, Tokens: -1, Class: llm.ClassInvalidJSON},
		{Name: "duplicate keys", Pieces: []string{head, say("a"), ev(`{"model":"tiny","choices":[{"index":0,"delta":{"content":"b","content":"c"}}]}`), done}, Text: "a", Tokens: -1, Class: llm.ClassInvalidJSON, Says: "duplicate"},
		{Name: "not JSON", Pieces: []string{head, say("a"), ev("oops"), done}, Text: "a", Tokens: -1, Class: llm.ClassInvalidJSON},
		{Name: "two documents in one event", Pieces: []string{head, ev(chunk(`"content":"a"`) + chunk(`"content":"b"`)), done}, Tokens: -1, Class: llm.ClassInvalidJSON},
		{Name: "JSON of another protocol", Pieces: []string{head, ev(`{"model":"tiny","choices":{"delta":"a"}}`), done}, Tokens: -1, Class: llm.ClassProtocol},
		{Name: "event beyond the bound", Pieces: []string{head, "data: " + strings.Repeat("x", 9<<20)}, Tokens: -1, Class: llm.ClassProtocol, Says: "8 MiB"},
	}
}

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func deltaCases() []Hostile {
	role := ev(chunk(`"role":"assistant","content":""`))
	rest := stop("") + usage(2) + done
	think := func(h Hostile, s string) Hostile { h.Reasoning = s; return h }
	call := func(h Hostile, text string, calls ...llm.ToolCall) Hostile { h.Text, h.Tools = text, calls; return h }
	weather := llm.ToolCall{ID: "c1", Name: "weather", Arguments: `{"city":"x"}`}
	tool := func(index, id, name, args string) string {
		return ev(chunk(fmt.Sprintf(`"tool_calls":[{%s"id":%s,"function":{"name":%s,"arguments":%s}}]`, index, id, name, args)))
	}
	return []Hostile{
		fine("role first", head, role, good()),
		fine("null and empty deltas", head, ev(chunk(`"content":null,"tool_calls":null,"reasoning_content":null`)), ev(chunk("")), ev(`{"model":"tiny","choices":[{"delta":null}]}`), ev(`{"model":"tiny","choices":null}`), good()),
		fine("null error and usage", head, ev(`{"model":"tiny","error":null,"usage":null,"choices":[]}`), good()),
		fine("another choice", head, ev(`{"model":"tiny","choices":[{"index":1,"delta":{"content":"no"}}]}`), good()),
		think(fine("reasoning_content first", head, ev(chunk(`"reasoning_content":"hm "`)), ev(chunk(`"reasoning_content":"ok"`)), good()), "hm ok"),
		think(fine("reasoning first, the other spelling empty", head, ev(chunk(`"reasoning_content":"","reasoning":"hm"`)), good()), "hm"),
		think(fine("reasoning under two spellings", head, ev(chunk(`"reasoning_content":"hm","reasoning":"hm"`)), good()), "hm"),
		think(fine("thinking", head, ev(chunk(`"thinking":"hm"`)), good()), "hm"),
		call(fine("tool call in parts", head, tool(`"index":0,`, `"c1"`, `"weather"`, `""`), tool(`"index":0,`, "null", "null", `"{\"city\":"`), tool(`"index":0,`, `""`, `""`, `"\"x\"}"`), rest), "", weather),
		call(fine("tool call before the text", head, tool(`"index":0,`, `"c1"`, `"weather"`, `"{\"city\":\"x\"}"`), say("ok"), rest), "ok", weather),
		call(fine("tool calls interleaved, high index", head, tool(`"index":7,`, `"c1"`, `"weather"`, `"{\"city\""`), tool(`"index":1000000000,`, `"c2"`, `"time"`, `"{}"`), tool(`"index":7,`, "null", `"weather"`, `":\"x\"}"`), rest), "", weather, llm.ToolCall{ID: "c2", Name: "time", Arguments: "{}"}),
		call(fine("tool calls without an index", head, tool("", `"c1"`, `"weather"`, `"{\"city\""`), tool("", "null", "null", `":\"x\"}"`), tool("", `"c2"`, `"time"`, `{"a":1}`), rest), "", weather, llm.ToolCall{ID: "c2", Name: "time", Arguments: `{"a":1}`}),
		{Name: "reasoning only", Pieces: []string{head, ev(chunk(`"reasoning":"hm"`)), rest}, Reasoning: "hm", Finish: "stop", Tokens: 2, Class: llm.ClassEmpty, Says: "reasoning only"},
		{Name: "nothing visible", Pieces: []string{head, role, rest}, Finish: "stop", Tokens: 2, Class: llm.ClassEmpty},
		{Name: "only the sentinel", Pieces: []string{head, done}, Tokens: -1, Class: llm.ClassEmpty},
		{Name: "wrong model", Pieces: []string{head, strings.ReplaceAll(good(), `"tiny"`, `"huge"`)}, Text: "hello world", Finish: "stop", Tokens: 2, Class: llm.ClassWrongModel, Says: "huge"},
		{Name: "wrong model in the middle", Pieces: []string{head, say("hello "), strings.ReplaceAll(say("world"), `"tiny"`, `"huge"`), rest}, Text: "hello world", Finish: "stop", Tokens: 2, Class: llm.ClassWrongModel, Says: "huge"},
		fine("name:latest is the name", head, strings.ReplaceAll(good(), `"tiny"`, `"tiny:latest"`)),
		fine("no model named", head, strings.ReplaceAll(good(), `"model":"tiny",`, "")),
	}
}

func usageCases() []Hostile {
	with := func(name string, tokens int64, pieces ...string) Hostile {
		h := fine(name, append([]string{head}, pieces...)...)
		h.Tokens = tokens
		return h
	}
	zero := `,"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
	body := say("hello ") + say("world")
	doc := func(u string) []string { return []string{body, stop(`,"usage":` + u), done} }
	return []Hostile{
		with("usage in the last choice chunk", 2, body, stop(`,"usage":{"prompt_tokens":3,"completion_tokens":2}`), done),
		with("all-zero usage before the last", 2, strings.ReplaceAll(body, `}]}`, `}]`+zero+`}`), stop(zero), usage(2), done),
		with("usage null after the real one", 2, body, usage(2), stop(`,"usage":null`), done),
		with("running usage", 2, usage(1), body, stop(""), usage(2), done),
		with("no usage", -1, body, stop(""), done),
		with("all-zero usage only", -1, body, stop(zero), done),
		with("partial usage", -1, doc(`{"prompt_tokens":3,"completion_tokens_details":{"reasoning_tokens":1}}`)...),
		with("negative usage", -1, doc(`{"prompt_tokens":3,"completion_tokens":-2}`)...),
		with("fractional usage", -1, doc(`{"prompt_tokens":3,"completion_tokens":2.5}`)...),
		with("usage as a string", -1, doc(`{"prompt_tokens":3,"completion_tokens":"2"}`)...),
		with("usage beyond 2^53", -1, doc(`{"prompt_tokens":3,"completion_tokens":9007199254740993}`)...),
		with("usage is no object", -1, doc(`7`)...),
	}
}
