package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// answerer answers the requests of one connection.
type answerer struct {
	*server
	conn  net.Conn
	write func([]byte) error
	own   map[bool]*frames // at full speed each connection writes for itself
}

// answer writes one answer; an error ends the connection.
func (a *answerer) answer(ctx context.Context, req *http.Request) error {
	chunked := req.ProtoAtLeast(1, 1)
	switch req.Method + " " + req.URL.Path {
	case "POST /v1/chat/completions":
		if a.schedule.Gap == 0 {
			return a.fullSpeed(ctx, chunked)
		}
		return a.paced(ctx, chunked)
	case "GET /v1/models":
		return a.document(http.StatusOK, map[string]any{"object": "list",
			"data": []any{map[string]any{"id": Model, "object": "model", "owned_by": "cupel-loopback"}}})
	case "GET /stats":
		return a.document(http.StatusOK, a.tally.stats(a.schedule, false))
	case "POST /stats":
		return a.document(http.StatusOK, a.tally.stats(a.schedule, true))
	}
	return a.document(http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such page"}})
}

// document writes a small JSON answer.
func (a *answerer) document(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	return err
}

// paced leaves the stream to the pacer and waits for its end.
func (a *answerer) paced(ctx context.Context, chunked bool) error {
	s := &stream{frames: a.plain, write: a.write, ended: make(chan error, 1)}
	if chunked {
		s.frames = a.chunked
	}
	a.pacer.add(s)
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fullSpeed writes event after event, each in a write of its own, as fast as
// the reader takes them.
func (a *answerer) fullSpeed(ctx context.Context, chunked bool) error {
	read := time.Now()
	select {
	case <-time.After(a.schedule.First):
	case <-ctx.Done():
		return ctx.Err()
	}
	f := a.own[chunked]
	if f == nil {
		f = newFrames(a.schedule, chunked)
		a.own[chunked] = f
	}
	_ = a.conn.SetWriteDeadline(time.Now().Add(idle))
	a.tally.begin(int64(time.Since(read)))
	a.tally.fast(a.schedule.Events)
	for i := range a.schedule.Events {
		if _, err := a.conn.Write(f.event(i, time.Now().UnixNano())); err != nil {
			a.tally.fast(i - a.schedule.Events) // what was not written
			a.tally.broken()
			return err
		}
	}
	return nil
}
