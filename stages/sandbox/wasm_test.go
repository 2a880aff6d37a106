package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// built is the folder of the module, when a test has needed it.
var built string

// module is the WebAssembly program of testdata/wasi, built once.
var module = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cupel-wasi-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "tiny.wasm")
	cmd := exec.Command("go", "build", "-o", path, "main.go")
	cmd.Dir = filepath.Join("testdata", "wasi")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

func tinyModule(t testing.TB) score.Program {
	t.Helper()
	path, err := module()
	if err != nil {
		t.Fatal(err)
	}
	return pinnedTo(t, path)
}

func pinnedTo(t testing.TB, path string) score.Program {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return score.Program{Path: path, SHA256: hex.EncodeToString(sum[:])}
}

// outcome is what a run is expected to be.
type outcome struct {
	exit           int
	limit          score.Limit
	stdout, stderr string // parts
}

func (want outcome) check(t *testing.T, o score.Outcome, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%v", err)
	case o.Limit != want.limit || want.limit == "" && o.Exit != want.exit:
		t.Errorf("exit %d, limit %q, want %d, %q; %.200q %.200q", o.Exit, o.Limit, want.exit, want.limit, o.Stdout, o.Stderr)
	case !strings.Contains(string(o.Stdout), want.stdout) || !strings.Contains(string(o.Stderr), want.stderr):
		t.Errorf("printed %.200q and %.200q, want %q and %q", o.Stdout, o.Stderr, want.stdout, want.stderr)
	}
}

func TestWasm(t *testing.T) {
	listener, accepted := listen(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Backend: None})
	for name, tc := range map[string]struct {
		source string
		limits score.Limits
		want   outcome
	}{
		"prints":        {source: "print hello\nprint world", want: outcome{stdout: "hello\nworld\n"}},
		"own file":      {source: "read /work/main.tiny", want: outcome{stdout: "read /work/main.tiny"}},
		"fails":         {source: "fail", want: outcome{exit: 3, stderr: "as told"}},
		"panics":        {source: "trap", want: outcome{exit: 2, stderr: "as told"}},
		"reads":         {source: "read " + secret, want: outcome{exit: 3}},
		"reads up":      {source: "read /work/../../../../../.." + secret, want: outcome{exit: 3}},
		"accounts":      {source: "read /etc/passwd", want: outcome{exit: 3}},
		"writes":        {source: "write " + secret, want: outcome{exit: 3}},
		"writes itself": {source: "write /work/main.tiny", want: outcome{exit: 3}},
		"dials":         {source: "dial " + listener, want: outcome{exit: 3}},
		"floods":        {source: "flood", limits: score.Limits{Output: 1 << 16}, want: outcome{limit: score.LimitOutput}},
		"hogs":          {source: "hog", limits: score.Limits{Memory: 64 << 20}, want: outcome{exit: 2, stderr: "out of memory"}},
		"loops":         {source: "loop", limits: score.Limits{CPU: time.Second}, want: outcome{limit: score.LimitCPU}},
		"loops, wall":   {source: "loop", limits: score.Limits{Wall: time.Second}, want: outcome{limit: score.LimitWall}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.want.limit == score.LimitCPU && runtime.GOOS != "linux" {
				t.Skip("CPU time of a thread is known on Linux only; the clock ends a loop elsewhere")
			}
			p := tinyModule(t)
			p.Args, p.Files, p.Limits = []string{"/work/main.tiny"}, []score.File{{Name: "main.tiny", Data: []byte(tc.source)}}, tc.limits
			o, err := s.Run(t.Context(), p, nil)
			tc.want.check(t, o, err)
		})
	}
	if b, _ := os.ReadFile(secret); string(b) != "secret" {
		t.Errorf("the file outside holds %q", b)
	}
	if accepted() {
		t.Error("a connection came out of the sandbox")
	}
}

// listen returns an address, and whether anyone has connected to it.
func listen(t *testing.T) (address string, accepted func() bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String(), func() bool {
		if err := l.(*net.TCPListener).SetDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
}

func TestPinnedDigest(t *testing.T) {
	s := New(Options{})
	p := tinyModule(t)
	p.SHA256 = strings.Repeat("0", 64)
	if _, err := s.Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "is declared") {
		t.Errorf("another file than declared: %v", err)
	}
	p.Path = "nowhere"
	if _, err := s.Open(t.Context(), p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestWasmSession(t *testing.T) {
	s, err := New(Options{Backend: None}).Open(t.Context(), tinyModule(t))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		`{"id":"a","text":"yes"}`: `{"id":"a","value":1,"reason":"said yes"}`,
		`{"id":"b","text":"no"}`:  `{"id":"b","value":0,"reason":"said no"}`,
	} {
		if got, err := s.Ask(t.Context(), []byte(line)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", line, got, err)
		}
	}
	if _, err := s.Ask(t.Context(), []byte("{")); err == nil || !strings.Contains(err.Error(), "ended without an answer: unexpected end of JSON") {
		t.Errorf("a program that ended: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Without a sandbox nothing is run.
func TestNoSandbox(t *testing.T) {
	s := New(Options{Backend: None})
	if got := s.Runtimes()["sandbox"]; !strings.HasPrefix(got, "none: ") {
		t.Errorf("sandbox: %q", got)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	p := score.Program{Language: "sh", Files: []score.File{{Name: "main.sh", Data: []byte("echo > " + mark)}}, Args: []string{"/work/main.sh"}}
	_, err := s.Run(t.Context(), p, nil)
	if u, ok := errors.AsType[*score.Undetermined](err); !ok || u.Code != score.ReasonNoSandbox {
		t.Errorf("a program without a sandbox: %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program has run")
	}
}
