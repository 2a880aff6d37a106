// Package serve runs the user's own commands around the steps of a candidate:
// start, wait until it is ready, stop, and put back what was found.
//
// The commands are the user's; this package knows when to call them, keeps what
// they say, and never guesses. What it has started is written down first, so
// that a run that was killed can be cleaned up after by the next.
package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Server is one candidate with commands.
type Server struct {
	Candidate string
	Start     []string      // argument vectors: no shell is in between
	Stop      []string      // empty: the processes of Start are ended
	Timeout   time.Duration // until it must be ready

	Address    string   // of its endpoint, host and port
	Host       string   // on which it runs; all spellings of loopback are one
	GPUs       []string // empty = not known
	CoResident bool     // may run beside others on the same GPUs

	// Look returns nil when the endpoint is ready and lists the candidate's
	// model, an error that wraps step.ErrUnreachable when nothing answers, and
	// one that wraps step.ErrOutside when something else does.
	Look func(context.Context) error
}

// Log is where a run keeps what servers say; exec.SessionLog is one.
type Log interface {
	Creator
	Note(format string, args ...any)
}

// Ledger keeps durably what was started and stopped and is not settled yet.
type Ledger interface {
	Put(candidate string, entry []byte) error
	Remove(candidate string) error
	All() (map[string][]byte, error)
}

// Hooks are the servers of a campaign. Its methods are those of exec.Sessions.
type Hooks struct {
	Servers  map[string]Server // by candidate
	Campaign string
	Dir      string   // in which commands run: that of the campaign file
	Environ  []string // of commands, beside CUPEL_*
	Secrets  []string // values that no text shows
	Ledger   Ledger
	// Lease takes a resource of this machine from other runs, or says who has it.
	Lease func(resource string) (release func(), err error)
	// Grace is how long a process may take to end; 0 = 30 s.
	Grace time.Duration

	mu        sync.Mutex
	up        map[string]*instance // what is open, being opened or closed
	displaced map[string]bool      // found running and stopped to make room
	aborted   bool
}

// instance is one server that is up, or about to be.
type instance struct {
	server  Server
	process *process // nil = it was found running
	stays   bool     // it is left running: it was found so
	release func()
	once    sync.Once
	stopErr error
}

// Excludes reports whether two candidates cannot be up together: they have GPUs
// in common, may have as far as anybody said, or have one address. Either may be
// declared to be co-resident.
func (h *Hooks) Excludes(a, b string) bool {
	x, y := h.Servers[a], h.Servers[b]
	return a != b && Excludes(x, y)
}

// Excludes is Hooks.Excludes of two servers.
func Excludes(x, y Server) bool {
	switch {
	case x.CoResident || y.CoResident || x.Host != y.Host:
		return false
	case x.Address == y.Address || len(x.GPUs) == 0 || len(y.GPUs) == 0 || mixed(x.GPUs, y.GPUs):
		return true
	}
	return slices.ContainsFunc(x.GPUs, func(g string) bool { return slices.Contains(y.GPUs, g) })
}

// mixed reports whether some GPUs are named by index and others by UUID, so that
// nobody can tell which are the same.
func mixed(a, b []string) bool {
	index := 0
	for _, g := range slices.Concat(a, b) {
		if len(g) <= 3 {
			index++
		}
	}
	return index != 0 && index != len(a)+len(b)
}

// Exclusive lists the candidates that some other candidate excludes, sorted.
func (h *Hooks) Exclusive() (out []string) {
	for _, a := range slices.Sorted(maps.Keys(h.Servers)) {
		for b := range h.Servers {
			if h.Excludes(a, b) {
				out = append(out, a)
				break
			}
		}
	}
	return out
}

// Beside lists the other candidates on the same GPUs that are open beside
// candidate, sorted: those that are allowed to be.
func (h *Hooks) Beside(candidate string) (out []string) {
	me, ok := h.Servers[candidate]
	if !ok {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	alone := me
	alone.CoResident = false
	for _, name := range slices.Sorted(maps.Keys(h.up)) {
		other := h.Servers[name]
		other.CoResident = false
		if name != candidate && Excludes(alone, other) {
			out = append(out, name)
		}
	}
	return out
}

// lease takes the endpoint and, unless it shares them, the GPUs of a server.
func (h *Hooks) lease(s Server) (func(), error) {
	wanted := []string{"serve " + s.Address}
	if !s.CoResident {
		for _, g := range s.GPUs {
			wanted = append(wanted, "gpu "+s.Host+" "+g)
		}
	}
	var held []func()
	release := func() {
		for _, f := range held {
			f()
		}
	}
	for _, res := range wanted {
		f, err := h.Lease(res)
		if err != nil {
			release()
			return nil, step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("candidate %s: %w", s.Candidate, err)), "wait for the other run to end")
		}
		held = append(held, f)
	}
	return release, nil
}

func (h *Hooks) grace() time.Duration {
	if h.Grace > 0 {
		return h.Grace
	}
	return 30 * time.Second
}

func (h *Hooks) put(name string, in *instance) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up == nil {
		h.up, h.displaced = map[string]*instance{}, map[string]bool{}
	}
	h.up[name] = in
}

func (h *Hooks) take(name string) *instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up[name]
}

func (h *Hooks) drop(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.up, name)
}

// keep says whether a server stays up when it is closed.
func (h *Hooks) keep(in *instance, stays bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in.stays = stays
}

func (h *Hooks) isDisplaced(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.displaced[name]
}

func (h *Hooks) displace(name string, yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.displaced == nil {
		h.displaced = map[string]bool{}
	}
	if yes {
		h.displaced[name] = true
	} else {
		delete(h.displaced, name)
	}
}

// outside makes err a failure of the outside, which is no result.
func outside(err error) error { return step.Mark(step.ErrOutside, err) }

// down reports whether a look says that nothing answers.
func down(err error) bool { return errors.Is(err, step.ErrUnreachable) }
