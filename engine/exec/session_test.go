package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// servers are fake sessions that watch whether they are used as promised.
type servers struct {
	mu       sync.Mutex
	apart    map[[2]string]bool // pairs that exclude each other, in order
	fails    map[string]error
	attached []step.Attachment
	isOpen   map[string]bool
	opened   map[string]int
	finished int
	log      []string
	wrong    []string
	halt     func(name string) // called while opening
}

func newServers(apart ...[2]string) *servers {
	s := &servers{apart: map[[2]string]bool{}, fails: map[string]error{}, isOpen: map[string]bool{}, opened: map[string]int{}}
	for _, p := range apart {
		s.apart[p] = true
	}
	return s
}

func (s *servers) Excludes(a, b string) bool { return s.apart[[2]string{min(a, b), max(a, b)}] }

func (s *servers) Open(_ context.Context, name string, log SessionLog) ([]step.Attachment, error) {
	log.Note("opening %s", name)
	if s.halt != nil {
		s.halt(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, up := range s.isOpen {
		if up && (other == name || s.Excludes(name, other)) {
			s.wrong = append(s.wrong, name+" opened beside "+other)
		}
	}
	if err := s.fails[name]; err != nil {
		return nil, err
	}
	s.isOpen[name] = true
	s.opened[name]++
	s.log = append(s.log, "+"+name)
	return s.attached, nil
}

func (s *servers) Close(name string, log SessionLog) error {
	log.Note("closing %s", name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOpen[name] {
		s.wrong = append(s.wrong, name+" closed twice")
	}
	s.isOpen[name] = false
	s.log = append(s.log, "-"+name)
	return s.fails["closing "+name]
}

func (s *servers) Explain(name string, err error) error {
	return fmt.Errorf("%w; %s has ended", err, name)
}

func (s *servers) Finish(SessionLog) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished++
	for name, up := range s.isOpen {
		if up {
			s.wrong = append(s.wrong, name+" is open at the end")
		}
	}
	return s.fails["finish"]
}

// use is called by a step that runs.
func (s *servers) use(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOpen[name] {
		s.wrong = append(s.wrong, "a step of "+name+" ran while it was closed")
	}
}

func (s *servers) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := strings.Join(s.log, " ")
	s.log = nil
	return log
}

// staged makes the steps of two candidates, as a campaign has them.
func staged(names ...string) (steps []step.Step) {
	for _, n := range names {
		pin := mk("pin/"+n, false)
		pin.Observes = true
		pre := mk("preflight/"+n, false, "pin/"+n)
		pre.After = []string{"pin/" + n}
		cell := mk("measure/"+n+"/c", false, "pin/"+n)
		cell.After = []string{"preflight/" + n}
		cell.Resources = []string{step.Quiet}
		for _, s := range []*step.Step{&pin, &pre, &cell} {
			s.Session = n
		}
		steps = append(steps, pin, pre, cell, mk("score/"+n, true, "measure/"+n+"/c"))
	}
	return steps
}

func (f *fixture) serve(s *servers) *servers {
	f.e.Sessions = s
	return s
}

// Exclusive sessions follow one another, each opened once; a run from the store
// opens nothing, although its pins look.
func TestSessionsFollowOneAnother(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers([2]string{"a", "b"}))
	f.states(f.run(staged("a", "b")...), Done, Done, Done, Done, Done, Done, Done, Done)
	if got := s.said(); got != "+a -a +b -b" || s.finished != 1 || s.wrong != nil {
		t.Errorf("%s, finished %d, %v", got, s.finished, s.wrong)
	}
	f.w.take()
	f.run(staged("a", "b")...)
	f.ran("pin/a", "pin/b")
	if got := s.said(); got != "" {
		t.Errorf("a cached run opened %s", got)
	}
	more := mk("measure/b/new", false, "pin/b")
	more.Session = "b"
	f.run(append(staged("a", "b"), more)...)
	if got := s.said(); got != "+b -b" {
		t.Errorf("what is new of b opened %s", got)
	}
}

// Cells that take turns behind all preflights force a switch, and no deadlock.
func TestSessionsSwitch(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers([2]string{"a", "b"}))
	steps := staged("a", "b")
	for i := range steps {
		if steps[i].Stage() == "measure" {
			steps[i].Behind = []string{"preflight/a", "preflight/b"}
		}
	}
	f.run(steps...)
	if got := s.said(); got != "+a -a +b -b +a -a" || s.wrong != nil {
		t.Errorf("%s, %v", got, s.wrong)
	}
}

// A session that does not open refuses what observes it, with what it says; the
// others go on, and the next run tries again.
func TestSessionUnavailable(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers())
	s.fails["a"] = &step.Unavailable{Reason: "it ended with status 1", Attached: []step.Attachment{{Output: "start.json", MediaType: "text/plain", Content: []byte("the log")}}}
	for range 2 {
		out := f.run(staged("a", "b")...)
		r := result(out, "pin/a")
		if r.State != Refused || r.Reason != "it ended with status 1" || len(r.Outputs) != 1 || r.Outputs[0].Name != "start.json" {
			t.Fatalf("%+v", r)
		}
		if out.Count(Skipped) != 3 {
			t.Errorf("%+v", out.Results)
		}
	}
	delete(s.fails, "a")
	if out := f.run(staged("a", "b")...); out.Count(Done) != 4 {
		t.Errorf("after it was mended: %+v", out.Results)
	}
	s.fails["a"] = step.Mark(step.ErrOutside, errors.New("no such command"))
	more := mk("measure/a/new", false, "pin/a")
	more.Session = "a"
	out := f.run(append(staged("a", "b"), more)...)
	if r := result(out, "pin/a"); r.State != Failed || r.Err.Error() != "pin/a: no such command" {
		t.Errorf("a failure of the outside is %+v", r)
	}
	if s.wrong != nil {
		t.Error(s.wrong)
	}
}

func result(out *Outcome, name string) Result {
	for _, r := range out.Results {
		if r.Step.Name == name {
			return r
		}
	}
	return Result{}
}

// What is attached stays with the observation as long as the session is not
// opened anew, with and without somebody who could.
func TestSessionAttached(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers())
	s.attached = []step.Attachment{{Output: "start.json", MediaType: "text/plain", Content: []byte("3 s")}}
	first := result(f.run(staged("a")...), "pin/a")
	if len(first.Outputs) != 2 {
		t.Fatalf("%+v", first)
	}
	s.attached[0].Content = []byte("4 s")
	f.e.Sessions = nil
	if r := result(f.run(staged("a")...), "pin/a"); r.State != Cached || !slices.Equal(r.Outputs, first.Outputs) {
		t.Errorf("%+v", r)
	}
	f.e.Sessions = s
	if r := result(f.run(staged("a")...), "pin/a"); r.State != Cached || !slices.Equal(r.Outputs, first.Outputs) {
		t.Errorf("%+v", r)
	}
	f.e.Refresh = []string{"pin/a"}
	if r := result(f.run(staged("a")...), "pin/a"); r.State != Done || slices.Equal(r.Outputs, first.Outputs) {
		t.Errorf("%+v", r)
	}
}

// What is known of a session is added to the error of a step that used it; an
// observing step does not stand on its last look then.
func TestSessionExplains(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers())
	f.run(staged("a")...)
	f.w.errs["pin/a"] = step.Mark(step.ErrUnreachable, errors.New("connection refused"))
	f.e.Refresh = []string{"preflight/a"}
	s.fails["closing a"], s.fails["finish"] = errors.New("it does not stop"), errors.New("b was not put back")
	out := f.run(staged("a")...)
	if r := result(out, "pin/a"); r.State != Failed || r.Err.Error() != "connection refused; a has ended" {
		t.Errorf("%+v", r)
	}
	if len(out.SessionErrs) != 2 {
		t.Error(out.SessionErrs)
	}
}

// Whatever interrupts a run, what was opened is closed.
func TestSessionsOfAnInterruptedRun(t *testing.T) {
	f := setup(t)
	s := f.serve(newServers())
	ctx, cancel := context.WithCancel(t.Context())
	s.halt = func(string) { cancel() }
	p, err := plan.New(staged("a"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.e.Run(ctx, p)
	if err != nil || !out.Interrupted || s.said() != "+a -a" || s.finished != 1 {
		t.Errorf("%+v, %v, %+v", out, err, s)
	}
	s.halt = nil
	f.e.OnEvent = func(ev Event) {
		if ev.State == "running" {
			panic("the screen is gone")
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = f.e.Run(t.Context(), p)
		t.Error("it did not panic")
	}()
	if got := s.said(); got != "+a -a" || s.finished != 2 {
		t.Errorf("after a panic: %s", got)
	}
}

// Of any plan, however its steps depend on one another and whichever sessions
// exclude one another and fail: a run ends, a step runs only while its session
// is open, exclusive ones never are together, each opening is closed once, and
// a second run, from the store, opens none but those that failed.
func TestSessionsOfAnyPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "sessions")]
		s := newServers()
		for i, a := range names {
			for _, b := range names[i+1:] {
				s.apart[[2]string{a, b}] = rapid.Bool().Draw(t, a+b)
			}
		}
		failing := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "fails")
		s.fails[failing] = &step.Unavailable{Reason: "no"}
		steps := anySteps(t, names)
		runner := step.RunnerFunc(func(_ context.Context, job step.Job) error {
			if st := job.Step(); st.Session != "" && !(st.Observes && s.opened[st.Session] == 0) {
				s.use(st.Session)
			}
			return step.Write(job, "out", "text/plain", []byte(job.Step().Name))
		})
		dir := tempStore(t)
		e := &Engine{Store: dir, Runners: map[string]step.Runner{"k": runner}, Sessions: s}
		p, err := plan.New(steps)
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Run(context.Background(), p)
		if err != nil || s.wrong != nil || s.finished != 1 {
			t.Fatalf("%v, %v", err, s.wrong)
		}
		for _, r := range out.Results {
			if r.State == Left || r.State == Failed && r.Step.Session != failing {
				t.Fatalf("%s is %s: %v", r.Step.Name, r.State, r.Err)
			}
		}
		s.said()
		if _, err := e.Run(context.Background(), p); err != nil || s.wrong != nil {
			t.Fatalf("%v, %v", err, s.wrong)
		}
		if got := s.said(); got != "" && failing == "" {
			t.Fatalf("a run from the store: %s", got)
		}
	})
}

func anySteps(t *rapid.T, names []string) (steps []step.Step) {
	n := rapid.IntRange(1, 10).Draw(t, "steps")
	for i := range n {
		stage := rapid.SampledFrom([]string{"pin", "measure", "score"}).Draw(t, "stage")
		st := mk(fmt.Sprintf("%s/%02d", stage, i), stage == "score")
		if stage != "score" {
			st.Session = rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "session")
		}
		if stage == "measure" && rapid.Bool().Draw(t, "quiet") {
			st.Resources = []string{step.Quiet}
		}
		for j := range i {
			switch rapid.IntRange(0, 5).Draw(t, "needs") {
			case 0:
				st.After = append(st.After, steps[j].Name)
			case 1:
				st.Behind = append(st.Behind, steps[j].Name)
			}
		}
		steps = append(steps, st)
	}
	return steps
}

// tempStore is open for a drawn case.
func tempStore(t *rapid.T) *store.Store {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, store.Options{Mode: store.ReadWrite, LeaseDir: dir + "/lease"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); os.RemoveAll(dir) })
	return s
}

// Who looks at something as it stands must not see it being taken away.
func TestNothingIsTakenAwayWhileItIsLookedAt(t *testing.T) {
	s := newSchedule(newServers([2]string{"f16", "q8"}).Excludes)
	s.lookers["q8"] = 1
	if s.opens("f16") || !s.opens("q8") || !s.opens("other") {
		t.Error("f16 may not be opened while q8 is looked at; others may")
	}
	s.lookers["q8"] = 0
	if !s.opens("f16") {
		t.Error("nobody looks any more")
	}
	s.state["f16"] = isMoving
	if s.still("q8") || s.still("f16") || !s.still("other") {
		t.Error("q8 and f16 are not still while f16 is on its way")
	}
	if s.state["f16"] = isOpen; !s.still("q8") {
		t.Error("an open session does not move")
	}
}
