package score

import (
	"errors"
	"fmt"
	"sync"
)

// giveUp is how often a program may fail in a row before it is not started
// again: a broken program would otherwise be started for every answer.
const giveUp = 3

// asked is a program that answers line by line, started when it is first
// asked and again after it failed. It is safe for concurrent use.
type asked struct {
	program Program
	mu      sync.Mutex
	session Session
	failed  int   // in a row
	last    error // why it failed
}

func (a *asked) ask(run *programs, line []byte) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed >= giveUp {
		return nil, fmt.Errorf("the program failed %d times in a row and is not started again: %w", a.failed, a.last)
	}
	answer, err := a.try(run, line)
	if err == nil {
		a.failed = 0
		return answer, nil
	}
	a.failed++
	a.last = err
	return nil, errors.Join(err, a.end())
}

func (a *asked) try(run *programs, line []byte) ([]byte, error) {
	if a.session == nil {
		s, err := run.open(a.program)
		if err != nil {
			return nil, err
		}
		a.session = s
	}
	return run.ask(a.session, line)
}

func (a *asked) end() error {
	if a.session == nil {
		return nil
	}
	err := a.session.Close()
	a.session = nil
	return err
}

func (a *asked) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.end()
}
