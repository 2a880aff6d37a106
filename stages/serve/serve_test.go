package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// bench is a folder in which candidate x is up when the file x.up is there.
type bench struct {
	*testing.T
	*Hooks
	dir    string
	ledger *ledger
	log    *testLog
}

type ledger struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (l *ledger) Put(name string, b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[name] = b
	return nil
}

func (l *ledger) Remove(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, name)
	return nil
}

func (l *ledger) All() (map[string][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.all), nil
}

// testLog keeps what is told, and files in a folder.
type testLog struct {
	dir   string
	mu    sync.Mutex
	notes []string
}

func (l *testLog) Create(name string) (io.WriteCloser, error) { return l.File(name) }
func (l *testLog) File(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(l.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
}
func (l *testLog) Note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

func (l *testLog) said(t *testing.T, what string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.notes, func(s string) bool { return strings.Contains(s, what) }) {
		t.Errorf("nobody said %q: %q", what, l.notes)
	}
}

func newBench(t *testing.T, names ...string) *bench {
	t.Helper()
	b := &bench{T: t, dir: t.TempDir(), ledger: &ledger{all: map[string][]byte{}}}
	b.log = &testLog{dir: b.dir}
	b.Hooks = &Hooks{
		Servers: map[string]Server{}, Campaign: "swap", Dir: b.dir, Environ: os.Environ(), Ledger: b.ledger,
		Lease: func(string) (func(), error) { return func() {}, nil }, Grace: 20 * time.Second,
	}
	for _, n := range names {
		b.server(n, func(*Server) {})
	}
	return b
}

// server adds a candidate that is a shell with a server that stays in front.
func (b *bench) server(name string, edit func(*Server)) {
	s := Server{
		Candidate: name, Start: []string{"sh", "-c", "trap 'rm -f " + name + ".up; exit 0' TERM; : >" + name + ".up; while :; do sleep 0.05; done"},
		Timeout: time.Minute, Host: "localhost", Address: "localhost:" + name,
		Look: func(context.Context) error {
			if _, err := os.Stat(filepath.Join(b.dir, name+".up")); err != nil {
				return step.Mark(step.ErrUnreachable, errors.New("connection refused"))
			}
			return nil
		},
	}
	edit(&s)
	b.Servers[name] = s
}

func (b *bench) open(name string) evidence.StartDoc {
	b.Helper()
	got, err := b.Open(b.Context(), name, b.log)
	if err != nil {
		b.Fatal(err)
	}
	return doc(b.T, got)
}

func doc(t *testing.T, got []step.Attachment) (d evidence.StartDoc) {
	t.Helper()
	if len(got) != 1 || got[0].Output != evidence.OutStart {
		t.Fatalf("%+v", got)
	}
	if err := json.Unmarshal(got[0].Content, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (b *bench) isUp(name string, want bool) {
	b.Helper()
	if got := b.Servers[name].Look(b.Context()) == nil; got != want {
		b.Errorf("%s is up: %v, want %v", name, got, want)
	}
}

func (b *bench) owes(names ...string) {
	b.Helper()
	all, _ := b.ledger.All()
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, names) {
		b.Errorf("the ledger holds %v, want %v", got, names)
	}
}

func (b *bench) close(name string) {
	b.Helper()
	if err := b.Close(name, b.log); err != nil {
		b.Error(err)
	}
}

func TestExcludes(t *testing.T) {
	base := Server{Host: "h", Address: "h:1", GPUs: []string{"0", "1"}}
	for name, c := range map[string]struct {
		edit func(*Server)
		want bool
	}{
		"the same GPU":        {func(s *Server) { s.GPUs = []string{"1"} }, true},
		"other GPUs":          {func(s *Server) { s.GPUs = []string{"2"} }, false},
		"nobody said which":   {func(s *Server) { s.GPUs = nil }, true},
		"index and UUID":      {func(s *Server) { s.GPUs = []string{"GPU-11111111"} }, true},
		"another host":        {func(s *Server) { s.Host = "g" }, false},
		"co-resident":         {func(s *Server) { s.CoResident = true }, false},
		"one address":         {func(s *Server) { s.Address, s.GPUs = "h:1", []string{"2"} }, true},
		"one address, shared": {func(s *Server) { s.Address, s.CoResident = "h:1", true }, false},
	} {
		other := base
		other.Address = "h:2"
		c.edit(&other)
		if Excludes(base, other) != c.want || Excludes(other, base) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}

// A server in front is started, waited for and ended with its group.
func TestServerInFront(t *testing.T) {
	b := newBench(t, "a")
	d := b.open("a")
	if d.LoadS == nil || *d.LoadS <= 0 || d.Reason != "" {
		t.Errorf("%+v", d)
	}
	b.isUp("a", true)
	b.owes("a")
	b.close("a")
	b.isUp("a", false)
	b.owes()
	b.log.said(t, "a: ready after ")
}

// A start command that puts its server into the background, and a stop command.
func TestServerInTheBackground(t *testing.T) {
	b := newBench(t)
	b.server("a", func(s *Server) {
		s.Start = []string{"sh", "-c", `echo "for $CUPEL_CANDIDATE of $CUPEL_CAMPAIGN on $CUPEL_GPUS"; (while [ ! -e stop ]; do sleep 0.05; done; rm -f a.up) & : >a.up`}
		s.Stop, s.GPUs = []string{"touch", "stop"}, []string{"0", "1"}
	})
	b.open("a")
	b.close("a")
	b.isUp("a", false)
	log, err := os.ReadFile(filepath.Join(b.dir, "serve-a.log"))
	if err != nil || !strings.Contains(string(log), "for a of swap on 0,1\n") {
		t.Errorf("%q, %v", log, err)
	}
}

func TestFoundRunning(t *testing.T) {
	b := newBench(t, "a")
	b.touch("a.up")
	d := b.open("a")
	if d.LoadS != nil || d.Reason != "found running" {
		t.Errorf("%+v", d)
	}
	b.close("a")
	b.isUp("a", true)
	b.owes()
}

func (b *bench) touch(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o666); err != nil {
		b.Fatal(err)
	}
}

// What does not load is a result, with its log and without its secrets.
func TestFailedLoads(t *testing.T) {
	b := newBench(t)
	b.Secrets = []string{"hunter2hunter2"}
	b.server("exits", func(s *Server) {
		s.Start = []string{"sh", "-c", `for i in $(seq 100); do echo "line $i"; done; echo "key hunter2hunter2, HF_TOKEN=abcdefghij"; printf '\033[31mOOM\033[0m\n'; exit 1`}
	})
	b.server("never", func(s *Server) {
		s.Start, s.Timeout = []string{"sh", "-c", "echo loading; while :; do sleep 0.05; done"}, 200*time.Millisecond
	})
	b.server("killed", func(s *Server) { s.Start = []string{"sh", "-c", "kill -9 $$"} })
	for name, want := range map[string]string{
		"exits":  "exits did not load: its start command ended with status 1 before it was ready",
		"never":  "never was not ready within 200ms of its start: connection refused",
		"killed": "killed did not load: its start command ended with signal 9 (killed) before it was ready",
	} {
		_, err := b.Open(t.Context(), name, b.log)
		var u *step.Unavailable
		if !errors.As(err, &u) || u.Reason != want {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := doc(t, u.Attached)
		if d.Failure != want || d.LoadS != nil {
			t.Errorf("%s: %+v", name, d)
		}
		if name == "exits" && (len(d.Log) != tailLines || d.Log[39] != "OOM" || d.Log[38] != "key [redacted], HF_TOKEN=[redacted]" || d.Log[37] != "line 100") {
			t.Errorf("%q", d.Log)
		}
		if b.take(name) != nil {
			t.Errorf("%s is still held", name)
		}
	}
	b.owes()
}

// What cannot be run, or runs into something else, is no result.
func TestNotAResult(t *testing.T) {
	b := newBench(t)
	b.touch("plain")
	b.server("nothing", func(s *Server) { s.Start = []string{"no-such-command-here"} })
	b.server("here", func(s *Server) { s.Start = []string{"./no-such-file"} })
	b.server("plain", func(s *Server) { s.Start = []string{"./plain"} })
	b.server("inside", func(s *Server) { s.Start = []string{"sh", "-c", "no-such-command-here"} })
	b.server("occupied", func(s *Server) {
		s.Start = []string{"sh", "-c", "echo address in use; exit 1"}
		s.Look = func(context.Context) error { return step.Mark(step.ErrOutside, errors.New("another model")) }
	})
	for name, want := range map[string]string{
		"nothing":  "the start command of nothing could not be run: no-such-command-here: executable file not found in $PATH; see candidates.nothing.serve.start; a command without a slash is looked for in PATH",
		"here":     "the start command of here could not be run: ./no-such-file: no such file or directory",
		"plain":    "./plain: permission denied; see candidates.plain.serve.start; is it executable?",
		"inside":   "the start command of inside ended with status 127: ",
		"occupied": "while something else answers at localhost:occupied; stop that",
	} {
		_, err := b.Open(t.Context(), name, b.log)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, step.ErrOutside) {
			t.Errorf("%s: %v", name, err)
		}
		if u := new(step.Unavailable); errors.As(err, &u) {
			t.Errorf("%s is taken for a result", name)
		}
	}
	b.owes()
}

// What is in the way is stopped, comes back at the end, and stays.
func TestMakesRoomAndRestores(t *testing.T) {
	b := newBench(t, "b")
	// The server also ends with its folder: the test does not wait for it to see stop.
	script := "echo start >>calls; (while [ ! -e stop ] && [ -e calls ]; do sleep 0.05; done; rm -f a.up stop) & : >a.up"
	b.server("a", func(s *Server) { s.Start, s.Stop = []string{"sh", "-c", script}, []string{"touch", "stop"} })
	b.open("a")
	b.drop("a") // from here on it was found running
	b.ledger.Remove("a")
	b.open("b")
	b.isUp("a", false)
	b.owes("a", "b")
	b.log.said(t, "a: found running, and cannot be up beside b")
	if got := b.Beside("b"); got != nil {
		t.Errorf("beside %v", got)
	}
	b.close("b")
	if err := b.Finish(b.log); err != nil {
		t.Fatal(err)
	}
	b.isUp("a", true)
	b.owes()
	b.log.said(t, "a: starting it again")
	b.touch("stop")
	if calls, _ := os.ReadFile(filepath.Join(b.dir, "calls")); string(calls) != "start\nstart\n" {
		t.Errorf("%q", calls)
	}
}

// A restoration that fails is loud, says what to do, and is tried again by the
// next run.
func TestRestorationFails(t *testing.T) {
	b := newBench(t, "b")
	b.server("a", func(s *Server) { s.Start, s.Stop = []string{"sh", "-c", "exit 3"}, []string{"rm", "a.up"} })
	b.touch("a.up")
	b.open("b")
	b.close("b")
	err := b.Finish(b.log)
	want := "a was running before this run and could not be started again: a did not load: its start command ended with status 3 before it was ready; run it by hand, in " + b.dir + ": sh -c 'exit 3'"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	b.owes("a")
	next := newBench(t)
	next.dir, next.Dir, next.ledger, next.Ledger = b.dir, b.dir, b.ledger, b.ledger
	next.server("a", func(s *Server) { s.Start = []string{"touch", "a.up"} })
	if err := next.Recover(next.log); err != nil {
		t.Fatal(err)
	}
	if err := next.Finish(next.log); err != nil {
		t.Fatal(err)
	}
	next.isUp("a", true)
	next.owes()
}

func TestInTheWayWithoutStop(t *testing.T) {
	b := newBench(t, "a", "b")
	b.touch("a.up")
	_, err := b.Open(t.Context(), "b", b.log)
	if err == nil || !strings.Contains(err.Error(), "a was found running, cannot be up beside b, and has no stop command") {
		t.Error(err)
	}
	b.owes()
}

// A run that was killed leaves a server; the next one ends it, with the command
// or by its group.
func TestRecover(t *testing.T) {
	for _, stop := range [][]string{nil, {"sh", "-c", "kill $(cat pid)"}} {
		b := newBench(t)
		b.server("a", func(s *Server) {
			s.Start = []string{"sh", "-c", "echo $$ >pid; trap 'rm -f a.up; exit 0' TERM; : >a.up; while :; do sleep 0.05; done"}
			s.Stop = stop
		})
		b.open("a")
		next := newBench(t)
		next.dir, next.Dir, next.ledger, next.Ledger = b.dir, b.dir, b.ledger, b.ledger
		next.server("a", func(s *Server) { s.Stop = []string{"false"} }) // the campaign was edited: what counts is what was written down
		left, err := next.Left()
		if err != nil || len(left) != 1 || left[0].Candidate != "a" {
			t.Errorf("%+v, %v", left, err)
		}
		if err := next.Recover(next.log); err != nil {
			t.Fatal(err)
		}
		next.isUp("a", false)
		next.owes()
		next.log.said(t, "candidate a was started by an earlier run that died; stopping it first")
	}
}

// What another run works with is left alone, and a ledger that cannot be read is
// an error.
func TestRecoverOthers(t *testing.T) {
	b := newBench(t, "a")
	b.ledger.Put("a", []byte("{"))
	if err := b.Recover(b.log); err == nil {
		t.Error("an entry that cannot be read is passed over")
	}
	b.Lease = func(string) (func(), error) { return nil, errors.New("in use") }
	if err := b.Recover(b.log); err != nil {
		t.Error(err)
	}
	if _, err := b.Open(t.Context(), "a", b.log); err == nil || !strings.Contains(err.Error(), "candidate a: in use; wait for the other run") {
		t.Error(err)
	}
}

// A group that is not the one that was written down is never signalled.
func TestGroupOfAnother(t *testing.T) {
	b := newBench(t, "a")
	b.open("a")
	defer b.close("a")
	e := entryOf(b.Hooks, b.Servers["a"], b.take("a").process, false)
	if e.Boot != "" && !e.group() {
		t.Error("its own group is not known again")
	}
	for name, edit := range map[string]func(*entry){
		"another boot":    func(e *entry) { e.Boot = "x" },
		"another process": func(e *entry) { e.Began = "1" },
		"no group":        func(e *entry) { e.Group = 0 },
		"init":            func(e *entry) { e.Group = 1 },
	} {
		other := e
		edit(&other)
		if other.group() {
			t.Errorf("%s: it would be signalled", name)
		}
	}
}

// Ctrl-C while a server loads: nothing stays, and nothing is taken for a result.
func TestInterruptedWhileLoading(t *testing.T) {
	b := newBench(t)
	b.server("a", func(s *Server) {
		s.Start = []string{"sh", "-c", "trap 'touch ended; exit 0' TERM; touch began; while :; do sleep 0.05; done"}
	})
	ctx, cancel := context.WithCancel(t.Context())
	look := b.Servers["a"].Look
	s := b.Servers["a"]
	s.Look = func(ctx context.Context) error {
		if _, err := os.Stat(filepath.Join(b.dir, "began")); err == nil {
			cancel()
		}
		return look(ctx)
	}
	b.Servers["a"] = s
	_, err := b.Open(ctx, "a", b.log)
	if u := new(step.Unavailable); !errors.Is(err, context.Canceled) || errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ended")); err != nil {
		t.Error("it was not ended")
	}
	b.owes()
}

// The second Ctrl-C stops all at once and says what is owed.
func TestAbort(t *testing.T) {
	b := newBench(t, "b")
	b.server("a", func(s *Server) { s.Start, s.Stop = []string{"touch", "a.up"}, []string{"rm", "a.up"} })
	b.touch("a.up")
	b.open("b")
	todo := b.Abort(time.Minute)
	b.isUp("b", false)
	if len(todo) != 1 || !strings.Contains(todo[0], "a was running before this run and may be down now; run it by hand, in "+b.dir+": touch a.up") {
		t.Errorf("%q", todo)
	}
	if _, err := b.Open(t.Context(), "b", b.log); !errors.Is(err, context.Canceled) {
		t.Errorf("after all was stopped: %v", err)
	}
	b.owes("a")
}

// A server that ends by itself is what a failed step hears of.
func TestExplain(t *testing.T) {
	b := newBench(t)
	b.server("a", func(s *Server) {
		s.Start = []string{"sh", "-c", ": >a.up; while [ ! -e die ]; do sleep 0.05; done; rm a.up; echo CUDA error; exit 7"}
	})
	b.open("a")
	cause := step.Mark(step.ErrUnreachable, errors.New("connection refused"))
	b.touch("die")
	<-b.take("a").process.ended
	err := b.Explain("a", cause)
	if want := "connection refused (the server of a has ended with status 7; its last words: CUDA error); its log is kept with the run as serve-a.log"; err.Error() != want || !errors.Is(err, step.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if err := b.Explain("a", context.Canceled); !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		t.Errorf("%v", err)
	}
	if err := b.Explain("nobody", cause); err != cause {
		t.Errorf("%v", err)
	}
	b.close("a")
}

// A stop command that fails is an error with what to do, and stays owed.
func TestStopFails(t *testing.T) {
	b := newBench(t)
	b.server("a", func(s *Server) { s.Start, s.Stop = []string{"touch", "a.up"}, []string{"sh", "-c", "echo no; exit 1"} })
	b.open("a")
	err := b.Close("a", b.log)
	if want := "a could not be stopped: its stop command ended with status 1: no; run it by hand, in " + b.dir + ": sh -c 'echo no; exit 1'"; err == nil || err.Error() != want {
		t.Error(err)
	}
	b.owes("a")
}

func TestBeside(t *testing.T) {
	b := newBench(t, "b")
	b.server("a", func(s *Server) { s.CoResident = true })
	b.server("far", func(s *Server) { s.Host = "elsewhere" })
	for _, n := range []string{"a", "b", "far"} {
		b.open(n)
		defer b.close(n)
	}
	if got := b.Beside("b"); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
	if b.Exclusive() != nil {
		t.Error(b.Exclusive())
	}
}
