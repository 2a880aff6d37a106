package exec

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// settled is what is known of a step once its fate is decided. `cupel plan`
// and `cupel run` decide with the same functions of this file.
type settled struct {
	state   State
	key     step.Key
	reason  string
	outputs []store.Output
	notes   []string // what the runner remarked
	err     error
}

func (s *settled) output(name string) (step.Digest, bool) {
	for _, o := range s.outputs {
		if o.Name == name {
			return o.Digest, true
		}
	}
	return step.Digest{}, false
}

// gather collects the input digests of s from what its producers left. When s
// cannot run it returns how it is settled instead.
func gather(s step.Step, done func(string) *settled) (map[string]step.Digest, *settled) {
	for _, a := range s.After {
		if stop := stopped(a, done(a)); stop != nil {
			return nil, stop
		}
	}
	digests := make(map[string]step.Digest, len(s.Inputs))
	for name, in := range s.Inputs {
		if in.Step == "" {
			digests[name] = in.Blob
			continue
		}
		from := done(in.Step)
		if d, ok := from.output(in.Output); ok {
			digests[name] = d
			continue
		}
		if from.state == Failed || from.state == Blocked || from.state == Left {
			return nil, stopped(in.Step, from)
		}
		if !in.Optional {
			return nil, &settled{state: Skipped, reason: because(in.Step, from)}
		}
	}
	return digests, nil
}

func stopped(name string, from *settled) *settled {
	switch from.state {
	case Failed, Blocked:
		return &settled{state: Blocked, reason: because(name, from)}
	case Refused, Skipped:
		return &settled{state: Skipped, reason: because(name, from)}
	case Left:
		return &settled{state: Left, reason: from.reason}
	}
	return nil
}

// because names the first cause, not the chain.
func because(name string, from *settled) string {
	switch from.state {
	case Failed:
		return name + " was not done"
	case Refused:
		return name + " was refused: " + from.reason
	case Blocked, Skipped:
		return from.reason
	}
	return name + " has no such output"
}

// found is the answer of a look-up.
type found struct {
	record *store.Record // the record to serve, nil = the step has to run
	stale  *store.Record // what may be served when the outside cannot be reached
	why    string        // why the step has to run
	err    error         // a damaged measurement
}

// lookup decides whether the records of key can stand for running s. It only
// reads; quarantine is the caller's.
func (e *Engine) lookup(s step.Step, key step.Key) found {
	records, notes := e.Store.Records(key)
	if len(records) == 0 {
		if len(notes) > 0 {
			return found{why: "its record is damaged: " + notes[0].Error(), err: e.damage(s, notes[0])}
		}
		return found{why: "not run before with these inputs"}
	}
	latest := records[len(records)-1]
	if err := e.verify(latest); err != nil {
		return found{why: err.Error(), err: e.damage(s, err)}
	}
	switch {
	case e.refresh(s.Name):
		return found{stale: &latest, why: "--refresh"}
	case e.mode(s) == cacheOnly || e.Offline:
		return found{record: &latest}
	case s.Observes:
		return found{stale: &latest, why: "looks at the outside world"}
	case latest.Outcome == store.Refused:
		return found{stale: &latest, why: "was refused before: " + latest.Reason}
	}
	return found{record: &latest}
}

// damage turns what is wrong with a record into an error where running again
// would cost something.
func (e *Engine) damage(s step.Step, err error) error {
	if s.Pure || s.Observes || e.Remeasure {
		return nil
	}
	return step.WithHint(fmt.Errorf("the stored measurement of %s is damaged: %w", s.Name, err),
		"restore the file, or measure it again with --remeasure")
}

// verifyLimit bounds what a look-up reads in full; larger outputs are verified
// while they are read.
const verifyLimit = 64 << 20

func (e *Engine) verify(r store.Record) error {
	for _, o := range r.Outputs {
		if !e.Store.Has(o.Digest) {
			return fmt.Errorf("output %s (%s): %w", o.Name, o.Digest.Short(), store.ErrMissing)
		}
		if o.Size > verifyLimit {
			continue
		}
		if err := e.Store.Verify(o.Digest); err != nil {
			return fmt.Errorf("output %s: %w", o.Name, err)
		}
	}
	return nil
}

// quarantine moves damaged objects of a key's records out of the way, so that
// nothing reads them again, and returns their digests.
func (e *Engine) quarantine(key step.Key) []step.Digest {
	records, _ := e.Store.Records(key)
	var moved []step.Digest
	for _, r := range records {
		for _, o := range r.Outputs {
			var damaged *store.Damaged
			if err := e.Store.Verify(o.Digest); errors.As(err, &damaged) {
				if e.Store.Quarantine(o.Digest) == nil {
					moved = append(moved, o.Digest)
				}
			}
		}
	}
	return moved
}
