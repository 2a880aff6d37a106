package llm_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// splits are cases in which a cut could matter most.
var splits = []string{
	"plain", "CRLF", "CR", "no space after data:", "comments", "byte order mark", "several data lines", "UTF-8 split over reads",
	"white space is content, at a read's edge too", "reasoning_content first", "tool call in parts", "error event", "spaces around the sentinel",
	"chunks that do not respect events", "ndjson: plain", "ndjson: CRLF and blank lines", "ndjson: error line",
}

// A stream cut into two reads at any byte says the same.
func TestEveryOffset(t *testing.T) {
	seen := 0
	for _, h := range llmtest.Hostiles() {
		if !slices.Contains(splits, h.Name) {
			continue
		}
		seen++
		raw := strings.Join(h.Pieces, "")
		for i := 1; i < len(raw); i++ {
			h.Pieces = []string{raw[:i], raw[i:]}
			c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
			if problems := h.Problems(c.Do(t.Context(), p)); len(problems) > 0 {
				t.Fatalf("%s, cut at byte %d: %v", h.Name, i, problems)
			}
		}
	}
	if seen != len(splits) {
		t.Errorf("%d of %d cases exist", seen, len(splits))
	}
}

// body answers with a stream that comes through any reader.
type body struct {
	kind string
	io.Reader
}

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {b.kind}}, Body: io.NopCloser(b.Reader)}, nil
}

// cutter reads pieces of the lengths that it is told, again and again.
type cutter struct {
	rest    string
	lengths []byte
	at      int
}

func (c *cutter) Read(b []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := 1
	if len(c.lengths) > 0 {
		n += int(c.lengths[c.at%len(c.lengths)])
		c.at++
	}
	n = copy(b, c.rest[:min(n, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// what asks for a stream and returns all but what the reads decide.
func what(t *testing.T, api llm.API, r io.Reader) llm.Response {
	kind := "text/event-stream"
	if api == llm.Ollama || api == llm.OllamaGenerate {
		kind = "application/x-ndjson"
	}
	c, err := llm.New(llm.Options{URL: "http://127.0.0.1:1", API: api, Model: "tiny", Transport: body{kind, r}})
	if err != nil {
		t.Fatal(err)
	}
	c.SetClock(func() time.Time { return time.Unix(1, 0) })
	out := c.Do(t.Context(), hi(t, c))
	out.Coalesced, out.Raw = 0, 0
	return out
}

// A clock that went back between two output events makes the row inconsistent,
// even when the first and the last look right.
func TestClockWentBack(t *testing.T) {
	for name, c := range map[string]struct {
		reads []int // ms since dispatch
		class llm.Class
	}{"in order": {[]int{10, 20, 30, 40}, ""}, "equal": {[]int{10, 10, 10, 40}, ""}, "back": {[]int{10, 30, 20, 40}, llm.ClassInconsistent}} {
		parts := []string{"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n",
			"data: {\"choices\":[{\"delta\":{\"content\":\"c\"}}]}\n\n", "data: [DONE]\n\n"}
		var readers []io.Reader
		for _, p := range parts {
			readers = append(readers, strings.NewReader(p))
		}
		client, err := llm.New(llm.Options{URL: "http://127.0.0.1:1", API: llm.OpenAI, Model: "tiny", Transport: body{"text/event-stream", io.MultiReader(readers...)}})
		if err != nil {
			t.Fatal(err)
		}
		calls := append([]int{0, 5}, c.reads...) // dispatch and header come first
		client.SetClock(func() time.Time {
			at := time.Unix(0, int64(calls[0])*int64(time.Millisecond))
			calls = calls[1:]
			return at
		})
		r := client.Do(t.Context(), hi(t, client))
		class := llm.Class("")
		if r.Failure != nil {
			class = r.Failure.Class
		}
		if class != c.class || r.Text != "abc" || r.Raw != len(strings.Join(parts, "")) || r.Coalesced != 0 || r.Times.FirstOutput != 10e6 || len(r.OutputNS) != 3 || len(calls) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

var wires = []llm.API{llm.OpenAI, llm.OpenAICompletions, llm.OpenAIResponses, llm.Ollama, llm.OllamaGenerate}

// FuzzClient: however a stream is cut into reads, the whole client says the
// same of it.
func FuzzClient(f *testing.F) {
	for _, h := range llmtest.Hostiles() {
		_, stream, _ := strings.Cut(strings.Join(h.Pieces, ""), "\r\n\r\n")
		if len(stream) < 4<<10 {
			f.Add(uint8(max(slices.Index(wires, h.API), 0)), []byte(stream), []byte{3, 0, 40, 7})
		}
	}
	f.Add(uint8(1), []byte("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n"), []byte{1})
	f.Add(uint8(2), []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n"+
		"data: {\"type\":\"response.completed\",\"response\":{\"model\":\"tiny\",\"status\":\"completed\"}}\n\n"), []byte{9, 2})
	f.Add(uint8(4), []byte("{\"model\":\"tiny\",\"response\":\"a\",\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\"}\n"), []byte{9, 2})
	f.Fuzz(func(t *testing.T, wire uint8, stream, lengths []byte) {
		api := wires[int(wire)%len(wires)]
		whole := what(t, api, strings.NewReader(string(stream)))
		cut := what(t, api, &cutter{rest: string(stream), lengths: lengths})
		if diff := cmp.Diff(whole, cut); diff != "" {
			t.Fatalf("whole against pieces: %s", diff)
		}
		bytewise := what(t, api, iotest.OneByteReader(strings.NewReader(string(stream))))
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Fatalf("whole against bytes: %s", diff)
		}
	})
}
