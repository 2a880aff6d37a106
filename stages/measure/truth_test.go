package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
	"github.com/cupel-dev/cupel/stages/measure/dispatch"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/metric"
)

// The scripts of testdata/truth are engines whose file name says the truth. Each
// line is a moment, in ms since the request, and what is written then; --- begins
// the answer to the next request.
//
//	at MS head|done|sse DOC|line DOC
//	every MS from MS times N sse DOC|line DOC
//	api NAME, model NAME, asked TOKENS   of all requests
type script struct {
	answers []llmtest.Hostile
	asked   int
}

func readScript(t *testing.T, file string) (s script) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, last := llmtest.Hostile{Name: filepath.Base(file)}, 0
	end := func() { s.answers = append(s.answers, h); h.Pieces, h.Pauses, last = nil, nil, 0 }
	write := func(at int, what string) {
		h.Pauses = append(h.Pauses, time.Duration(at-last)*time.Millisecond)
		h.Pieces, last = append(h.Pieces, wire(t, h.API, what)), at
	}
	for n, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var every, from, times int
		switch {
		case word == "#":
		case word == "---":
			end()
		case word == "api":
			h.API = llm.API(rest)
		case word == "model":
			h.Model = rest
		case word == "asked":
			s.asked, err = strconv.Atoi(rest)
		case word == "at":
			_, err = fmt.Sscanf(rest, "%d", &from)
			write(from, rest[strings.IndexByte(rest, ' ')+1:])
		case word == "every":
			_, err = fmt.Sscanf(rest, "%d from %d times %d", &every, &from, &times)
			for i := range times {
				write(from+i*every, strings.Join(strings.Split(rest, " ")[5:], " "))
			}
		default:
			t.Fatalf("%s:%d: %q", file, n+1, line)
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", file, n+1, err)
		}
	}
	end()
	return s
}

func wire(t *testing.T, api llm.API, what string) string {
	t.Helper()
	kind, doc, _ := strings.Cut(what, " ")
	switch kind {
	case "head":
		media := "text/event-stream"
		if api == llm.Ollama {
			media = "application/x-ndjson"
		}
		return "HTTP/1.1 200 OK\r\nContent-Type: " + media + "\r\nConnection: close\r\n\r\n"
	case "sse":
		return "data: " + doc + "\n\n"
	case "line":
		return doc + "\n"
	case "done":
		return "data: [DONE]\n\n"
	}
	t.Fatalf("a script writes %q", kind)
	return ""
}

// play asks the engine of a script by the real client, one request after the
// other on a clock of its own, and derives the cell as a run does.
func play(t *testing.T, s script) metric.Cell {
	t.Helper()
	var rows []metric.Request
	var wall int64
	b := &block{request: func(int, prompts.Prompt) llm.Request { return llm.Request{} }}
	for i, h := range s.answers {
		synctest.Test(t, func(t *testing.T) {
			c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
			began := time.Now()
			r := dispatch.Result{Index: i, Planned: -1, Dispatched: wall, Response: c.Do(t.Context(), p)}
			wall += int64(time.Since(began))
			rows = append(rows, request(b.row(r, prompts.Prompt{AskedTokens: s.asked}), 0))
		})
	}
	o := metric.CellOptions{Name: "c=1", Concurrency: 1, Protocol: metric.CapacityV4Reasoning}
	return metric.NewBench(o, []metric.Trial{{Requests: rows, WallNS: wall}})[0]
}

func p50Of(d metric.Dist) metric.Value {
	if d.P50 == nil {
		return metric.Null(d.Reason, d.Unit)
	}
	return metric.Of(*d.P50, d.Unit)
}

// Every number that such an engine makes other tools report wrongly is either the
// one in the name of its script, or not there, with the reason.
func TestEnginesOfKnownTruth(t *testing.T) {
	type expect struct {
		of     func(*metric.Cell) metric.Value
		want   float64
		reason string
	}
	decode := func(c *metric.Cell) metric.Value { return p50Of(c.DecodeTokS) }
	span := func(c *metric.Cell) metric.Value { return p50Of(c.DecodeSpanTokS) }
	m1 := func(c *metric.Cell) metric.Value { return p50Of(c.TokPerSec) }
	throughput := func(c *metric.Cell) metric.Value { return c.ThroughputTokS }
	ttft := func(c *metric.Cell) metric.Value { return p50Of(c.TTFT) }
	ttfo := func(c *metric.Cell) metric.Value { return p50Of(c.TTFO) }
	for name, tt := range map[string]struct {
		expect []expect
		mark   func(*metric.Cell) bool // that closes every guard, nil = none
		doubt  string
	}{
		"ollama-thinking-180-answer-20-at-100-tok-s": {expect: []expect{
			{decode, 100, ""}, {m1, 100, ""}, {ttfo, 275, ""}, {ttft, 2075, ""}}},
		"chunks-of-1-tokens-at-100-tok-s":     {expect: []expect{{decode, 100, ""}, {span, 100, ""}, {m1, 96 / 0.95, ""}}},
		"chunks-of-8-tokens-at-100-tok-s":     {expect: []expect{{decode, 0, metric.CoarseChunks}, {span, 0, metric.CoarseChunks}, {m1, 0, metric.CoarseChunks}}},
		"chunks-of-32-tokens-at-100-tok-s":    {expect: []expect{{decode, 0, metric.CoarseChunks}, {span, 0, metric.CoarseChunks}, {m1, 0, metric.CoarseChunks}}},
		"chunks-of-48-tokens-at-100-tok-s":    {expect: []expect{{decode, 0, metric.CoarseChunks}, {span, 0, metric.CoarseChunks}, {m1, 0, metric.CoarseChunks}}},
		"one-chunk-of-96-tokens-at-100-tok-s": {expect: []expect{{decode, 0, metric.CoarseChunks}, {span, 0, metric.CoarseChunks}, {m1, 0, metric.CoarseChunks}}},
		"no-usage-96-tokens-in-12-chunks-at-100-tok-s": {expect: []expect{
			{decode, 0, metric.NoUsage}, {span, 0, metric.NoUsage}, {m1, 0, metric.NoUsage}, {throughput, 0, metric.NoUsage}}},
		"hidden-reasoning-480-then-20-at-100-tok-s": {expect: []expect{
			{decode, 0, metric.HiddenReasoning}, {span, 0, metric.CoarseChunks}, {m1, 0, metric.HiddenReasoning}, {ttft, 4900, ""}, {throughput, 500 / 5.09, ""}}},
		"tail-of-500-ms-after-97-tokens-at-100-tok-s": {expect: []expect{{span, 100, ""}, {decode, 96 / 1.46, ""}}}, // generation lasts until the end of the stream, by definition
		"second-request-cached-ttft-500-ms-then-12-ms": {expect: []expect{
			{func(c *metric.Cell) metric.Value { return metric.Of(*c.TTFT.Min, "ms") }, 12, ""}, {func(c *metric.Cell) metric.Value { return metric.Of(*c.TTFT.Max, "ms") }, 500, ""}},
			mark: func(c *metric.Cell) bool { return c.WarmCache }, doubt: "warm-cache: "},
		"prompt-of-7900-cut-to-2050-tokens": {expect: []expect{
			{func(c *metric.Cell) metric.Value { return p50Of(c.PromptAccuracy) }, 2050.0 / 7900, ""}},
			mark: func(c *metric.Cell) bool { return c.OffLength }, doubt: "the furthest is 0.259"},
		"asked-for-qwen3-30b-served-qwen3-4b": {expect: []expect{{throughput, 0, metric.IncompleteCell}, {ttft, 0, metric.NoRequests}, {m1, 0, metric.IncompleteCell}},
			mark: func(c *metric.Cell) bool { return c.Failures["wrong-model"] == 1 }},
		"usage-missing-on-1-of-4-requests-of-50-tokens": {expect: []expect{{throughput, 0, metric.NoUsage}, {m1, 0, metric.NoUsage}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := play(t, readScript(t, "testdata/truth/"+name+".script"))
			for i, e := range tt.expect {
				got := e.of(&c)
				switch {
				case e.reason != "" && (got.Value != nil || got.Reason != e.reason):
					t.Errorf("%d: %+v, want %s", i, got, e.reason)
				case e.reason == "" && (got.Value == nil || *got.Value < 0.999*e.want || *got.Value > 1.001*e.want):
					t.Errorf("%d: %s, want %v", i, show(got), e.want)
				}
			}
			if tt.mark != nil && !tt.mark(&c) {
				t.Errorf("the cell is not marked; failures %v, doubts %q", c.Failures, c.Doubts)
			}
			if tt.doubt != "" && !slices.ContainsFunc(c.Doubts, func(s string) bool { return strings.Contains(s, tt.doubt) }) {
				t.Errorf("doubts %q, want %q", c.Doubts, tt.doubt)
			}
		})
	}
}

func show(v metric.Value) string {
	if v.Value == nil {
		return v.Reason
	}
	return fmt.Sprint(*v.Value)
}
