package exec

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// run is one execution of a plan. All fields belong to the owner goroutine;
// workers talk to it through messages.
type run struct {
	e      *Engine
	p      *plan.Plan
	log    *store.Run
	logErr error

	settled map[string]*settled
	took    map[string]time.Duration
	waits   map[string]int      // needs that are not settled yet
	users   map[string][]string // step -> steps that need it
	ready   []string            // needs settled, not yet looked up; plan order
	pending []work              // looked up, has to run; plan order

	running  int // workers
	plain    int // of those, without resources
	quiet    bool
	held     map[string]bool
	messages chan message

	lastProgress map[string]time.Time
	interrupted  bool

	opens       []string // sessions that something which is not in the store needs
	sessions    *schedule
	attached    map[string][]step.Attachment // of sessions that were opened
	broken      map[string]error             // why sessions could not be opened
	sessionErrs []error                      // of closing and putting back
}

// work is a step that has to run.
type work struct {
	s     step.Step
	pre   step.Preimage
	key   step.Key
	why   string
	stale *store.Record

	session  string // that is open for it, "" = none
	attached []step.Attachment
	broken   error // why its session is not open
}

// message is what a worker tells the owner: an event, the end of a step, or that
// of opening or closing a session.
type message struct {
	ev   *Event
	w    work
	end  *settled
	took time.Duration

	moved *transition
}

func newRun(e *Engine, p *plan.Plan, log *store.Run) *run {
	r := &run{
		e: e, p: p, log: log,
		settled: map[string]*settled{}, took: map[string]time.Duration{},
		waits: map[string]int{}, users: map[string][]string{},
		held: map[string]bool{}, messages: make(chan message),
		lastProgress: map[string]time.Time{},
		attached:     map[string][]step.Attachment{}, broken: map[string]error{},
	}
	if e.Sessions != nil {
		r.sessions, r.opens = newSchedule(e.Sessions.Excludes), e.Opens(p)
	}
	for _, s := range p.Steps {
		needs := plan.Needs(s)
		r.waits[s.Name] = len(needs)
		if r.sessions != nil && s.Session != "" {
			r.sessions.left[s.Session]++
		}
		for _, n := range needs {
			r.users[n] = append(r.users[n], s.Name)
		}
		if len(needs) == 0 {
			r.ready = append(r.ready, s.Name)
		}
	}
	return r
}

// loop is the owner: it looks up what is ready, starts what may start, and
// waits for a worker when there is nothing else to do.
func (r *run) loop(ctx context.Context) {
	stop := ctx.Done()
	for {
		for len(r.ready) > 0 && !r.interrupted {
			name := r.ready[0]
			r.ready = r.ready[1:]
			r.resolve(name)
		}
		if !r.interrupted {
			r.start(ctx)
		}
		if r.running == 0 {
			return
		}
		select {
		case m := <-r.messages:
			r.handle(m)
		case <-stop:
			r.interrupted = true
			stop = nil
			r.emit(Event{State: "note", Note: "interrupted: finishing what is in flight"})
		}
		if ctx.Err() != nil {
			r.interrupted = true
		}
	}
}

// resolve decides one step whose needs are settled.
func (r *run) resolve(name string) {
	s, _ := r.p.Step(name)
	w, end := r.e.resolve(s, func(n string) *settled { return r.settled[n] })
	if end != nil {
		r.settle(s, end, 0)
		return
	}
	i, _ := slices.BinarySearchFunc(r.pending, w, func(a, b work) int { return r.p.Index(a.s.Name) - r.p.Index(b.s.Name) })
	r.pending = slices.Insert(r.pending, i, w)
}

// resolve computes the key of s and looks it up: either it is settled, or it
// is work. `cupel plan` calls it as well.
func (e *Engine) resolve(s step.Step, done func(string) *settled) (work, *settled) {
	if e.mode(s) == leave {
		return work{}, &settled{state: Left, reason: "not asked for"}
	}
	digests, end := gather(s, done)
	if end != nil {
		return work{}, end
	}
	pre, err := step.NewPreimage(s, digests)
	if err != nil {
		return work{}, &settled{state: Failed, err: err}
	}
	key, err := pre.Key()
	if err != nil {
		return work{}, &settled{state: Failed, err: err}
	}
	f := e.lookup(s, key)
	switch {
	case f.err != nil:
		return work{}, &settled{state: Failed, key: key, err: f.err}
	case f.record != nil:
		return work{}, serve(key, f.record, "")
	case e.mode(s) == cacheOnly:
		return work{}, &settled{state: Failed, key: key, err: step.WithHint(errNotCached(s), "run without --from and --only first")}
	case e.Offline && !s.Pure:
		return work{}, &settled{state: Failed, key: key, err: step.WithHint(errNotCached(s), "run without --offline")}
	}
	return work{s: s, pre: pre, key: key, why: f.why, stale: f.stale}, nil
}

// serve settles a step from a record.
func serve(key step.Key, rec *store.Record, reason string) *settled {
	if rec.Outcome == store.Refused {
		return &settled{state: Refused, key: key, reason: rec.Reason, outputs: rec.Outputs}
	}
	return &settled{state: Cached, key: key, reason: reason, outputs: rec.Outputs}
}

// start starts every pending step that may run beside those that run already.
func (r *run) start(ctx context.Context) {
	if r.sessions != nil {
		defer r.giveUp()
	}
	r.pending = slices.DeleteFunc(r.pending, func(w work) bool {
		if !r.fits(w) || !r.admits(ctx, w) {
			return false
		}
		r.running++
		if w.session = r.wants(w); w.session != "" {
			r.sessions.users[w.session]++
			w.attached, w.broken = r.attached[w.session], r.broken[w.session]
		} else if r.sessions != nil && w.s.Session != "" {
			r.sessions.lookers[w.s.Session]++
		}
		if len(w.s.Resources) == 0 {
			r.plain++
		}
		for _, res := range w.holds() {
			if res == step.Quiet {
				r.quiet = true
			}
			r.held[res] = true
		}
		r.emit(Event{Step: w.s.Name, State: "running", Key: keyText(w.key), Reason: w.why})
		go r.work(ctx, w)
		return true
	})
}

func (r *run) fits(w work) bool {
	s := w.s
	if r.quiet || len(s.Resources) == 0 && r.plain >= r.e.jobs() {
		return false
	}
	for _, res := range w.holds() {
		if r.held[res] || res == step.Quiet && r.running > 0 {
			return false
		}
	}
	return true
}

// holds lists what a running step keeps others from: its resources, and its
// key, since two steps with equal inputs are one piece of work.
func (w work) holds() []string { return append(slices.Clone(w.s.Resources), "key "+w.key.String()) }

func (r *run) handle(m message) {
	if m.ev != nil {
		r.emit(*m.ev)
		return
	}
	if m.moved != nil {
		r.moved(m.moved)
		return
	}
	r.running--
	if m.w.session != "" {
		r.sessions.users[m.w.session]--
	} else if r.sessions != nil && m.w.s.Session != "" {
		r.sessions.lookers[m.w.s.Session]--
	}
	if len(m.w.s.Resources) == 0 {
		r.plain--
	}
	for _, res := range m.w.holds() {
		if res == step.Quiet {
			r.quiet = false
		}
		delete(r.held, res)
	}
	r.settle(m.w.s, m.end, m.took)
}

// settle writes down what became of a step and wakes those that need it.
func (r *run) settle(s step.Step, end *settled, took time.Duration) {
	r.settled[s.Name] = end
	r.took[s.Name] = took
	if r.sessions != nil && s.Session != "" {
		r.sessions.left[s.Session]--
	}
	ev := Event{Step: s.Name, State: string(end.state), Key: keyText(end.key), Reason: end.reason, Outputs: end.outputs, Seconds: took.Seconds(), Note: strings.Join(end.notes, "; ")}
	if end.err != nil {
		ev.Error = end.err.Error()
		r.quarantineDamaged(end)
	}
	r.emit(ev)
	for _, u := range r.users[s.Name] {
		if r.waits[u]--; r.waits[u] == 0 {
			r.ready = append(r.ready, u)
		}
	}
}

func (r *run) outcome() *Outcome {
	out := &Outcome{RunID: r.log.ID(), Interrupted: r.interrupted, SessionErrs: r.sessionErrs}
	for _, s := range r.p.Steps {
		end := r.settled[s.Name]
		if end == nil {
			end = &settled{state: Left, reason: errInterrupted.Error()}
		}
		out.Results = append(out.Results, Result{
			Step: s, State: end.state, Key: end.key, Reason: end.reason,
			Outputs: end.outputs, Err: end.err, Took: r.took[s.Name],
		})
	}
	return out
}
