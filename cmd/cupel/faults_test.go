package main

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// kind is the fault that a request meets, "" for none.
func (s *scripted) kind(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range []string{id, "", "*"} {
		if k, ok := s.faults[at]; ok {
			return k
		}
	}
	return ""
}

// words is what the endpoint says when it refuses.
const words = "no CUDA device is left"

var statuses = map[string]int{"400": 400, "401": 401, "404": 404, "429": 429, "500": 500, "503": 503}

// fault makes the faults that llmtest knows.
func (s *scripted) fault(_ int, prompt string) llmtest.Fault {
	id := s.identify(prompt).id
	s.mu.Lock()
	wait := s.held[id]
	s.mu.Unlock()
	f := llmtest.Fault{Message: words}
	if wait != nil {
		f.Wait = wait
	}
	if id == "load" {
		f.Wait = work()
	}
	switch k := s.kind(id); k {
	case "cut":
		f.Cut, f.After = true, 1
	case "in-band":
		f.InBand, f.After = true, 1
	case "empty":
		f.Empty = true
	case "other-model":
		f.Model = "huge"
	case "hang":
		f.Hang = true
	case "length":
		f.Finish = "length"
	case "reasoning":
		f.Empty, f.Reasoning = true, "hm"
	default:
		f.Status = statuses[k]
	}
	return f
}

// raw answers outside the protocol; false = it has not.
func (s *scripted) raw(w http.ResponseWriter, r *http.Request, kind string) bool {
	send := func(status int, contentType, body string) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
	switch kind {
	case "html":
		return send(200, "text/html", "<html><h1>Welcome to nginx</h1></html>")
	case "no-stream":
		return send(200, "application/json", `{"id":"1","object":"chat.completion","model":"`+s.name+`","choices":[{"index":0,"message":{"role":"assistant","content":"3"},"finish_reason":"stop"}]}`)
	case "bad-json":
		return send(200, "text/event-stream", "data: {\"model\":\n\n")
	case "hang-all":
		<-r.Context().Done()
		return true
	}
	if code := statuses[kind]; code != 0 && !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return send(code, "application/json", `{"error":{"message":"`+words+`"}}`)
	}
	return false
}

// work is the time that an engine computes: one that took none would make the
// client the bottleneck of every cell, and the cell void.
func work() <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(done) })
	return done
}
