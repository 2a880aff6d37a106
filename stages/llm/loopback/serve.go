package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds on what clients may ask of the server.
const (
	maxConns   = 8192
	maxRequest = 4 << 20          // bytes of a request, head and body
	idle       = 30 * time.Second // without a request, or without a reader at full speed
	sendBuffer = 256 << 10        // a whole stream of the usual schedules
)

var errSlowReader = errors.New("the reader does not keep up")

// Serve answers on l until ctx ends, then closes l and every connection, and
// returns nil when all is over. Paths: POST /v1/chat/completions streams as s
// says, whatever is asked; GET /v1/models lists [Model]; GET /stats tells the
// server's own timing ([Stats]), and POST /stats also starts it anew.
func Serve(ctx context.Context, l net.Listener, s Schedule) error { return serve(ctx, l, s, nap) }

func serve(ctx context.Context, l net.Listener, s Schedule, sleep func(time.Duration)) error {
	if err := s.Check(); err != nil {
		_ = l.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	srv := &server{schedule: s, open: map[net.Conn]struct{}{},
		chunked: newFrames(s, true), plain: newFrames(s, false)}
	srv.pacer = newPacer(s, &srv.tally, sleep)
	var all sync.WaitGroup
	all.Go(func() { srv.pacer.run(ctx) })
	all.Go(func() {
		<-ctx.Done()
		_ = l.Close()
		srv.closeAll()
	})
	err := srv.accept(ctx, l, &all)
	cancel()
	all.Wait()
	return err
}

// server is what the connections share.
type server struct {
	schedule       Schedule
	chunked, plain *frames // the pacer's
	pacer          *pacer
	tally          tally

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

func (s *server) accept(ctx context.Context, l net.Listener, all *sync.WaitGroup) error {
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return nil
		case err != nil:
			return fmt.Errorf("loopback: accept: %w", err)
		case !s.admit(c):
			_ = c.Close()
			continue
		}
		all.Go(func() {
			defer s.leave(c)
			s.connection(ctx, c)
		})
	}
}

func (s *server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.open) >= maxConns {
		return false
	}
	s.open[c] = struct{}{}
	return true
}

func (s *server) leave(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

func (s *server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.open {
		_ = c.Close()
	}
}

// connection answers one request after the other.
func (s *server) connection(ctx context.Context, c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetWriteBuffer(sendBuffer) // smaller is still right, only less patient
	}
	a := &answerer{server: s, conn: c, write: atOnce(c), own: map[bool]*frames{}}
	in := &io.LimitedReader{R: c}
	buf := bufio.NewReaderSize(in, 4<<10)
	for ctx.Err() == nil {
		in.N = maxRequest
		_ = c.SetReadDeadline(time.Now().Add(idle))
		req, err := http.ReadRequest(buf)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if err := a.answer(ctx, req); err != nil || req.Close {
			return
		}
	}
}

// whole is a write that may wait.
func whole(c net.Conn) func([]byte) error {
	return func(b []byte) error {
		_, err := c.Write(b)
		return err
	}
}
