package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// fake is a source that does nothing and tells when it is closed.
type fake struct{ closed chan struct{} }

func (f *fake) Describe() source.Description { return source.Description{} }
func (f *fake) Read(source.Put)              {}
func (f *fake) States() []trace.State        { return nil }
func (f *fake) Close() error                 { close(f.closed); return nil }

// script is a machine whose recordings are played: what is sent on say is written as
// it is, and when the recording is to end, an end is.
type script struct {
	say    chan string
	source *fake
	asked  chan record.Options
	gpus   []string
	ended  chan error // why a recording ended: nil, or the context's error
	done   chan struct{}
}

func newScript() *script {
	return &script{say: make(chan string), source: &fake{make(chan struct{})}, asked: make(chan record.Options, 1), ended: make(chan error, 1), done: make(chan struct{})}
}

func (s *script) open(_ context.Context, gpus []string) ([]source.Source, []trace.Missing, error) {
	s.gpus = gpus
	if len(gpus) > 0 && gpus[0] == "GPU-none" {
		return []source.Source{s.source}, nil, fmt.Errorf("--gpu GPU-none: there is no such GPU%w", wrong{})
	}
	return []source.Source{s.source}, []trace.Missing{{What: "x", Reason: "not-readable"}}, nil
}

// wrong is a marker without words.
type wrong struct{}

func (wrong) Error() string        { return "" }
func (wrong) Is(target error) bool { return target == ErrRequest }

const header = `{"schema":"cupel/energy-trace/v1","meter":"test","made":"sample","hz":20,"wall_ns":1790000000000000000,"clock":{"synchronised":true},"devices":[{"id":"GPU-1","kind":"gpu","index":0}],"channels":[{"device":"GPU-1","domain":"nvml.gpu","quantity":"energy","unit":"mJ","source":"x"}]}` + "\n"

func (s *script) record(ctx context.Context, w io.Writer, _ []source.Source, o record.Options) (err error) {
	s.asked <- o
	defer func() { s.ended <- err }()
	for {
		select {
		case text := <-s.say:
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		case <-o.Stop:
			_, err := io.WriteString(w, `{"t":9000,"end":{"why":"asked"}}`+"\n")
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *script) options() ServerOptions {
	return ServerOptions{
		Version: "test", Open: s.open, Record: s.record, Done: s.done, Patience: 30 * time.Second,
		Describe: func(sources []source.Source, missing []trace.Missing) (any, error) {
			return map[string]any{"schema": "x", "missing": missing}, nil
		},
	}
}

func serve(t *testing.T, o ServerOptions) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(Handler(o))
	t.Cleanup(s.Close)
	return s
}

// do sends a request and returns status and body.
func do(t *testing.T, method, url, kind, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if h := req.Header.Get("Host"); h != "" {
		req.Host = h
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestPages(t *testing.T) {
	o := newScript().options()
	o.Now = func() time.Time { return time.Unix(0, 1_790_000_000_000_000_123) }
	s := serve(t, o)
	for what, c := range map[string]struct {
		method, path, kind, body string
		status                   int
		want                     string
	}{
		"clock":          {"GET", "/v1/clock", "", "", 200, `{"unix_ns":1790000000000000123}`},
		"no page":        {"GET", "/", "", "", 404, "no such page"},
		"no recording":   {"POST", "/v1/recordings/0/stop", "", "", 404, "no such recording"},
		"form":           {"POST", "/v1/recordings", "application/x-www-form-urlencoded", "hz=1", 415, "a request is application/json"},
		"not JSON":       {"POST", "/v1/recordings", jsonType, "{", 400, "is not JSON"},
		"unknown member": {"POST", "/v1/recordings", jsonType, `{"hz":20,"for":"1s"}`, 400, "is not JSON"},
		"too often":      {"POST", "/v1/recordings", jsonType, `{"hz":1000}`, 400, "hz is 1000, want 1 to 200"},
		"too seldom":     {"POST", "/v1/recordings", jsonType, `{"hz":0.5}`, 400, "hz is 0.5"},
		"no name":        {"POST", "/v1/recordings", jsonType, `{"gpus":[""]}`, 400, "name of a GPU is empty"},
		"many names":     {"POST", "/v1/recordings", jsonType, `{"gpus":["a"` + strings.Repeat(`,"a"`, 64) + `]}`, 400, "65 GPUs, at most 64"},
		"long":           {"POST", "/v1/recordings", jsonType, `{"gpus":["` + strings.Repeat("x", maxBody) + `"]}`, 400, "is not JSON"},
	} {
		if status, body := do(t, c.method, s.URL+c.path, c.kind, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", what, status, body, c.status, c.want)
		}
	}
}

// Sources are closed after each look at them, also when they did not open well.
func TestOpen(t *testing.T) {
	sc := newScript()
	s := serve(t, sc.options())
	if status, body := do(t, "GET", s.URL+"/v1/meter", "", ""); status != 200 || !strings.Contains(body, `"missing":[{"what":"x","reason":"not-readable"}]`) {
		t.Errorf("%d %s", status, body)
	}
	<-sc.source.closed
	sc = newScript()
	s = serve(t, sc.options())
	if status, body := do(t, "POST", s.URL+"/v1/recordings", jsonType, `{"gpus":["GPU-none"]}`); status != 400 || !strings.Contains(body, "no such GPU") {
		t.Errorf("%d %s", status, body)
	}
	<-sc.source.closed
}

func TestToken(t *testing.T) {
	o := newScript().options()
	o.Token = "a token of some length"
	s := serve(t, o)
	for what, c := range map[string]struct {
		header []string
		status int
	}{
		"none":        {nil, 401},
		"wrong":       {[]string{"Authorization", "Bearer another"}, 401},
		"a part":      {[]string{"Authorization", "Bearer a token of some"}, 401},
		"basic":       {[]string{"Authorization", "Basic a token of some length"}, 401},
		"bare":        {[]string{"Authorization", "a token of some length"}, 401},
		"right":       {[]string{"Authorization", "Bearer a token of some length"}, 200},
		"other host":  {[]string{"Authorization", "Bearer a token of some length", "Host", "gpu-host"}, 200},
		"lower case":  {[]string{"Authorization", "bearer a token of some length"}, 200},
		"empty token": {[]string{"Authorization", "Bearer "}, 401},
	} {
		if status, body := do(t, "GET", s.URL+"/v1/clock", "", "", c.header...); status != c.status || strings.Contains(body, o.Token) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
}

// A page in a browser whose name was made to point here has another Host.
func TestHostWithoutToken(t *testing.T) {
	s := serve(t, newScript().options())
	for host, want := range map[string]int{"evil.example": 403, "evil.example:9151": 403, "10.0.0.1": 403, "localhost:1": 200, "127.0.0.1": 200, "[::1]:9151": 200} {
		if status, _ := do(t, "GET", s.URL+"/v1/clock", "", "", "Host", host); status != want {
			t.Errorf("%s: %d, want %d", host, status, want)
		}
	}
}

// A client that goes away ends its recording, and gives its place back.
func TestClientGone(t *testing.T) {
	sc := newScript()
	o := sc.options()
	o.AtOnce = 1
	s := serve(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/recordings", strings.NewReader(`{"gpus":["GPU-1"]}`))
	req.Header.Set("Content-Type", jsonType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if o := <-sc.asked; o.Hz != record.UsualHz || o.Meter != "test" || o.For != 24*time.Hour || len(o.Extra) != 1 || sc.gpus[0] != "GPU-1" {
		t.Errorf("%+v", o)
	}
	if len(resp.Header.Get(idHeader)) != idLength {
		t.Error(resp.Header)
	}
	if status, body := do(t, "POST", s.URL+"/v1/recordings", jsonType, "{}"); status != 503 || !strings.Contains(body, "1 recordings run already") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := do(t, "GET", s.URL+"/v1/clock", "", ""); status != 200 {
		t.Error("the clock is answered while all places are taken")
	}
	cancel()
	if err := <-sc.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-sc.source.closed
}

// The meter is being stopped: recordings get their end, and nothing new begins.
func TestDone(t *testing.T) {
	sc := newScript()
	s := serve(t, sc.options())
	resp, err := http.Post(s.URL+"/v1/recordings", jsonType, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-sc.asked
	close(sc.done)
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasSuffix(string(b), `{"t":9000,"end":{"why":"asked"}}`+"\n") {
		t.Errorf("%v %s", err, b)
	}
	if status, body := do(t, "POST", s.URL+"/v1/recordings", jsonType, "{}"); status != 503 || !strings.Contains(body, "being stopped") {
		t.Errorf("%d %s", status, body)
	}
}

// A driver that hangs is given up; its place is taken until it returns.
func TestHangingDriver(t *testing.T) {
	sc := newScript()
	o := sc.options()
	o.AtOnce, o.Patience = 1, time.Millisecond
	goOn := make(chan struct{})
	o.Open = func(context.Context, []string) ([]source.Source, []trace.Missing, error) {
		<-goOn
		return []source.Source{sc.source}, nil, nil
	}
	s := serve(t, o)
	if status, body := do(t, "GET", s.URL+"/v1/meter", "", ""); status != 500 || !strings.Contains(body, "did not open within 1ms") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := do(t, "GET", s.URL+"/v1/meter", "", ""); status != 503 {
		t.Errorf("%d: its place is still taken", status)
	}
	close(goOn)
	<-sc.source.closed
}

// A client that takes nothing ends its recording.
func TestClientTakesNothing(t *testing.T) {
	o := newScript().options()
	o.Patience = 50 * time.Millisecond
	ended := make(chan error, 1)
	o.Record = func(_ context.Context, w io.Writer, _ []source.Source, _ record.Options) (err error) {
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat("x", 1<<16))
		}
		ended <- err
		return err
	}
	s := serve(t, o)
	s.Config.ErrorLog = nil
	resp, err := http.Post(s.URL+"/v1/recordings", jsonType, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// A recording that fails is cut: the client does not see a proper end.
func TestRecordFails(t *testing.T) {
	o := newScript().options()
	o.Record = func(_ context.Context, w io.Writer, _ []source.Source, _ record.Options) error {
		_, _ = io.WriteString(w, header)
		return errors.New("a driver")
	}
	s := serve(t, o)
	s.Config.ErrorLog = nil
	resp, err := http.Post(s.URL+"/v1/recordings", jsonType, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(b, []byte(header)) {
		t.Errorf("%v %s", err, b)
	}
}

func TestListen(t *testing.T) {
	const token = "0123456789abcdef"
	for what, c := range map[string]struct {
		l    Listen
		want string
	}{
		"loopback":           {Listen{Address: "127.0.0.1:0"}, ""},
		"IPv6":               {Listen{Address: "[::1]:0"}, ""},
		"localhost":          {Listen{Address: "localhost:0"}, ""},
		"loopback and token": {Listen{Address: "127.0.0.1:0", Token: token}, ""},
		"all, nothing":       {Listen{Address: ":9151"}, ":9151 is not loopback, and there is no token"},
		"all, TLS only":      {Listen{Address: "0.0.0.0:9151", Cert: "c", Key: "k"}, "0.0.0.0:9151 is not loopback, and there is no token"},
		"all, token only":    {Listen{Address: "0.0.0.0:9151", Token: token}, "0.0.0.0:9151 is not loopback, and without TLS"},
		"a name":             {Listen{Address: "gpu-host:9151", Token: token}, "gpu-host:9151 is not loopback, and without TLS"},
		"all, plain":         {Listen{Address: "0.0.0.0:9151", Token: token, Plain: true}, ""},
		"plain, no token":    {Listen{Address: "0.0.0.0:9151", Plain: true}, "0.0.0.0:9151 is not loopback, and there is no token"},
		"all, TLS":           {Listen{Address: "0.0.0.0:9151", Token: token, Cert: "c", Key: "k"}, ""},
		"half a pair":        {Listen{Address: "127.0.0.1:0", Cert: "c"}, "a certificate and its key belong together"},
		"short token":        {Listen{Address: "127.0.0.1:0", Token: "secret"}, "the token has 6 characters, want at least 16"},
		"no port":            {Listen{Address: "127.0.0.1"}, `"127.0.0.1" is no address`},
	} {
		err := c.l.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	if _, err := (Listen{Address: "127.0.0.1:0", Cert: "/none", Key: "/none"}).Open(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "certificate: ") {
		t.Error(err)
	}
}
