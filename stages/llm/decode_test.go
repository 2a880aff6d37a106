package llm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// decodeStream runs a whole stream through the reader and the decoder.
func decodeStream(api API, stream string) (Response, *decoding) {
	kind := frameSSE
	if api == Ollama {
		kind = frameNDJSON
	}
	rec := newRecording(kind)
	defer rec.release()
	clock := int64(0)
	_, _ = rec.readAll(strings.NewReader(stream), func() int64 { clock++; return clock })
	r := Response{}
	r.Times.FirstOutput, r.Times.FirstVisible, r.Times.LastOutput, r.Times.End = never, never, never, never
	d := &decoding{resp: &r, stream: true, same: func(string) bool { return true }}
	d.decode(rec, api)
	return r, d
}

// Any stream gives a Response that keeps its promises.
func fuzzDecode(f *testing.F, api API, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		r, d := decodeStream(api, stream)
		if !utf8.ValidString(r.Text) || !utf8.ValidString(r.Reasoning) {
			t.Fatalf("text %q is not UTF-8", r.Text)
		}
		if (r.Text != "") != (r.Times.FirstVisible != never) || !r.Times.consistent() {
			t.Fatalf("text %q with times %+v", r.Text, r.Times)
		}
		if u := r.Usage; u != nil && (u.zero() && api == OpenAI || u.OutputTokens != nil && *u.OutputTokens < 0) {
			t.Fatalf("usage %+v", u)
		}
		if r.Coalesced < 0 || r.ContentChunks+r.ReasoningChunks > 2*r.Events {
			t.Fatalf("counts %+v", r)
		}
		if d.failure != nil && d.failure.Class == "" {
			t.Fatal("failure without a class")
		}
	})
}

func FuzzOpenAI(f *testing.F) {
	fuzzDecode(f, OpenAI,
		"data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\ndata: [DONE]\n\n",
		"data: {\"error\":{\"message\":\"x\"}}\n\n", "event: error\ndata: x\n\n", "data: {\"choices\":[],\"timings\":{\"prompt_ms\":1.5}}\n\n")
}

func FuzzOllama(f *testing.F) {
	fuzzDecode(f, Ollama,
		"{\"model\":\"m\",\"message\":{\"content\":\"a\",\"thinking\":\"b\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\",\"eval_count\":3,\"total_duration\":5}\n",
		"{\"error\":\"x\"}\n")
}

// The first output event's own running usage says how many tokens it carried,
// and llama.cpp's timings are durations of the server.
func TestFirstChunkTokensAndTimings(t *testing.T) {
	r, _ := decodeStream(OpenAI, `data: {"choices":[{"index":0,"delta":{"content":"a b c"}}],"usage":{"prompt_tokens":4,"completion_tokens":3}}

data: {"choices":[{"index":0,"delta":{"content":"d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":4},"timings":{"prompt_ms":1.5,"predicted_ms":-2}}

data: [DONE]

`)
	if r.FirstChunkToks != 3 || *r.Usage.OutputTokens != 4 || *r.Server != (ServerTimes{PromptEval: 1_500_000}) {
		t.Errorf("first chunk %d, usage %d, server %+v", r.FirstChunkToks, *r.Usage.OutputTokens, *r.Server)
	}
}

func TestPartialUsageIsKept(t *testing.T) {
	u := readUsage([]byte(`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1,"x":null}}`))
	if u == nil || *u.PromptTokens != 3 || *u.CachedTokens != 2 || *u.ReasoningTokens != 1 || u.OutputTokens != nil {
		t.Errorf("%+v", u)
	}
}

// loop gives the same bytes again and again.
type loop struct {
	piece []byte
	left  int
}

func (l *loop) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, errors.New("end")
	}
	l.left--
	return copy(b, l.piece), nil
}

const recordedEvent = `data: {"id":"chatcmpl-872","object":"chat.completion.chunk","created":1795980368,"model":"tiny","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":" tool"},"finish_reason":null}]}` + "\n\n"

// One event per read, as a paced stream arrives; the arena is kept by the pool.
func BenchmarkRecordEvent(b *testing.B) {
	const perAnswer = 128
	now := int64(0)
	body := &loop{piece: []byte(recordedEvent)}
	b.ReportAllocs()
	b.SetBytes(int64(len(recordedEvent)))
	for n := 0; n < b.N; n += perAnswer {
		rec := newRecording(frameSSE)
		body.left = perAnswer
		_, _ = rec.readAll(body, func() int64 { now++; return now })
		rec.release()
	}
}

// Recording and decoding together.
func BenchmarkRecordAndDecodeEvent(b *testing.B) {
	const perAnswer = 128
	var stream string
	for i := range perAnswer {
		stream += strings.Replace(recordedEvent, " tool", fmt.Sprintf(" word%d", i*i), 1)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(recordedEvent)))
	for n := 0; n < b.N; n += perAnswer {
		if r, _ := decodeStream(OpenAI, stream); r.ContentChunks != perAnswer {
			b.Fatal(r.ContentChunks)
		}
	}
}

// Recording events allocates nothing once the arena has grown.
func TestRecordingDoesNotAllocatePerEvent(t *testing.T) {
	rec := newRecording(frameSSE)
	defer rec.release()
	stream := bytes.NewReader(bytes.Repeat([]byte(recordedEvent), 1000))
	since := func() int64 { return 1 }
	again := func() {
		rec.reset(frameSSE)
		if _, err := stream.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := rec.readAll(stream, since); len(rec.log.events) != 1000 {
			t.Fatal(err, len(rec.log.events))
		}
	}
	if allocs := testing.AllocsPerRun(10, again); allocs > 0 {
		t.Errorf("%v allocations for 1,000 events, want 0", allocs)
	}
}
