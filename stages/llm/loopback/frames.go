package loopback

import (
	"fmt"
	"strings"
)

// stampLen is how many digits a wall clock in nanoseconds has until 2286.
const stampLen = 19

// frames are the bytes of a stream, made once: only the clock in them changes,
// so that writing an event costs the server as little as can be.
type frames struct {
	first, middle, last, only frame
	events                    int
}

// frame is the bytes of one write.
type frame struct {
	b  []byte
	at int // where the clock stands
}

const (
	chunkHead = `data: {"id":"chatcmpl-loopback","object":"chat.completion.chunk","created":0,"model":"` + Model + `","choices":`
	beforeAt  = chunkHead + `[{"index":0,"delta":{"content":"`
	afterAt   = `"},"finish_reason":null}]}` + "\n\n"
	finish    = chunkHead + `[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage     = chunkHead + `[],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n"
	end       = "data: [DONE]\n\n"
)

// newFrames builds the bytes. The answer's head goes out with the first event
// and the finish reason, usage and [DONE] with the last one, as one write each.
// Without chunks (HTTP/1.0 has none) the length is said before.
func newFrames(s Schedule, chunked bool) *frames {
	text := strings.Repeat("0", stampLen) + strings.Repeat(".", s.width()-stampLen)
	event := beforeAt + text + afterAt
	rest := finish + fmt.Sprintf(usage, s.Events, s.Events+1) + end
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
	tail := chunk(rest) + "0\r\n\r\n"
	if chunked {
		head += "Transfer-Encoding: chunked\r\n\r\n"
		event = chunk(event)
	} else {
		head += fmt.Sprintf("Connection: keep-alive\r\nContent-Length: %d\r\n\r\n", s.Events*len(event)+len(rest))
		tail = rest
	}
	at := strings.Index(event, beforeAt) + len(beforeAt)
	return &frames{
		first:  frame{[]byte(head + event), len(head) + at},
		middle: frame{[]byte(event), at},
		last:   frame{[]byte(event + tail), at},
		only:   frame{[]byte(head + event + tail), len(head) + at},
		events: s.Events,
	}
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// event returns the bytes of event i with that wall clock in them. They are
// good until the next call.
func (f *frames) event(i int, unixNS int64) []byte {
	var w *frame
	switch {
	case f.events == 1:
		w = &f.only
	case i == 0:
		w = &f.first
	case i == f.events-1:
		w = &f.last
	default:
		w = &f.middle
	}
	for k := stampLen - 1; k >= 0; k-- {
		w.b[w.at+k] = byte('0' + unixNS%10)
		unixNS /= 10
	}
	return w.b
}
