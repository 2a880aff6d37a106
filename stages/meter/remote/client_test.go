package remote

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// paper takes what is written, and lets wait for it.
type paper struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{}
}

func newPaper() *paper { return &paper{news: make(chan struct{}, 1000)} }

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news <- struct{}{}
	return p.b.Write(b)
}

func (p *paper) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// until waits for a text to be written.
func (p *paper) until(t *testing.T, want string) {
	t.Helper()
	for !strings.Contains(p.text(), want) {
		select {
		case <-p.news:
		case <-t.Context().Done():
			t.Fatalf("never came: %s", want)
		}
	}
}

// From the first exchange of clocks to the last line.
func TestRecord(t *testing.T) {
	sc := newScript()
	o := sc.options()
	ahead := 3 * time.Second
	o.Now = func() time.Time { return time.Now().Add(ahead) }
	o.Token = "a token of some length"
	s := serve(t, o)
	ticks := make(chan time.Time)
	c := &Client{URL: s.URL, Token: o.Token, ticks: ticks}
	stop, out, result := make(chan struct{}), newPaper(), make(chan error, 1)
	go func() { result <- c.Record(t.Context(), Want{GPUs: []string{"GPU-1"}, Hz: 50}, stop, out) }()
	if o := <-sc.asked; o.Hz != 50 {
		t.Errorf("%+v", o)
	}
	sc.say <- header
	sc.say <- `{"t":1000,"c":0,"v":5}` + "\n" + `{"t":2000,"c":0`
	out.until(t, `"t":1000,`)
	ticks <- time.Time{}
	out.until(t, `{"t":1000,"offset":`)
	sc.say <- `,"v":6}` + "\n"
	close(stop)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(strings.NewReader(out.text()))
	if err != nil {
		t.Fatal(err)
	}
	if tr.End == nil || tr.End.Why != "asked" || len(tr.Samples[0]) != 2 {
		t.Errorf("%+v", tr)
	}
	if len(tr.Offsets) != 2*exchanges+1 || tr.Offsets[0].T != 0 || tr.Offsets[exchanges].T != 1000 || tr.Offsets[exchanges+1].T != 9000 {
		t.Errorf("%+v", tr.Offsets)
	}
	for _, o := range tr.Offsets {
		low, high := o.V.There-o.V.Received, o.V.There-o.V.Sent
		if int64(ahead) < low || int64(ahead) > high {
			t.Errorf("between %d and %d ns ahead, and it is 3 s", low, high)
		}
	}
	<-sc.source.closed
}

// A machine on which nothing can be read says so in one line, and that is no error.
func TestNothingToRead(t *testing.T) {
	none := strings.Replace(header, `"devices"`, `"none":{"reason":"no-gpu"},"devices"`, 1)
	s := playing(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, none) })
	out := newPaper()
	if err := (&Client{URL: s.URL}).Record(t.Context(), Want{}, nil, out); err != nil || out.text() != none {
		t.Errorf("%v %s", err, out.text())
	}
}

// playing answers the clock as it should be, and recordings by a function.
func playing(t *testing.T, recording http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/clock", func(w http.ResponseWriter, r *http.Request) { answer(w, 200, clock{time.Now().UnixNano()}) })
	mux.HandleFunc("POST /v1/recordings", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(idHeader, strings.Repeat("0", idLength))
		w.Header().Set("Content-Type", traceType)
		recording(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Whatever the other side does, there is an error, and what came before is a trace.
func TestHostile(t *testing.T) {
	flush := func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text) }
	}
	sample := `{"t":1,"c":0,"v":1}` + "\n"
	for what, c := range map[string]struct {
		play http.HandlerFunc
		want string
		kept bool // the header and one sample
	}{
		"nothing":           {say(""), "after 0 lines: the other side ended it without a last line", false},
		"garbage":           {say("hello\n"), "after 1 lines: the first line is no header of cupel/energy-trace/v1", false},
		"another schema":    {say(`{"schema":"x"}` + "\n"), "after 1 lines: the first line is no header", false},
		"cut in a line":     {say(header + sample + `{"t":2,"c`), "after 2 lines: the other side ended it without a last line", true},
		"no trace":          {say(header + sample + "hello\n"), "after 3 lines: a line that is none of a trace", true},
		"no such channel":   {say(header + sample + `{"t":2,"c":1,"v":1}` + "\n"), "after 3 lines: a reading of a channel that is not there", true},
		"negative time":     {say(header + sample + `{"t":-2,"c":0,"v":1}` + "\n"), "after 3 lines: a line of a time before the beginning", true},
		"says nothing":      {say(header + sample + "{}\n"), "after 3 lines: a line that says nothing", true},
		"clocks not ours":   {say(header + sample + `{"t":2,"offset":{"sent":1,"there":2,"received":3}}` + "\n"), "after 3 lines: an exchange of clocks that is not ours", true},
		"two names":         {say(header + sample + `{"t":2,"t":3,"c":0,"v":1}` + "\n"), "after 3 lines: a line that is none of a trace", true},
		"a line after none": {say(strings.Replace(header, `"devices"`, `"none":{"reason":"no-gpu"},"devices"`, 1) + sample), "a line after it has said that there is nothing", false},
		"an endless line": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, header+sample)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, "after 2 lines: a line of more than 262144 bytes", true},
		"silence": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, header+sample)
			flush(w)
			<-r.Context().Done()
		}, "after 2 lines: nothing came any more for 100ms", true},
		"abort": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, header+sample)
			flush(w)
			panic(http.ErrAbortHandler)
		}, "after 2 lines: the other side ended it without a last line", true},
		"no id": {func(w http.ResponseWriter, r *http.Request) { w.Header().Del(idHeader); say(header)(w, r) }, "the answer is not that of a cupel-meter", false},
		"a path": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(idHeader, "../../../../../../../../v1/x/")
			say(header)(w, r)
		}, "the answer is not that of a cupel-meter", false},
		"a web page": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			say(header)(w, r)
		}, "the answer is not that of a cupel-meter", false},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/clock", http.StatusTemporaryRedirect)
		}, "307 Temporary Redirect, and redirects are not followed", false},
		"refusal":    {func(w http.ResponseWriter, r *http.Request) { refuse(w, 503, "4 recordings\nrun \x1b[31malready") }, "503 Service Unavailable: 4 recordings run [31malready", false},
		"its token":  {func(w http.ResponseWriter, r *http.Request) { refuse(w, 401, "not "+r.Header.Get("Authorization")) }, "401 Unauthorized: not Bearer [token]", false},
		"long words": {func(w http.ResponseWriter, r *http.Request) { refuse(w, 500, strings.Repeat("x", 1<<20)) }, "500 Internal Server Error", false},
	} {
		s := playing(t, c.play)
		out := newPaper()
		cl := &Client{URL: s.URL, Token: "a token of some length"}
		if what == "silence" {
			cl.Patience = 100 * time.Millisecond
		}
		err := cl.Record(t.Context(), Want{}, nil, out)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), cl.Token) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
		if c.kept {
			tr, err := trace.Read(strings.NewReader(out.text()))
			if err != nil || tr.End != nil || len(tr.Samples[0]) != 1 || len(tr.Offsets) != exchanges {
				t.Errorf("%s: kept %v %s", what, err, out.text())
			}
		}
		s.CloseClientConnections()
	}
}

// A redirect would carry the token to another machine.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("asked: %v", r.Header) }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	}))
	defer s.Close()
	c := &Client{URL: s.URL, Token: "a token of some length"}
	if _, err := c.Meter(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "302 Found, and redirects are not followed") {
		t.Error(err)
	}
	if err := c.Record(t.Context(), Want{}, nil, io.Discard); err == nil || !strings.HasSuffix(err.Error(), "302 Found, and redirects are not followed") {
		t.Error(err)
	}
}

// What comes after the last line is not waited for.
func TestAfterTheEnd(t *testing.T) {
	s := playing(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, header+`{"t":1,"end":{"why":"duration"}}`+"\nand more\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	out := newPaper()
	if err := (&Client{URL: s.URL}).Record(t.Context(), Want{}, nil, out); err != nil {
		t.Fatal(err)
	}
	if tr, err := trace.Read(strings.NewReader(out.text())); err != nil || tr.End == nil || len(tr.Offsets) != 2*exchanges {
		t.Errorf("%v %s", err, out.text())
	}
}

// A server that refuses to end a recording, or only says that it does.
func TestStopFails(t *testing.T) {
	for what, c := range map[string]struct {
		status   int
		patience time.Duration
		want     string
	}{
		"refused": {500, 0, "after 1 lines: it could not be ended: "},
		"ignored": {204, 50 * time.Millisecond, "of being asked to"},
		"unknown": {404, 50 * time.Millisecond, "of being asked to"},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/clock", func(w http.ResponseWriter, r *http.Request) { answer(w, 200, clock{time.Now().UnixNano()}) })
		mux.HandleFunc("POST /v1/recordings", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(idHeader, strings.Repeat("0", idLength))
			w.Header().Set("Content-Type", traceType)
			_, _ = io.WriteString(w, header)
			for r.Context().Err() == nil {
				if what != "refused" {
					_, _ = io.WriteString(w, `{"t":1,"sync":1}`+"\n")
				}
				_ = http.NewResponseController(w).Flush()
				if what == "refused" {
					<-r.Context().Done()
				}
			}
		})
		mux.HandleFunc("POST /v1/recordings/{id}/stop", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(c.status) })
		s := httptest.NewServer(mux)
		stop := make(chan struct{})
		close(stop)
		err := (&Client{URL: s.URL, Patience: c.patience}).Record(t.Context(), Want{}, stop, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
		s.CloseClientConnections()
		s.Close()
	}
}

func TestContext(t *testing.T) {
	sc := newScript()
	s := serve(t, sc.options())
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	out := newPaper()
	go func() { result <- (&Client{URL: s.URL}).Record(ctx, Want{}, nil, out) }()
	<-sc.asked
	sc.say <- header
	out.until(t, "schema")
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-sc.ended; err == nil {
		t.Error("the recording goes on without its client")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriterFails(t *testing.T) {
	s := playing(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, header) })
	if err := (&Client{URL: s.URL}).Record(t.Context(), Want{}, nil, full{}); err == nil || err.Error() != "writing the trace: no space left" {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"gpu-host:9151":              "want http://host:port",
		"ftp://gpu-host":             "want http://host:port",
		"http://":                    "want http://host:port",
		"http://h/?token=x":          "want http://host:port",
		"http://user:secret@h":       "has a user name or password in it",
		"http://user:secret@h:%zz/":  "is no URL",
		"http://127.0.0.1:1/no/port": "/v1/clock: dial tcp",
	} {
		err := (&Client{URL: url, Token: "0123456789abcdef"}).Record(t.Context(), Want{}, nil, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

func TestBadClock(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"words": {"noon", "the answer is no clock"}, "zero": {`{"unix_ns":0}`, "the answer is no clock"}, "large": {`{"unix_ns":1e40}`, "the answer is no clock"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, c.text) }))
		if err := (&Client{URL: s.URL}).Record(t.Context(), Want{}, nil, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		s.Close()
	}
	// A clock of this machine that is set back makes no exchange.
	s := playing(t, nil)
	times := []time.Time{time.Unix(1_790_000_002, 0), time.Unix(1_790_000_001, 0)}
	i := 0
	now := func() time.Time { i++; return times[(i-1)%2] }
	if err := (&Client{URL: s.URL, Now: now}).Record(t.Context(), Want{}, nil, io.Discard); err == nil || !strings.Contains(err.Error(), "set back") {
		t.Error(err)
	}
}

func TestMeter(t *testing.T) {
	s := serve(t, newScript().options())
	b, err := (&Client{URL: s.URL + "/"}).Meter(t.Context())
	if err != nil || !strings.Contains(string(b), `"schema":"x"`) {
		t.Errorf("%v %s", err, b)
	}
	big := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range maxDocument/(1<<16) + 1 {
			_, _ = w.Write(make([]byte, 1<<16))
		}
	}))
	defer big.Close()
	if _, err := (&Client{URL: big.URL}).Meter(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 4194304 bytes") {
		t.Error(err)
	}
}

// certificate makes a pair of files for 127.0.0.1, and the pool that trusts it.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

// The whole way over TLS, until the server is stopped.
func TestServeTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	sc := newScript()
	o := sc.options()
	o.Token = "a token of some length"
	l, err := Listen{Address: "127.0.0.1:0", Token: o.Token, Cert: cert, Key: key}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, Handler(o), log.New(io.Discard, "", 0)) }()
	c := &Client{URL: "https://" + l.Addr().String(), Token: o.Token, RootCAs: pool}
	if _, err := (&Client{URL: c.URL, Token: o.Token}).Meter(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	out, result := newPaper(), make(chan error, 1)
	go func() { result <- c.Record(t.Context(), Want{}, nil, out) }()
	<-sc.asked
	sc.say <- header
	out.until(t, "schema")
	close(sc.done)
	cancel()
	if err := <-result; err != nil || !strings.Contains(out.text(), `"end"`) {
		t.Errorf("the recording has no end: %v\n%s", err, out.text())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// stubbed answers clocks, without a network.
type stubbed struct{}

func (stubbed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"unix_ns":1790000000000000000}`))}, nil
}

// Whatever comes, what is written is whole lines, and where a trace came, it is one.
func FuzzStream(f *testing.F) {
	f.Add([]byte(header + `{"t":1,"c":0,"v":1}` + "\n" + `{"t":9,"end":{"why":"asked"}}` + "\n"))
	f.Add([]byte(header + `{"t":1,"state":{"device":"GPU-1"}}` + "\n" + `{"t":2,"c":0,"e":"x"}` + "\n{}"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := (&Client{URL: "http://x", ticks: make(chan time.Time)}).session()
		if err != nil {
			t.Fatal(err)
		}
		s.http.Transport = stubbed{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out bytes.Buffer
		before, err := s.exchangeSome(ctx)
		if err != nil {
			t.Fatal(err)
		}
		g := &fetch{session: s, to: &out, offsets: before, lines: make(chan received), clocks: make(chan trace.Offset), stopped: make(chan error, 1)}
		go g.read(ctx, bytes.NewReader(in))
		err = g.run(ctx, nil)
		if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			t.Fatalf("half a line: %q", out.Bytes())
		}
		was, wasErr := trace.Read(bytes.NewReader(in))
		if wasErr != nil || len(was.Offsets) > 0 || was.None != nil {
			return
		}
		is, isErr := trace.Read(&out)
		if isErr != nil || (was.End != nil) != (err == nil) || len(is.States) != len(was.States) {
			t.Fatalf("%v, %v from %q", err, isErr, in)
		}
	})
}
