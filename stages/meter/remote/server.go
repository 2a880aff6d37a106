package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Opener opens what there is to read. An error is the caller's when it is
// [ErrRequest], such as a GPU that is not there.
type Opener func(ctx context.Context, gpus []string) ([]source.Source, []trace.Missing, error)

// ErrRequest marks an error of who asked.
var ErrRequest = errors.New("wrong request")

// ServerOptions say how to serve. Open, Record and Describe are needed.
type ServerOptions struct {
	Version string // of the meter, for headers of traces
	Token   string // that every request must carry; "" = none, for loopback only

	Open Opener
	// Record is record.Record.
	Record func(ctx context.Context, w io.Writer, sources []source.Source, o record.Options) error
	// Describe makes the document that tells what can be read.
	Describe func(sources []source.Source, missing []trace.Missing) (any, error)

	AtOnce  int           // recordings at a time; 0 = 4
	Longest time.Duration // of a recording; 0 = 24 h
	// Patience is how long the sources may take to open, and a client to take what
	// is written; 0 = 20 s.
	Patience time.Duration
	Done     <-chan struct{}  // closed: recordings end as asked, nothing new begins
	Now      func() time.Time // wall clock; nil = time.Now
}

func (o *ServerOptions) defaults() {
	if o.AtOnce == 0 {
		o.AtOnce = 4
	}
	if o.Longest == 0 {
		o.Longest = 24 * time.Hour
	}
	if o.Patience == 0 {
		o.Patience = 20 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// server answers requests.
type server struct {
	o     ServerOptions
	slots chan struct{} // what is being recorded or described

	mu    sync.Mutex
	stops map[string]func() // by id of a recording
}

// Handler answers the four kinds of requests.
func Handler(o ServerOptions) http.Handler {
	o.defaults()
	s := &server{o: o, slots: make(chan struct{}, o.AtOnce), stops: map[string]func(){}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+clockPath, s.clock)
	mux.HandleFunc("GET "+meterPath, s.describe)
	mux.HandleFunc("POST "+recordingsPath, s.record)
	mux.HandleFunc("POST "+recordingsPath+"/{id}"+stopSuffix, s.stop)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, http.StatusNotFound, "there is no such page") })
	return guard(o.Token, mux)
}

// clock is answered at once: what it takes is how far off the clocks may be.
func (s *server) clock(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, clock{s.o.Now().UnixNano()})
}

func (s *server) describe(w http.ResponseWriter, r *http.Request) {
	done, ok := s.slot(w)
	if !ok {
		return
	}
	sources, missing, err := s.open(r.Context(), nil, done)
	if err != nil {
		fails(w, err)
		return
	}
	defer done()
	defer closeAll(sources)
	doc, err := s.o.Describe(sources, missing)
	if err != nil {
		fails(w, err)
		return
	}
	answer(w, http.StatusOK, doc)
}

// slot takes one of the places for work, or refuses.
func (s *server) slot(w http.ResponseWriter) (done func(), ok bool) {
	if isClosed(s.o.Done) {
		refuse(w, http.StatusServiceUnavailable, "the meter is being stopped")
		return nil, false
	}
	select {
	case s.slots <- struct{}{}:
		return sync.OnceFunc(func() { <-s.slots }), true
	default:
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d recordings run already, and no more are made at a time", s.o.AtOnce))
		return nil, false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// open opens the sources, and gives up on a driver that hangs: its call is left
// behind, and keeps its slot until it returns. Without an error the slot is the
// caller's to give back.
func (s *server) open(ctx context.Context, gpus []string, done func()) ([]source.Source, []trace.Missing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	type opened struct {
		sources []source.Source
		missing []trace.Missing
		err     error
	}
	c := make(chan opened)
	go func() {
		sources, missing, err := s.o.Open(ctx, gpus)
		select {
		case c <- opened{sources, missing, err}:
		case <-ctx.Done():
			closeAll(sources)
			done()
		}
	}()
	select {
	case got := <-c:
		if got.err != nil {
			closeAll(got.sources)
			done()
		}
		return got.sources, got.missing, got.err
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("what is to be read did not open within %s", s.o.Patience)
	}
}

func closeAll(sources []source.Source) {
	for _, s := range sources {
		_ = s.Close() // it was only read
	}
}

// record streams a recording until it is stopped or the client has gone.
func (s *server) record(w http.ResponseWriter, r *http.Request) {
	want, ok := readRequest(w, r)
	if !ok {
		return
	}
	done, ok := s.slot(w)
	if !ok {
		return
	}
	rc := http.NewResponseController(w)
	// The time for reading a request would end a long answer.
	_ = rc.SetReadDeadline(time.Time{})
	sources, missing, err := s.open(r.Context(), want.GPUs, done)
	if err != nil {
		fails(w, err)
		return
	}
	defer done()
	defer closeAll(sources)
	id, stop, over := s.begin()
	defer over()
	h := w.Header()
	h.Set(idHeader, id)
	h.Set("Content-Type", traceType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	to := &flusher{w, rc, s.o.Patience}
	if err := to.flush(); err != nil {
		return
	}
	err = s.o.Record(r.Context(), to, sources, record.Options{Meter: s.o.Version, Hz: want.Hz, For: s.o.Longest, Stop: stop, Extra: missing})
	if err != nil { // the client shall see that the trace was cut
		panic(http.ErrAbortHandler)
	}
}

// begin makes an id for a recording, and a channel that is closed when it is to end.
func (s *server) begin() (id string, stop <-chan struct{}, over func()) {
	var b [idLength / 2]byte
	_, _ = rand.Read(b[:]) // it does not fail
	id = hex.EncodeToString(b[:])
	c := make(chan struct{})
	end := sync.OnceFunc(func() { close(c) })
	s.mu.Lock()
	s.stops[id] = end
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		select {
		case <-s.o.Done:
			end()
		case <-gone:
		}
	}()
	return id, c, func() {
		close(gone)
		s.mu.Lock()
		delete(s.stops, id)
		s.mu.Unlock()
	}
}

func (s *server) stop(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	end := s.stops[r.PathValue("id")]
	s.mu.Unlock()
	if end == nil {
		refuse(w, http.StatusNotFound, "there is no such recording, or it has ended")
		return
	}
	end()
	w.WriteHeader(http.StatusNoContent)
}

// readRequest reads what is asked for, strictly.
func readRequest(w http.ResponseWriter, r *http.Request) (want request, ok bool) {
	if r.Header.Get("Content-Type") != jsonType {
		refuse(w, http.StatusUnsupportedMediaType, "a request is "+jsonType)
		return want, false
	}
	err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, maxBody), &want, json.RejectUnknownMembers(true))
	if err != nil {
		refuse(w, http.StatusBadRequest, `the request is not JSON such as {"gpus":["GPU-..."],"hz":20}`)
		return want, false
	}
	if want.Hz == 0 {
		want.Hz = usualHz
	}
	if msg := want.check(); msg != "" {
		refuse(w, http.StatusBadRequest, msg)
		return want, false
	}
	return want, true
}

func (r *request) check() string {
	if !(r.Hz >= 1 && r.Hz <= maxHz) {
		return fmt.Sprintf("hz is %v, want 1 to %d", r.Hz, maxHz)
	}
	if len(r.GPUs) > maxGPUs {
		return fmt.Sprintf("%d GPUs, at most %d", len(r.GPUs), maxGPUs)
	}
	for _, g := range r.GPUs {
		if !hardware.Text(g) {
			return "the name of a GPU is empty, or no text"
		}
	}
	return ""
}

// flusher hands each write on at once. A client that takes nothing ends it.
type flusher struct {
	w        io.Writer
	rc       *http.ResponseController
	patience time.Duration
}

func (f *flusher) Write(p []byte) (int, error) {
	_ = f.rc.SetWriteDeadline(time.Now().Add(f.patience)) // not every writer has one
	n, err := f.w.Write(p)
	if err == nil {
		err = f.flush()
	}
	return n, err
}

func (f *flusher) flush() error {
	if err := f.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
