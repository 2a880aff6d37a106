package step

import (
	"errors"
	"fmt"
)

// ErrNoInput is returned by Job.Open for an absent optional input, and by
// Earlier.Open for an absent output.
var ErrNoInput = errors.New("input is absent")

// ErrUnreachable marks that the outside world could not be looked at (no
// binding, connection refused, time-out). An observing step that fails so may
// be answered from its last observation.
var ErrUnreachable = errors.New("unreachable")

// ErrOutside marks a failure of the outside: an endpoint that answers wrongly,
// a meter that died. It is never a result and never cached; exit code 4.
var ErrOutside = errors.New("outside failure")

// Drift is returned by a runner whose observed identity changed while it
// measured: its outputs are kept as evidence, and not stored under the key.
type Drift struct {
	Before, After string // what was observed, as short sentences or digests
}

// Error says what changed.
func (d *Drift) Error() string {
	return fmt.Sprintf("the endpoint's identity changed while it was measured: before %s, after %s", d.Before, d.After)
}

// Is makes a Drift an ErrOutside.
func (d *Drift) Is(target error) bool { return target == ErrOutside }

// Hint adds what to do to an error. It prints as "message; hint".
type Hint struct {
	Err  error
	Todo string
}

// WithHint wraps err with an instruction. A nil err stays nil.
func WithHint(err error, todo string) error {
	if err == nil {
		return nil
	}
	return &Hint{Err: err, Todo: todo}
}

func (h *Hint) Error() string { return h.Err.Error() + "; " + h.Todo }
func (h *Hint) Unwrap() error { return h.Err }

// Mark makes errors.Is(err, sentinel) true without changing what err says: the
// class is for the program, the words are for people.
func Mark(sentinel, err error) error {
	if err == nil {
		return nil
	}
	return &marked{sentinel, err}
}

type marked struct{ sentinel, err error }

func (m *marked) Error() string   { return m.err.Error() }
func (m *marked) Unwrap() []error { return []error{m.sentinel, m.err} }
