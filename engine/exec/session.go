package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// Sessions opens and closes what steps need outside while they run; see
// step.Step.Session. A session is opened when the first step that needs it has
// to run, stays open while further ones may come, and is closed once for each
// time that it was opened, however the run ends. Two sessions that exclude each
// other are never open together.
//
// Open, Close and Finish may take long and are called from goroutines of their
// own, Open and Close of different sessions at the same time.
type Sessions interface {
	// Excludes reports whether two sessions cannot be open together. It is
	// symmetric and always says the same.
	Excludes(a, b string) bool
	// Open returns when the session can be used, with what is to be kept about
	// it, or leaves nothing open and returns an error: *step.Unavailable when
	// that is a result. When ctx is cancelled it gives up.
	Open(ctx context.Context, name string, log SessionLog) ([]step.Attachment, error)
	// Close ends what Open began.
	Close(name string, log SessionLog) error
	// Explain adds to the error of a step that used an open session what is
	// known of it, such as that it ended by itself.
	Explain(name string, err error) error
	// Finish is called once, when all sessions are closed and none will be
	// opened: it puts back what Open had to change for others.
	Finish(log SessionLog) error
}

// SessionLog is where a session says what happens to it.
type SessionLog interface {
	// Create begins a file of the run. Of very long texts the end is kept.
	Create(name string) (io.WriteCloser, error)
	// File is Create for what is written by a process that outlives this one.
	// Its length is not bounded.
	File(name string) (*os.File, error)
	// Note tells the person who waits.
	Note(format string, args ...any)
}

// transition is the end of an Open, a Close or a Finish.
type transition struct {
	name     string // "" = Finish
	opening  bool
	attached []step.Attachment
	err      error
	took     time.Duration
}

// sessionLog tells the owner, as workers do.
type sessionLog struct {
	r    *run
	name string
	mute bool // nobody listens any more
}

func (l sessionLog) Create(name string) (io.WriteCloser, error) { return l.r.log.CreateLog(name) }
func (l sessionLog) File(name string) (*os.File, error)         { return l.r.log.LogFile(name) }

func (l sessionLog) Note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	l.r.log.Logf("%s", note)
	if !l.mute {
		l.r.messages <- message{ev: &Event{Session: l.name, State: "note", Note: note}}
	}
}

// Opens lists the sessions that a run would open, in the order of the plan:
// those of steps that are not in the store, when observing steps see what they
// saw last. It writes nothing.
func (e *Engine) Opens(p *plan.Plan) []string {
	known, unknown := map[string]*settled{}, map[string]bool{}
	var out []string
	for _, s := range p.Steps {
		if waitsOn(s, unknown) == "" || e.mode(s) != full {
			w, end := e.resolve(s, func(n string) *settled { return knownOr(known, n) })
			if end == nil && e.standsOnLast(w) {
				end = serve(w.key, w.stale, "")
			}
			if end != nil {
				known[s.Name] = end
				continue
			}
		}
		unknown[s.Name] = true
		if s.Session != "" && !slices.Contains(out, s.Session) {
			out = append(out, s.Session)
		}
	}
	return out
}

// standsOnLast reports whether an observing step may stand on what it saw last
// when nothing else needs its session. A refusal is always looked at again.
func (e *Engine) standsOnLast(w work) bool {
	return w.s.Observes && w.stale != nil && w.stale.Outcome == store.Done && !e.refresh(w.s.Name)
}

// wants is the session that must be open while w runs, "" = none. A step that
// only observes opens nothing for its own sake: it would start a server to learn
// that everything is in the store.
func (r *run) wants(w work) string {
	if r.e.Sessions == nil || !slices.Contains(r.opens, w.s.Session) && r.e.standsOnLast(w) {
		return ""
	}
	return w.s.Session
}

// admits reports whether the session of w, if it needs one, is there to be used,
// and begins to open it when that is possible. What cannot be opened is no
// reason to wait.
func (r *run) admits(ctx context.Context, w work) bool {
	name := r.wants(w)
	if name == "" {
		return r.sessions == nil || w.s.Session == "" || r.sessions.still(w.s.Session)
	}
	if r.sessions.opens(name) {
		r.openSession(ctx, name)
		return false
	}
	st := r.sessions.state[name]
	return st == isOpen || st == isBroken
}

func (r *run) openSession(ctx context.Context, name string) {
	r.emit(Event{Session: name, State: "opening"})
	r.move(name, true, func() ([]step.Attachment, error) {
		return r.e.Sessions.Open(ctx, name, sessionLog{r: r, name: name})
	})
}

func (r *run) closeSession(name string) {
	r.emit(Event{Session: name, State: "closing"})
	r.move(name, false, func() ([]step.Attachment, error) {
		return nil, r.e.Sessions.Close(name, sessionLog{r: r, name: name})
	})
}

// move runs f beside the owner. It counts as work: a timing cell does not run
// while a server is loading its model.
func (r *run) move(name string, opening bool, f func() ([]step.Attachment, error)) {
	r.running++
	if name != "" {
		r.sessions.state[name] = isMoving
	}
	go func() {
		began := r.e.now()
		t := transition{name: name, opening: opening}
		defer func() {
			if p := recover(); p != nil {
				t.err = fmt.Errorf("session %s: internal error: %v", name, p)
			}
			t.took = r.e.now().Sub(began)
			r.messages <- message{moved: &t}
		}()
		t.attached, t.err = f()
	}()
}

// moved takes note of the end of a transition.
func (r *run) moved(t *transition) {
	r.running--
	switch {
	case t.opening && t.err == nil:
		r.sessions.state[t.name] = isOpen
		r.attached[t.name] = t.attached
		r.emit(Event{Session: t.name, State: "open", Seconds: t.took.Seconds()})
		return
	case t.opening:
		r.sessions.state[t.name] = isBroken
		r.broken[t.name] = t.err
		return // the steps that need it say so
	case t.name != "":
		r.sessions.state[t.name] = isClosed
		r.emit(Event{Session: t.name, State: "closed", Seconds: t.took.Seconds()})
	}
	if t.err != nil {
		r.sessionErrs = append(r.sessionErrs, t.err)
		r.emit(Event{Session: t.name, State: "note", Note: t.err.Error()})
	}
}

// giveUp closes sessions that are of no use: those that no step needs any more
// and, when nothing else can be done, those that the first step which could run
// excludes. Each such switch settles at least that step, so a run ends.
func (r *run) giveUp() {
	if r.quiet {
		return
	}
	for _, name := range r.sessions.done() {
		r.closeSession(name)
	}
	if r.running > 0 || len(r.pending) == 0 {
		return
	}
	for _, name := range r.sessions.inTheWay(r.wants(r.pending[0])) {
		r.closeSession(name)
	}
}

// shut closes what is open and puts back what was changed, once nothing runs.
func (r *run) shut() {
	if r.e.Sessions == nil {
		return
	}
	for _, name := range r.sessions.opened() {
		r.closeSession(name)
	}
	r.drain()
	r.move("", false, func() ([]step.Attachment, error) {
		return nil, r.e.Sessions.Finish(sessionLog{r: r})
	})
	r.drain()
}

func (r *run) drain() {
	for r.running > 0 {
		r.handle(<-r.messages)
	}
}

// abandon is shut when the owner itself has failed and listens to nobody.
func (r *run) abandon() {
	for _, name := range r.sessions.opened() {
		_ = r.e.Sessions.Close(name, sessionLog{r: r, name: name, mute: true})
	}
	_ = r.e.Sessions.Finish(sessionLog{r: r, mute: true})
}

// attach adds to an observing step's outputs what is to be kept about its
// session.
func attach(j *job, attached []step.Attachment) error {
	for _, a := range attached {
		if err := step.Write(j, a.Output, a.MediaType, a.Content); err != nil {
			return err
		}
	}
	return nil
}

// carried adds to the outputs of an observation for which its session was not
// opened what was attached when it last was.
func carried(w work, outs []store.Output) []store.Output {
	if !w.s.Observes || w.s.Session == "" || w.session != "" || w.stale == nil || w.stale.Outcome != store.Done {
		return outs
	}
	for _, o := range w.stale.Outputs {
		if !slices.ContainsFunc(outs, func(x store.Output) bool { return x.Name == o.Name }) {
			outs = append(outs, o)
		}
	}
	slices.SortFunc(outs, byName)
	return outs
}

// unavailable settles a step whose session could not be opened: for a step that
// observes, a session that does not open is what there is to see.
func (r *run) unavailable(w work, began time.Time) *settled {
	var u *step.Unavailable
	if !w.s.Observes || !errors.As(w.broken, &u) {
		return &settled{state: Failed, key: w.key, err: fmt.Errorf("%s: %w", w.s.Name, w.broken)}
	}
	j, err := r.newJob(w)
	if err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	j.Refuse(u.Reason)
	err = attach(j, u.Attached)
	outs := j.finish()
	if err := errors.Join(err, j.err()); err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	return r.record(w, j, outs, began)
}
