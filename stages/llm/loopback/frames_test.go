package loopback

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFrames reads the bytes of whole streams back with net/http.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Events: rapid.IntRange(1, 5).Draw(t, "events"), Bytes: rapid.SampledFrom([]int{0, 19, 20, 300}).Draw(t, "bytes")}
		chunked := rapid.Bool().Draw(t, "chunked")
		f := newFrames(s, chunked)
		var wire bytes.Buffer
		for i := range s.Events {
			wire.Write(f.event(i, int64(1e18)+int64(i)))
		}
		in := bufio.NewReader(&wire)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" || in.Buffered() != 0 {
			t.Fatalf("%v, %v, %d bytes left", err, resp.Header, in.Buffered())
		}
		if (resp.ContentLength < 0) != chunked {
			t.Errorf("content length %d, chunked %t", resp.ContentLength, chunked)
		}
		checkBody(t, string(body), s)
	})
}

func checkBody(t *rapid.T, body string, s Schedule) {
	events := strings.Split(body, "\n\n")
	if len(events) != s.Events+4 || events[s.Events+2] != "data: [DONE]" || events[s.Events+3] != "" {
		t.Fatalf("%d events: %q", len(events), body)
	}
	for i, e := range events[:s.Events+2] {
		var c struct {
			Model   string `json:"model"`
			Choices []struct {
				Delta        struct{ Content string }
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				Completion int `json:"completion_tokens"`
			}
		}
		payload, ok := strings.CutPrefix(e, "data: ")
		if err := json.Unmarshal([]byte(payload), &c); err != nil || !ok || c.Model != Model {
			t.Fatalf("event %q: %v", e, err)
		}
		switch {
		case i < s.Events:
			want := fmt.Sprintf("%019d", int64(1e18)+int64(i)) + strings.Repeat(".", max(s.Bytes-19, 0))
			if got := c.Choices[0].Delta.Content; got != want {
				t.Errorf("event %d says %q, want %q", i, got, want)
			}
		case i == s.Events && c.Choices[0].FinishReason != "stop", i == s.Events+1 && c.Usage.Completion != s.Events:
			t.Errorf("event %d: %q", i, e)
		}
	}
}

func TestFrameClock(t *testing.T) {
	f := newFrames(Schedule{Events: 3}, true)
	for _, ns := range []int64{0, 946684800000000000, 1<<63 - 1} {
		for i := range 3 {
			if b := string(f.event(i, ns)); !strings.Contains(b, fmt.Sprintf(`"content":"%019d"`, ns)) {
				t.Errorf("event %d with clock %d: %q", i, ns, b)
			}
		}
	}
}
