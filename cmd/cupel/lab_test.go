package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/store"
)

// lab is a directory with the shared campaign and its endpoints, for tests that
// need more than a script can say: signals, kills, limits.
type lab struct {
	t       *testing.T
	dir     string
	env     []string
	f16, q8 *scripted
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir()}
	for _, name := range []string{"campaign.yaml", "items.jsonl"} {
		if err := copyNew(filepath.Join("testdata", name), l.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	l.f16 = newScripted(t, "f16", l.path("items.jsonl"))
	l.q8 = newScripted(t, "q8", l.path("items.jsonl"))
	l.q8.say("99", "sum-3")
	l.env = append(os.Environ(), bindVariable("f16")+"="+l.f16.url(), bindVariable("q8")+"="+l.q8.url())
	for name, value := range homes(l.dir) {
		l.env = append(l.env, name+"="+value)
	}
	return l
}

func (l *lab) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}

// edit replaces a text of the campaign that is there once.
func (l *lab) edit(old, new_ string) {
	l.t.Helper()
	b, err := os.ReadFile(l.path("campaign.yaml"))
	if err != nil || bytes.Count(b, []byte(old)) != 1 {
		l.t.Fatalf("%q is not there once: %v", old, err)
	}
	if err := os.WriteFile(l.path("campaign.yaml"), bytes.Replace(b, []byte(old), []byte(new_), 1), 0o666); err != nil {
		l.t.Fatal(err)
	}
}

// result is what became of a command.
type result struct {
	code           int
	stdout, stderr string
}

// run runs cupel to its end and wants an exit code.
func (l *lab) run(code int, args ...string) result {
	l.t.Helper()
	p := l.start(args...)
	go p.drain()
	return p.wait(code)
}

// process is a cupel that runs. What it prints is read only when a test asks
// for it, so that it cannot get far ahead of what the test has seen.
type process struct {
	l      *lab
	cmd    *exec.Cmd
	out    *bufio.Reader
	stdout strings.Builder
	stderr *watched
	ended  chan struct{}
}

func (l *lab) start(args ...string) *process {
	l.t.Helper()
	p := &process{l: l, cmd: exec.Command("cupel", args...), stderr: newWatched(), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = l.dir, l.env, p.stderr
	r, w, err := narrowPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	p.cmd.Stdout, p.out = w, bufio.NewReaderSize(r, 64<<10)
	if err := p.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	w.Close()
	l.t.Cleanup(func() { _ = p.cmd.Process.Kill(); r.Close() })
	return p
}

// line reads one line of stdout; false at its end.
func (p *process) line() (string, bool) {
	s, err := p.out.ReadString('\n')
	p.stdout.WriteString(s)
	return s, err == nil
}

func (p *process) drain() {
	_, _ = io.Copy(&p.stdout, p.out)
	close(p.ended)
}

// wait waits for the end of a process whose stdout is being drained.
func (p *process) wait(code int) result {
	p.l.t.Helper()
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.ended
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.l.t.Fatal(err)
	}
	r := result{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
	if r.code != code {
		p.l.t.Fatalf("cupel %s: exit code %d, want %d\n%s%s", strings.Join(p.cmd.Args[1:], " "), r.code, code, r.stdout, r.stderr)
	}
	return r
}

// kill ends the process as a power failure would, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	go p.drain()
	<-p.ended
	_ = p.cmd.Wait()
}

// watched keeps what is written and tells who waits for a text in it.
type watched struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{}
}

func newWatched() *watched { return &watched{changed: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	return w.b.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// await returns when text has been written.
func (w *watched) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for {
		w.mu.Lock()
		there, changed := bytes.Contains(w.b.Bytes(), []byte(text)), w.changed
		w.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%q was not written:\n%s", text, w)
		}
	}
}

// recordOf reads the newest record of a step from a store directory.
func recordOf(dir, step string) (store.Record, error) {
	s, err := store.Open(dir, store.Options{AllowNetworkFS: true})
	if err != nil {
		return store.Record{}, err
	}
	defer s.Close()
	rec, ok := newest(s, step)
	if !ok {
		return rec, fmt.Errorf("no record of %s", step)
	}
	return rec, nil
}

// tree lists all files below dir with sizes and digests, sorted by name.
func tree(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out = append(out, fmt.Sprintf("%s %d %x", rel, len(b), sha256.Sum256(b)))
		return err
	})
	return out, err
}

// checkSums does what sha256sum -c does, and wants every file to be listed.
func checkSums(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return err
	}
	listed := map[string]bool{"SHA256SUMS": true}
	for line := range strings.Lines(string(b)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, err := os.ReadFile(filepath.Join(dir, name))
		if !ok || err != nil || fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
			return fmt.Errorf("SHA256SUMS: %q does not hold (%v)", line, err)
		}
		listed[name] = true
	}
	files, err := tree(dir)
	for _, f := range files {
		if name, _, _ := strings.Cut(f, " "); !listed[name] {
			return fmt.Errorf("%s is not in SHA256SUMS", name)
		}
	}
	return err
}

func eachJSONLine(text string) error {
	n := 0
	for line := range strings.Lines(text) {
		if n++; !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
			return fmt.Errorf("line %d is not a JSON document: %s", n, line)
		}
	}
	if n == 0 {
		return errors.New("there is no line")
	}
	return nil
}
