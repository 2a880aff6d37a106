package tinyengine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/semaphore"
)

// BuildInfo names the revision of the engine's arithmetic. It changes when the
// same request could give other text.
const BuildInfo = "cupel-tinyengine 1"

const (
	maxBody = 8 << 20
	owner   = "cupel-tinyengine"

	// created is the "creation time" of the models: fixed, so that two servers
	// describe the same model with the same bytes.
	created = 1795910400
)

// Server answers OpenAI style requests for its models on a loopback port. At
// most GOMAXPROCS requests are computed at a time, each in one thread; the
// others wait in order of arrival.
type Server struct {
	models []*Model
	url    string
	http   *http.Server
	stop   context.CancelFunc
	done   chan error
	slots  int64
	queue  *semaphore.Weighted
	serial atomic.Uint64
	now    func() time.Time
	seed   func() uint64
}

// Start serves models at addr, which must be a loopback address such as
// "127.0.0.1:0", until ctx is done or Close is called.
func Start(ctx context.Context, addr string, models ...*Model) (*Server, error) {
	if err := checkServe(addr, models); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start tiny engine: %w", err)
	}
	s := newServer(models)
	ctx, s.stop = context.WithCancel(ctx)
	s.url = "http://" + listener.Addr().String()
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { s.http.Close() })
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

func checkServe(addr string, models []*Model) error {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil || !ap.Addr().IsLoopback() {
		return fmt.Errorf("start tiny engine: address %q is not a loopback address with a port, such as 127.0.0.1:0", addr)
	}
	if len(models) == 0 {
		return errors.New("start tiny engine: no models to serve")
	}
	names := map[string]bool{}
	for _, m := range models {
		if names[m.name] {
			return fmt.Errorf("start tiny engine: two models are called %q", m.name)
		}
		names[m.name] = true
	}
	return nil
}

func newServer(models []*Model) *Server {
	slots := int64(runtime.GOMAXPROCS(0))
	sorted := slices.Clone(models)
	slices.SortFunc(sorted, func(a, b *Model) int { return cmp.Compare(a.name, b.name) })
	return &Server{
		models: sorted, done: make(chan error, 1), slots: slots,
		queue: semaphore.NewWeighted(slots), now: time.Now, seed: randomSeed,
	}
}

// URL is the base address, such as http://127.0.0.1:40123.
func (s *Server) URL() string { return s.url }

// Close stops listening, ends the requests under way and returns when none
// computes any more.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.done <- http.ErrServerClosed // so that a second Close returns as well
	// Holding every slot means that nothing computes any more.
	if s.queue.Acquire(context.Background(), s.slots) == nil {
		s.queue.Release(s.slots)
	}
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("GET /props", s.props)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		e := badRequest("", "no %s %s here: this engine has /health, /props, /v1/models and POST /v1/chat/completions", r.Method, r.URL.Path)
		e.status = http.StatusNotFound
		replyError(w, e)
	})
	return mux
}

func (s *Server) model(name string) (*Model, *apiError) {
	for _, m := range s.models {
		if m.name == name {
			return m, nil
		}
	}
	e := badRequest("model", "model %q not found: GET /v1/models lists the ones served", name).code("model_not_found")
	e.status = http.StatusNotFound
	return nil, e
}

// readBody reads at most maxBody bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		e := badRequest("", "the body is larger than %d bytes", tooLarge.Limit)
		e.status = http.StatusRequestEntityTooLarge
		return nil, e
	case err != nil:
		return nil, badRequest("", "reading the body: %v", err)
	}
	return body, nil
}

func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"encoding the answer","type":"server_error","param":null,"code":null}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) // a client that has gone is seen through its context
}

func replyError(w http.ResponseWriter, e *apiError) {
	reply(w, e.status, map[string]*apiError{"error": e})
}
