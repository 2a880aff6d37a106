package llm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// capture reads what a real server sent. curl had taken the chunks out of all
// but the raw one, and left their header.
func capture(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wire", "ollama-"+name+".txt"))
	if err != nil {
		tb.Fatal(err)
	}
	if _, rest, ok := bytes.Cut(b, []byte("# ---- raw (curl -sN -i)\n")); ok {
		b = bytes.Replace(rest, []byte("Transfer-Encoding: chunked\r\n"), nil, 1)
	}
	return string(b)
}

func captureCases() []llmtest.Hostile {
	weather := func(id string) []llm.ToolCall {
		return []llm.ToolCall{{ID: id, Name: "get_weather", Arguments: `{"city":"paris"}`}}
	}
	count := strings.Repeat(" one two three four five six seven eight nine ten", 3) + " one two"
	return []llmtest.Hostile{
		{Name: "chat-stream", API: llm.Ollama, Text: "U tool med5", Finish: "length", Tokens: 8},
		{Name: "chat-stream-warm", API: llm.Ollama, Text: "U tool med5", Finish: "length", Tokens: 8},
		{Name: "chat-logprobs", API: llm.Ollama, Text: " thi;", Finish: "length", Tokens: 4},
		{Name: "chat-nostream", API: llm.Ollama, NoStream: true, Text: "v n pari a\x11\x1c refund", Finish: "length", Tokens: 8},
		{Name: "format-json", API: llm.Ollama, NoStream: true, Text: "{}", Finish: "stop", Tokens: 3},
		{Name: "schema", API: llm.Ollama, Finish: "stop", Tokens: 35, Text: `{"label": "billing" , "ok":true } `},
		{Name: "table-i1", API: llm.Ollama, Model: "table", Text: " billing", Finish: "stop", Tokens: 2},
		{Name: "table2-count32", API: llm.Ollama, Model: "table2", Text: count, Finish: "length", Tokens: 32},
		{Name: "table2-think", API: llm.Ollama, Model: "table2", Text: "true", Reasoning: "because", Finish: "stop", Tokens: 5},
		{Name: "table2-toolcall", API: llm.Ollama, Model: "table2", Tools: weather("call_wrb9r7ur"), Finish: "stop", Tokens: 2},
		{Name: "tools", API: llm.Ollama, Text: " functio assistant shiu cal", Finish: "length", Tokens: 8},
		{Name: "unload", API: llm.Ollama, Model: "table2", NoStream: true, Finish: "unload", Tokens: -1, Class: llm.ClassEmpty, Says: "unload"},
		{Name: "err-404", API: llm.Ollama, Class: llm.ClassNotFound, Status: 404, Says: "model 'absent' not found", Tokens: -1},
		{Name: "v1-stream-usage", Text: "U tool med5", Finish: "length", Tokens: 8},
		{Name: "v1-stream-nousage", Text: "U", Finish: "length", Tokens: -1},
		{Name: "v1-logprobs", Text: " thi", Finish: "length", Tokens: -1},
		{Name: "v1-nostream", NoStream: true, Text: "U tool med5", Finish: "length", Tokens: 8},
		{Name: "v1-nostream", Class: llm.ClassProtocol, Status: 200, Says: "does not stream", Tokens: -1},
		{Name: "v1-schema", NoStream: true, Text: `{"label": "billing" , "ok":true } `, Finish: "stop", Tokens: 35},
		{Name: "v1-table-i3", Model: "table", Text: " shipping", Finish: "stop", Tokens: 2},
		{Name: "v1-table2-raw-chunked", Model: "table2", Text: " one two three four five", Finish: "length", Tokens: 5},
		{Name: "v1-table2-toolcall", Model: "table2", Tools: weather("call_mvi4tqg3"), Finish: "tool_calls", Tokens: 2},
		{Name: "v1-table2-toolcall-nostream", Model: "table2", NoStream: true, Tools: weather("call_6k5pcniw"), Finish: "tool_calls", Tokens: 2},
		{Name: "v1-tools", Text: " bill pq ge tr\x01 syste", Finish: "length", Tokens: -1},
		{Name: "v1-err-400", Class: llm.ClassRejected, Status: 400, Says: "unexpected EOF", Tokens: -1},
		{Name: "v1-err-404", Class: llm.ClassNotFound, Status: 404, Says: "model 'absent' not found", Tokens: -1},
	}
}

// What a real Ollama sent comes out as known text, tokens and finish reason,
// in one read and byte by byte.
func TestCaptures(t *testing.T) {
	for _, h := range captureCases() {
		raw := capture(t, h.Name)
		for form, pieces := range map[string][]string{"whole": {raw}, "bytes": llmtest.Bytes(raw)} {
			t.Run(h.Name+"/"+form, func(t *testing.T) {
				h.Pieces = pieces
				ctx, expire := llmtest.WithExpiry(t.Context())
				c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(expire))
				h.Check(t, c.Do(ctx, p))
			})
		}
	}
}

// Ollama's own durations and its prompt count come through.
func TestCaptureServerTimes(t *testing.T) {
	h := llmtest.Hostile{API: llm.Ollama, Pieces: []string{capture(t, "chat-stream")}}
	c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
	r := c.Do(t.Context(), p)
	want := llm.ServerTimes{Total: 6296735, Load: 2025537, PromptEval: 828693, Eval: 1732520}
	if r.Server == nil || *r.Server != want || r.Usage == nil || *r.Usage.PromptTokens != 16 {
		t.Errorf("server %+v, usage %+v", r.Server, r.Usage)
	}
	if r.Events != 5 || r.ContentChunks != 4 || r.Coalesced != 3 {
		t.Errorf("%d events, %d content chunks, %d coalesced; want 5, 4, 3", r.Events, r.ContentChunks, r.Coalesced)
	}
}
