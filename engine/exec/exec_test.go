package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// world scripts what steps do and counts what ran.
type world struct {
	mu     sync.Mutex
	ran    []string
	say    map[string]string // step name -> output instead of the default
	errs   map[string]error
	refuse map[string]string
}

func newWorld() *world {
	return &world{say: map[string]string{}, errs: map[string]error{}, refuse: map[string]string{}}
}

// Run writes output "out": what the world says of this step, else a function
// of its parameters and inputs.
func (w *world) Run(_ context.Context, job step.Job) error {
	s := job.Step()
	w.mu.Lock()
	w.ran = append(w.ran, s.Name)
	say, err, refuse := w.say[s.Name], w.errs[s.Name], w.refuse[s.Name]
	w.mu.Unlock()
	if err != nil {
		return err
	}
	text := string(s.Params)
	for name := range s.Inputs {
		rc, err := job.Open(name)
		if errors.Is(err, step.ErrNoInput) {
			continue
		}
		if err != nil {
			return err
		}
		b, err := io.ReadAll(rc)
		rc.Close()
		if err != nil {
			return err
		}
		text += "(" + string(b) + ")"
	}
	if say != "" {
		text = say
	}
	if refuse != "" {
		job.Refuse(refuse)
	}
	out, err := job.Create("out", "text/plain")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	return out.Close()
}

func (w *world) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ran := w.ran
	w.ran = nil
	slices.Sort(ran)
	return ran
}

func mk(name string, pure bool, from ...string) step.Step {
	s := step.Step{Name: name, Kind: "k", Revision: 1, Params: json.RawMessage(fmt.Sprintf(`{"of":%q}`, name)), Pure: pure, Inputs: map[string]step.Input{}}
	for _, f := range from {
		s.Inputs[f] = step.Input{Step: f, Output: "out"}
	}
	return s
}

func open(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{Mode: store.ReadWrite, LeaseDir: filepath.Join(dir, "lease")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

type fixture struct {
	t testing.TB
	w *world
	e *Engine
}

func setup(t testing.TB) *fixture {
	w := newWorld()
	return &fixture{t, w, &Engine{Store: open(t, t.TempDir()), Runners: map[string]step.Runner{"k": w}}}
}

func (f *fixture) run(steps ...step.Step) *Outcome {
	f.t.Helper()
	p, err := plan.New(steps)
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := f.e.Run(context.Background(), p)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// ran checks which steps have run since the last call.
func (f *fixture) ran(want ...string) {
	f.t.Helper()
	if got := f.w.take(); !slices.Equal(got, want) {
		f.t.Errorf("ran %v, want %v", got, want)
	}
}

func (f *fixture) states(out *Outcome, want ...State) {
	f.t.Helper()
	var got []State
	for _, r := range out.Results {
		got = append(got, r.State)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("states %v, want %v", got, want)
	}
}

func TestCacheAndCutOff(t *testing.T) {
	f := setup(t)
	gen, score, cmp := mk("measure/a", false), mk("score/a", true, "measure/a"), mk("compare/a", true, "score/a")
	f.run(gen, score, cmp)
	f.ran("compare/a", "measure/a", "score/a")
	f.run(gen, score, cmp)
	f.ran()

	score.Params = json.RawMessage(`{"of":"score/a","tol":1}`)
	f.run(gen, score, cmp)
	f.ran("compare/a", "score/a")

	f.w.say["score/a"] = "constant"
	score.Params = json.RawMessage(`{"of":"score/a","tol":2}`)
	f.run(gen, score, cmp)
	f.ran("compare/a", "score/a")
	score.Params = json.RawMessage(`{"of":"score/a","tol":3}`)
	f.run(gen, score, cmp)
	f.ran("score/a") // same output: the change stops here

	gen.Trial = 2
	f.run(gen)
	f.ran("measure/a")
}

func TestRefusalStopsOnlyItsOwn(t *testing.T) {
	f := setup(t)
	pre := mk("preflight/a", false)
	gen := mk("measure/a", false)
	gen.After = []string{"preflight/a"}
	other := mk("measure/b", false)
	rec := mk("publish/record", true)
	rec.Inputs = map[string]step.Input{
		"a": {Step: "measure/a", Output: "out", Optional: true}, "b": {Step: "measure/b", Output: "out", Optional: true},
		"pre": {Step: "preflight/a", Output: "out", Optional: true},
	}
	f.w.refuse["preflight/a"] = "no JSON"
	out := f.run(pre, gen, other, rec)
	f.states(out, Refused, Skipped, Done, Done)
	f.ran("measure/b", "preflight/a", "publish/record")
	if r := out.Results[1].Reason; !strings.Contains(r, "preflight/a was refused: no JSON") {
		t.Errorf("reason %q", r)
	}
	// A refusal is kept, and asked again; a repaired candidate goes on.
	delete(f.w.refuse, "preflight/a")
	f.states(f.run(pre, gen, other, rec), Done, Done, Cached, Done)
}

func TestFailureBlocksAndKeepsTheRest(t *testing.T) {
	f := setup(t)
	a, b := mk("measure/a", false), mk("measure/b", false)
	dec := mk("decide/guards", true)
	dec.Inputs = map[string]step.Input{"a": {Step: "measure/a", Output: "out", Optional: true}, "b": {Step: "measure/b", Output: "out"}}
	f.w.errs["measure/a"] = fmt.Errorf("down: %w", step.ErrOutside)
	f.states(f.run(a, b, dec), Failed, Done, Blocked)
	f.w.take()
	delete(f.w.errs, "measure/a")
	f.states(f.run(a, b, dec), Done, Cached, Done)
	f.ran("decide/guards", "measure/a")
}

func TestObservation(t *testing.T) {
	f := setup(t)
	pin := mk("pin/a", false)
	pin.Observes = true
	gen := mk("measure/a", false, "pin/a")
	f.run(pin, gen)
	f.ran("measure/a", "pin/a")
	f.states(f.run(pin, gen), Cached, Cached)
	f.ran("pin/a") // looked again, unchanged

	f.w.errs["pin/a"] = fmt.Errorf("connection refused: %w", step.ErrUnreachable)
	f.states(f.run(pin, gen), Cached, Cached)
	f.w.errs["pin/a"] = fmt.Errorf("wrong model: %w", step.ErrOutside)
	f.states(f.run(pin, gen), Failed, Blocked)
	delete(f.w.errs, "pin/a")

	f.w.say["pin/a"] = "another build"
	f.w.take()
	f.states(f.run(pin, gen), Done, Done)
	f.ran("measure/a", "pin/a")

	f.e.Offline = true
	f.states(f.run(pin, gen), Cached, Cached)
	f.ran()
	gen.Trial = 7
	f.states(f.run(pin, gen), Cached, Failed)
}

// What an unreachable endpoint is said to have been is dated by when it was last
// seen, not by when it last changed.
func TestLastSeen(t *testing.T) {
	f := setup(t)
	day := 1
	f.e.Now = func() time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }
	pin := mk("pin/a", false)
	pin.Observes = true
	f.run(pin)
	day = 9
	f.run(pin)
	day = 20
	f.w.errs["pin/a"] = fmt.Errorf("connection refused: %w", step.ErrUnreachable)
	out := f.run(pin)
	f.states(out, Cached)
	if want := AsObserved + "2026-11-09 12:00"; !strings.HasPrefix(out.Results[0].Reason, want) {
		t.Errorf("reason %q, want %q", out.Results[0].Reason, want)
	}
}

// flip damages the stored object of a step's output in place.
func (f *fixture) flip(out *Outcome, name string) {
	f.t.Helper()
	d, ok := out.Output(name, "out")
	if !ok {
		f.t.Fatalf("no output of %s", name)
	}
	path := filepath.Join(f.e.Store.Dir(), "objects", d.String()[:2], d.String())
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	b[len(b)-1] ^= 0x40
	if err := os.Chmod(path, 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func TestDamage(t *testing.T) {
	f := setup(t)
	gen, score := mk("measure/a", false), mk("score/a", true, "measure/a")
	out := f.run(gen, score)
	f.w.take()

	f.flip(out, "score/a") // pure: derived again
	f.states(f.run(gen, score), Cached, Done)
	f.ran("score/a")

	f.flip(out, "measure/a")
	bad := f.run(gen, score)
	f.states(bad, Failed, Blocked)
	f.ran()
	if msg := bad.Results[0].Err.Error(); !strings.Contains(msg, "--remeasure") || !strings.Contains(msg, "damaged") {
		t.Errorf("error %q", msg)
	}
	d, _ := out.Output("measure/a", "out")
	if f.e.Store.Has(d) {
		t.Error("the damaged object is still among the objects")
	}
	f.states(f.run(gen, score), Failed, Blocked) // it does not heal by forgetting
	f.e.Remeasure = true
	f.states(f.run(gen, score), Done, Cached)
	f.ran("measure/a")
}

func TestOnlyAndFrom(t *testing.T) {
	f := setup(t)
	pin := mk("pin/a", false)
	pin.Observes = true
	gen, score := mk("measure/a", false, "pin/a"), mk("score/a", true, "measure/a")
	f.e.Only = "score"
	f.states(f.run(pin, gen, score), Failed, Blocked, Blocked)
	f.e.Only = "measure"
	f.states(f.run(pin, gen, score), Failed, Blocked, Left)
	f.e.Only = ""
	f.run(pin, gen, score)
	f.w.take()
	f.e.From = "score"
	f.states(f.run(pin, gen, score), Cached, Cached, Cached)
	f.ran()
	f.e.From, f.e.Refresh = "", []string{"measure"}
	f.run(pin, gen, score)
	f.ran("measure/a", "pin/a")
}

// A step that writes nothing it promised, panics, or leaves an output open is
// not done.
func TestBrokenRunners(t *testing.T) {
	f := setup(t)
	for name, run := range map[string]step.RunnerFunc{
		"open":  func(_ context.Context, j step.Job) error { _, err := j.Create("out", "x"); return err },
		"panic": func(context.Context, step.Job) error { panic("boom") },
		"twice": func(_ context.Context, j step.Job) error {
			if _, err := j.Create("out", "x"); err != nil {
				return err
			}
			_, err := j.Create("out", "x")
			return err
		},
	} {
		f.e.Runners["broken"] = run
		s := mk("score/"+name, true)
		s.Kind = "broken"
		f.states(f.run(s), Failed)
	}
}

// A quiet step runs alone; steps that share a resource never overlap.
func TestExclusion(t *testing.T) {
	f := setup(t)
	var mu sync.Mutex
	busy := map[string]int{}
	running := 0
	f.e.Jobs = 4
	f.e.Runners["k"] = step.RunnerFunc(func(_ context.Context, j step.Job) error {
		mu.Lock()
		running++
		for _, r := range j.Step().Resources {
			busy[r]++
			if busy[r] > 1 || r == step.Quiet && running > 1 {
				t.Errorf("%s overlaps", j.Step().Name)
			}
		}
		if busy[step.Quiet] > 0 && running > 1 {
			t.Errorf("%s runs beside a quiet step", j.Step().Name)
		}
		mu.Unlock()
		j.Progress(1, 2, "") // a round trip through the owner: others get to start
		mu.Lock()
		running--
		for _, r := range j.Step().Resources {
			busy[r]--
		}
		mu.Unlock()
		w, err := j.Create("out", "x")
		if err != nil {
			return err
		}
		return w.Close()
	})
	var steps []step.Step
	for i := range 24 {
		s := mk(fmt.Sprintf("measure/%02d", i), false)
		switch i % 4 {
		case 0:
			s.Resources = []string{"endpoint:x", step.Quiet}
		case 1:
			s.Resources = []string{"endpoint:x"}
		case 2:
			s.Resources = []string{"endpoint:y"}
		}
		steps = append(steps, s)
	}
	if out := f.run(steps...); out.Count(Done) != len(steps) {
		t.Errorf("%d done of %d", out.Count(Done), len(steps))
	}
}

func TestInterrupt(t *testing.T) {
	f := setup(t)
	ctx, cancel := context.WithCancel(context.Background())
	f.e.Runners["k"] = step.RunnerFunc(func(ctx context.Context, j step.Job) error {
		if err := j.Append([]byte("one")); err != nil {
			return err
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	a, b := mk("measure/a", false), mk("measure/b", false, "measure/a")
	p, err := plan.New([]step.Step{a, b})
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.e.Run(ctx, p)
	if err != nil || !out.Interrupted {
		t.Fatalf("%v, interrupted %v", err, out.Interrupted)
	}
	f.states(out, Failed, Left)
	var seen []string
	f.e.Runners["k"] = step.RunnerFunc(func(_ context.Context, j step.Job) error {
		w, err := j.Create("out", "x")
		if err != nil {
			return err
		}
		defer w.Close()
		return j.Journal(func(line []byte) error { seen = append(seen, j.Step().Name+" "+string(line)); return nil })
	})
	f.run(a, b)
	if !slices.Equal(seen, []string{"measure/a one"}) {
		t.Errorf("journal gave %v", seen)
	}
}

// What the plan says will run is what runs; a preview writes nothing. Random
// graphs with steps that ignore their inputs, so that cut-offs occur.
func TestPlanIsWhatRuns(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := setup(t)
		steps := make([]step.Step, 1+rng.IntN(10))
		for i := range steps {
			var from []string
			for j := range i {
				if rng.IntN(4) == 0 {
					from = append(from, steps[j].Name)
				}
			}
			steps[i] = mk(fmt.Sprintf("score/%02d", i), rng.IntN(2) == 0, from...)
			if i%3 == 2 {
				f.w.say[steps[i].Name] = "constant"
			}
		}
		for round := range 3 {
			if round > 0 {
				at := rng.IntN(len(steps))
				steps[at].Params = json.RawMessage(fmt.Sprintf(`{"round":%d,"at":%d}`, round, at))
			}
			f.comparePlanWithRun(seed, steps)
		}
	}
}

func (f *fixture) comparePlanWithRun(seed uint64, steps []step.Step) {
	f.t.Helper()
	p, err := plan.New(steps)
	if err != nil {
		f.t.Fatal(err)
	}
	rows, err := f.e.Preview(p)
	if err != nil {
		f.t.Fatal(err)
	}
	if len(f.w.take()) > 0 {
		f.t.Fatal("a preview ran something")
	}
	f.run(steps...)
	ran := f.w.take()
	for _, r := range rows {
		did := slices.Contains(ran, r.Name)
		if r.Forecast == WillRun && !did || r.Forecast == WillHit && did {
			f.t.Errorf("seed %d: %s: plan says %s, ran: %v", seed, r.Name, r.Forecast, did)
		}
	}
	for _, name := range ran {
		if fc := rows[p.Index(name)].Forecast; fc != WillRun && fc != WillWait {
			f.t.Errorf("seed %d: %s ran, plan said %s", seed, name, fc)
		}
	}
}

func TestExplain(t *testing.T) {
	f := setup(t)
	gen, score := mk("measure/a", false), mk("score/a", true, "measure/a")
	f.run(gen, score)
	score.Params = json.RawMessage(`{"of":"score/a","scorers":{"numeric":{"tol":0.5}}}`)
	p, err := plan.New([]step.Step{gen, score})
	if err != nil {
		t.Fatal(err)
	}
	ex, err := f.e.Explain(p, "score/a")
	if err != nil || len(ex) != 1 {
		t.Fatalf("%v %v", ex, err)
	}
	want := []Difference{{Path: "/params/scorers", Was: "", Is: `{"numeric":{"tol":0.5}}`}}
	if !slices.Equal(ex[0].Changes, want) || ex[0].Forecast != WillRun {
		t.Errorf("got %+v", ex[0])
	}
	if _, err := f.e.Explain(p, "score/b"); err == nil {
		t.Error("an unknown step is explained")
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	dir := t.TempDir()
	f := &fixture{t, newWorld(), &Engine{Store: open(t, dir), Runners: map[string]step.Runner{}}}
	other := open(t, dir)
	gen := mk("measure/a", false)
	gen.Resources = []string{"endpoint:x"}
	p, err := plan.New([]step.Step{gen})
	if err != nil {
		t.Fatal(err)
	}
	f.e.Runners["k"] = step.RunnerFunc(func(ctx context.Context, j step.Job) error {
		second := &Engine{Store: other, Runners: map[string]step.Runner{"k": f.w}}
		out, err := second.Run(ctx, p)
		if err != nil {
			return err
		}
		if msg := fmt.Sprint(out.Results[0].Err); out.Results[0].State != Failed || !strings.Contains(msg, "in use") {
			t.Errorf("second run: %s %s", out.Results[0].State, msg)
		}
		w, err := j.Create("out", "x")
		if err != nil {
			return err
		}
		return w.Close()
	})
	f.states(f.run(gen), Done)
	f.ran()
}

// A step behind others waits until they have ended, well or not, and runs all
// the same; rank orders what may run, before names do.
func TestBehindAndRank(t *testing.T) {
	f := setup(t)
	f.w.errs["preflight/b"] = errors.New("no route")
	pre := []step.Step{mk("preflight/a", false), mk("preflight/b", false)}
	late := mk("measure/a", false)
	late.Resources, late.Rank = []string{"endpoint"}, 2
	early := mk("measure/z", false)
	early.Resources, early.Rank = []string{"endpoint"}, 1
	for _, s := range []*step.Step{&late, &early} {
		s.Behind = []string{"preflight/a", "preflight/b"}
	}
	var order []string
	f.e.OnEvent = func(ev Event) {
		if ev.State == "running" {
			order = append(order, ev.Step)
		}
	}
	out := f.run(append(pre, late, early)...)
	f.states(out, Done, Failed, Done, Done)
	if i, j := slices.Index(order, "measure/z"), slices.Index(order, "measure/a"); i < 2 || j != i+1 {
		t.Errorf("order %v", order)
	}
}
