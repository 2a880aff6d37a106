// Package exec runs a plan on this machine: it looks steps up in the store,
// runs those that miss, one owner goroutine deciding and workers running, and
// records what came out.
//
//	waiting ── needs settled ──▶ looked up ── hit ───────────▶ cached
//	   │                            │
//	   │                            └─ miss ─▶ pending ─▶ running ─▶ done
//	   │                                                        ├──▶ refused (a negative result, recorded)
//	   │                                                        └──▶ failed  (not done: nothing recorded)
//	   ├─ a needed step was refused ─▶ skipped
//	   └─ a needed step failed      ─▶ blocked
package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// State is what became of a step in one run.
type State string

// The states in which a step can end.
const (
	Cached  State = "cached"  // its outputs were there
	Done    State = "done"    // it ran
	Refused State = "refused" // it ran (or was cached) and its result is negative
	Skipped State = "skipped" // a step it needs was refused
	Blocked State = "blocked" // a step it needs failed
	Failed  State = "failed"  // it was not done; the error says why
	Left    State = "left"    // not asked for (--only), or the run was interrupted
)

// Engine runs plans. The zero value of every optional field is a sensible
// default; Store and Runners are required.
type Engine struct {
	Store   *store.Store
	Runners map[string]step.Runner // by step kind

	Jobs      int                    // steps without resources that run at once; 0 = 2
	Offline   bool                   // never look at the outside world
	Remeasure bool                   // a damaged measurement is measured again instead of stopping the run
	Refresh   []string               // globs of step names that run although they are cached
	Only      string                 // run this stage alone, from cached outputs of the ones before
	From      string                 // serve stages before this one from the cache without looking
	Version   string                 // cupel's version, for the record
	Host      string                 // for the record
	Now       func() time.Time       // nil = time.Now; for records and events, never for results
	OnEvent   func(Event)            // called by one goroutine at a time
	OnWait    func(step, who string) // another process works on the same step
	// Unseal opens a sealed input for a run; nil = there are none. What it
	// returns is compared with the input's digest while it is read.
	Unseal func(run string, in step.Input) (io.ReadCloser, error)
	// Sessions open what steps need outside while they run; nil = nobody does,
	// and steps use what they find.
	Sessions Sessions
}

// Result is what became of one step.
type Result struct {
	Step    step.Step
	State   State
	Key     step.Key // zero when its inputs never became known
	Reason  string   // why it ran, was skipped, refused, or is blocked
	Outputs []store.Output
	Err     error // of a failed step
	Took    time.Duration
}

// Outcome is what became of a run.
type Outcome struct {
	RunID       string
	Results     []Result // in plan order
	Interrupted bool
	SessionErrs []error // sessions that could not be closed or put back: something was left outside
}

// Output returns the digest of a step's output.
func (o *Outcome) Output(stepName, output string) (step.Digest, bool) {
	for _, r := range o.Results {
		if r.Step.Name != stepName {
			continue
		}
		for _, out := range r.Outputs {
			if out.Name == output {
				return out.Digest, true
			}
		}
	}
	return step.Digest{}, false
}

// Count returns how many steps ended in a state.
func (o *Outcome) Count(s State) int {
	n := 0
	for _, r := range o.Results {
		if r.State == s {
			n++
		}
	}
	return n
}

// Failures are the failed steps, in plan order.
func (o *Outcome) Failures() []Result {
	return slices.DeleteFunc(slices.Clone(o.Results), func(r Result) bool { return r.State != Failed })
}

// Run runs a plan. The error is about the run itself (the store cannot be
// written); what became of each step is in the outcome. When ctx is cancelled
// no further step starts, and those that run are given the chance to end.
func (e *Engine) Run(ctx context.Context, p *plan.Plan) (*Outcome, error) {
	if err := e.Check(p); err != nil {
		return nil, err
	}
	log, err := e.Store.NewRun(e.now())
	if err != nil {
		return nil, err
	}
	r := newRun(e, p, log)
	defer log.Close()
	r.emit(Event{State: "start", Note: fmt.Sprintf("%d steps", len(p.Steps))})
	ended := false
	defer func() {
		if !ended && e.Sessions != nil {
			r.abandon() // this goroutine is panicking; nothing may be left running
		}
	}()
	r.loop(ctx)
	r.shut()
	ended = true
	out := r.outcome()
	r.emit(Event{State: "end", Note: summary(out)})
	return out, r.logErr
}

// Check says what is wrong with the engine's options for a plan: usage, not the
// outside.
func (e *Engine) Check(p *plan.Plan) error {
	for _, s := range p.Steps {
		if e.Runners[s.Kind] == nil {
			return fmt.Errorf("step %s: nothing here runs steps of kind %q", s.Name, s.Kind)
		}
	}
	if e.Jobs < 0 {
		return fmt.Errorf("--jobs %d: want 1 or more", e.Jobs)
	}
	for _, stage := range []string{e.Only, e.From} {
		if stage != "" && !slices.Contains(plan.Stages, stage) {
			return fmt.Errorf("no stage is called %q; the stages are %s", stage, strings.Join(plan.Stages, ", "))
		}
	}
	for _, g := range e.Refresh {
		if _, err := path.Match(g, ""); err != nil {
			return fmt.Errorf("--refresh %q is not a pattern: %w", g, err)
		}
		if !slices.ContainsFunc(p.Steps, func(s step.Step) bool { return matches(g, s.Name) }) {
			return fmt.Errorf("--refresh %q matches no step of this campaign", g)
		}
	}
	return nil
}

// matches reports whether the pattern matches the name or a folder above it:
// "measure/fp8" matches "measure/fp8/support/generate".
func matches(glob, name string) bool {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if ok, _ := path.Match(glob, name[:i]); ok {
			return true
		}
	}
	return false
}

func (e *Engine) refresh(name string) bool {
	return slices.ContainsFunc(e.Refresh, func(g string) bool { return matches(g, name) })
}

// mode says how far a step may go under --only and --from.
type mode int

const (
	full      mode = iota // look up, run when missing
	cacheOnly             // look up; a miss is an error
	leave                 // not at all
)

func (e *Engine) mode(s step.Step) mode {
	at := slices.Index(plan.Stages, s.Stage())
	if e.Only != "" {
		switch only := slices.Index(plan.Stages, e.Only); {
		case at < only:
			return cacheOnly
		case at > only:
			return leave
		}
	}
	if e.From != "" && at < slices.Index(plan.Stages, e.From) {
		return cacheOnly
	}
	return full
}

func (e *Engine) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

func (e *Engine) jobs() int {
	if e.Jobs > 0 {
		return e.Jobs
	}
	return 2
}

func summary(o *Outcome) string {
	var parts []string
	for _, s := range []State{Cached, Done, Refused, Skipped, Blocked, Failed, Left} {
		if n := o.Count(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

var errInterrupted = errors.New("interrupted")
