package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"

	"github.com/cupel-dev/cupel/stages/meter/remote"
	"github.com/cupel-dev/cupel/stages/trace"
)

// overheard is what a command says on stderr while it runs.
type overheard struct {
	mu   sync.Mutex
	b    strings.Builder
	news chan struct{}
}

func (w *overheard) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.news <- struct{}{} }()
	return w.b.Write(p)
}

func (w *overheard) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

var listening = regexp.MustCompile(`listening on (\S+)`)

// address waits until the server says where it listens.
func (w *overheard) address(t *testing.T) string {
	t.Helper()
	for {
		if m := listening.FindStringSubmatch(w.String()); m != nil {
			return m[1]
		}
		select {
		case <-w.news:
		case <-t.Context().Done():
			t.Fatal(w.String())
		}
	}
}

// sysfs is a machine with one package.
func sysfs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/class/powercap/intel-rapl:0/name": "package-0\n", "sys/class/powercap/intel-rapl:0/energy_uj": "1000\n",
		"sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n", "proc/loadavg": "0.5 0.4 0.3 1/2 3\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// first reports the first line that was written.
type first struct {
	io.Writer
	once sync.Once
	c    chan struct{}
}

func (f *first) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if strings.Contains(string(p), `"c":`) {
		f.once.Do(func() { close(f.c) })
	}
	return n, err
}

// The real command, fetched from by the real client.
func TestServe(t *testing.T) {
	root := sysfs(t)
	secret := file(t, "token", "0123456789abcdef\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &overheard{news: make(chan struct{}, 100)}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--token-file", secret, "--nvml-library", "libno-such-nvml.so.1", "--rapl", root, "--hwmon", root}, strings.NewReader(""), io.Discard, said)
	}()
	c := &remote.Client{URL: said.address(t), Token: "0123456789abcdef"}
	doc, err := c.Meter(t.Context())
	if err != nil || !strings.Contains(string(doc), `"rapl.package"`) || !strings.Contains(string(doc), `"missing"`) {
		t.Errorf("%v %s", err, doc)
	}
	stop := make(chan struct{})
	var b strings.Builder
	out := &first{Writer: &b, c: make(chan struct{})}
	result := make(chan error, 1)
	go func() { result <- c.Record(t.Context(), remote.Want{Hz: 100}, stop, out) }()
	<-out.c
	close(stop)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(strings.NewReader(b.String()))
	if err != nil || tr.End == nil || tr.Channels[0].Domain != trace.RAPLPackage || tr.Samples[0][0].V != 1000 || len(tr.Offsets) < 2 {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := c.Record(t.Context(), remote.Want{GPUs: []string{"GPU-none"}}, nil, io.Discard); err == nil || !strings.Contains(err.Error(), "GPU-none") || !strings.Contains(err.Error(), "400 Bad Request") {
		t.Error(err)
	}
	if err := (&remote.Client{URL: c.URL}).Record(t.Context(), remote.Want{}, nil, io.Discard); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Error(err)
	}
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d, %s", got, said)
	}
}

func TestServeUsage(t *testing.T) {
	t.Setenv(tokenVariable, "")
	for what, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"everybody":    {[]string{"--listen", "0.0.0.0:0"}, 2, "0.0.0.0:0 is not loopback, and there is no token"},
		"plain":        {[]string{"--listen", "0.0.0.0:0", "--token-file", file(t, "t", "0123456789abcdef")}, 2, "without TLS the token can be read on the way"},
		"short":        {[]string{"--token-file", file(t, "t", "secret")}, 2, "the token has 6 characters"},
		"no token":     {[]string{"--token-file", file(t, "t", " \n")}, 2, "want one line of printable ASCII"},
		"two lines":    {[]string{"--token-file", file(t, "t", "0123456789abcdef\nmore")}, 2, "want one line of printable ASCII"},
		"no file":      {[]string{"--token-file", "/no/such/file"}, 2, "--token-file /no/such/file: no such file or directory"},
		"stdin":        {[]string{"--wall", "-"}, 2, "--wall - is for one recording"},
		"too many":     {[]string{"--recordings", "100"}, 2, "--recordings 100, want 1 to 64"},
		"certificate":  {[]string{"--tls-cert", "/no/such", "--tls-key", "/no/such", "--rapl", "off", "--hwmon", "off", "--nvml-library", "libno-such-nvml.so.1"}, 4, "--listen: certificate: "},
		"address":      {[]string{"--listen", "nowhere"}, 2, `"nowhere" is no address`},
		"no such wall": {[]string{"--wall", "/no/such/meter", "--nvml-library", "libno-such-nvml.so.1"}, 4, "--wall /no/such/meter: no such file or directory"},
	} {
		code, _, stderr := command(t, append([]string{"serve"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "0123456789abcdef") {
			t.Errorf("%s: exit %d, %s, want %d %s", what, code, stderr, c.code, c.want)
		}
	}
}

func TestTokenOfEnvironment(t *testing.T) {
	t.Setenv(tokenVariable, "0123456789abcdef")
	if got, err := token(""); got != "0123456789abcdef" || err != nil {
		t.Error(got, err)
	}
	t.Setenv(tokenVariable, "two words of it")
	if _, err := token(""); err == nil || err.Error() != "$CUPEL_METER_TOKEN: want one line of printable ASCII without spaces" {
		t.Error(err)
	}
}

// Every flag is described where people look for it.
func TestServeAndImportDocumented(t *testing.T) {
	m := &meter{}
	for name, page := range map[string]string{"serve": "meter-remote.md", "import": "meter-sources.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := m.root().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		sources := m.sampleCmd().Flags() // those are described with sample
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if name == "serve" && sources.Lookup(f.Name) != nil || f.Name == "help" {
				return
			}
			if !strings.Contains(string(text), "--"+f.Name) {
				t.Errorf("docs/%s lacks --%s of %s", page, f.Name, name)
			}
		})
	}
}

// A client may name GPUs, among those that are served.
func TestServedGPUs(t *testing.T) {
	o := serveOptions{sourceOptions: sourceOptions{GPUs: []string{"GPU-1"}}}
	if _, _, err := o.open(t.Context(), []string{"GPU-2"}); err == nil || err.Error() != "GPU-2 is not among the GPUs that are served" {
		t.Error(err)
	}
}
