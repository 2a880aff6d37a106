package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestRunIsReadWhileWritten(t *testing.T) {
	s := writable(t)
	if _, err := s.LatestRun(); !errors.Is(err, ErrMissing) {
		t.Errorf("no run: %v", err)
	}
	old := must[*Run](t)(s.NewRun(noon.Add(-time.Hour)))
	check(t, old.Close())
	r := must[*Run](t)(s.NewRun(noon))
	check(t, os.Mkdir(s.path("runs", "7ZZZZZZZZZ0000000000000000"), 0o755)) // killed before run.json
	if id := must[string](t)(s.LatestRun()); id != r.ID() {
		t.Errorf("latest %s, want %s", id, r.ID())
	}
	check(t, r.Event(map[string]string{"step": "a<b"}))
	r.Logf("hello %d", 1)
	l := must[*RunLog](t)(s.ReadRun(r.ID()))
	if len(l.Events) != 1 || string(l.Events[0]) != `{"step":"a<b"}` || !l.Alive || !l.Started.Equal(noon) || l.Owner.PID != os.Getpid() {
		t.Errorf("run %+v", l)
	}
	check(t, r.Event(2))
	events, torn, next, err := s.Events(r.ID(), l.Offset)
	if err != nil || torn != 0 || len(events) != 1 || string(events[0]) != "2" {
		t.Errorf("more: %s, %d, %v", events, torn, err)
	}
	if events, _, again, err := s.Events(r.ID(), next); err != nil || len(events) != 0 || again != next {
		t.Errorf("no more: %s, %d, %v", events, again, err)
	}
	check(t, r.Close())
	check(t, r.Close())
	if l := must[*RunLog](t)(s.ReadRun(r.ID())); l.Alive || len(l.Events) != 2 {
		t.Errorf("ended: %+v", l)
	}
	if b := must[[]byte](t)(os.ReadFile(s.path("runs", r.ID(), "log"))); string(b) != "12:00:00.000 hello 1\n" {
		t.Errorf("log %q", b)
	}
}

// A run that goes on is the latest, also when another began after it and has
// ended.
func TestLatestRunIsTheLivingOne(t *testing.T) {
	s := writable(t)
	living := must[*Run](t)(s.NewRun(noon.Add(-time.Hour)))
	refused := must[*Run](t)(s.NewRun(noon))
	check(t, refused.Close())
	if id := must[string](t)(s.LatestRun()); id != living.ID() {
		t.Errorf("latest %s, want %s", id, living.ID())
	}
	check(t, living.Close())
	if id := must[string](t)(s.LatestRun()); id != refused.ID() {
		t.Errorf("latest %s, want %s", id, refused.ID())
	}
}

func TestTornEventsAreLeftOut(t *testing.T) {
	fail := false
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: Hooks{Write: func(f *os.File, p []byte) (int, error) {
		if fail {
			n, _ := f.Write(p[:len(p)-2])
			return n, syscall.ENOSPC
		}
		return f.Write(p)
	}}})
	r := must[*Run](t)(s.NewRun(noon))
	defer r.Close()
	check(t, r.Event(1))
	fail = true
	if err := r.Event("lost"); !errors.Is(err, ErrNoSpace) {
		t.Errorf("error %v", err)
	}
	if l := must[*RunLog](t)(s.ReadRun(r.ID())); len(l.Events) != 1 || l.Torn != 0 || l.Offset != 2 {
		t.Errorf("with an open end: %+v", l)
	}
	fail = false
	check(t, r.Event(2))
	if l := must[*RunLog](t)(s.ReadRun(r.ID())); len(l.Events) != 2 || l.Torn != 1 {
		t.Errorf("after it: %+v", l)
	}
	if err := r.Event(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestConcurrentEvents(t *testing.T) {
	s := writable(t)
	r := must[*Run](t)(s.NewRun(noon))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { check(t, r.Event(i)); r.Logf("%d", i) })
	}
	wg.Wait()
	check(t, r.Close())
	if l := must[*RunLog](t)(s.ReadRun(r.ID())); len(l.Events) != 50 || l.Torn != 0 {
		t.Errorf("%d events, %d torn", len(l.Events), l.Torn)
	}
}

func TestRunIDsAreNoPaths(t *testing.T) {
	s := writable(t)
	r := must[*Run](t)(s.NewRun(noon))
	check(t, r.Close())
	for _, id := range []string{"", "..", "../objects", r.ID() + "/../" + r.ID(), strings.ToLower(r.ID()), "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"} {
		if _, err := s.ReadRun(id); err == nil || errors.Is(err, ErrMissing) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := s.ReadRun("01JQ8Z5T3V0000000000000000"); !errors.Is(err, ErrMissing) {
		t.Errorf("absent: %v", err)
	}
	other := "01JQ8Z5T3V0000000000000000"
	check(t, os.Rename(s.path("runs", r.ID()), s.path("runs", other)))
	var damaged *Damaged
	if _, err := s.ReadRun(other); !errors.As(err, &damaged) {
		t.Errorf("renamed: %v", err)
	}
}

func ExampleStore_Events() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	s, _ := Open(dir, Options{Mode: ReadWrite})
	defer s.Close()
	r, _ := s.NewRun(time.Now())
	defer r.Close()
	var offset int64
	for _, step := range []string{"pin", "score"} {
		r.Event(map[string]string{"done": step})
		events, _, next, _ := s.Events(r.ID(), offset)
		fmt.Printf("%s\n", events)
		offset = next
	}
	// Output:
	// [{"done":"pin"}]
	// [{"done":"score"}]
}
