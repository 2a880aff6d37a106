package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// keyLocks excludes the goroutines of this process; flock the other processes.
type keyLocks struct {
	mu sync.Mutex
	m  map[step.Key]*keyLock
}

type keyLock struct {
	held  chan struct{} // capacity 1
	users int           // holder and waiters
}

func (ls *keyLocks) get(k step.Key) *keyLock {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.m == nil {
		ls.m = map[step.Key]*keyLock{}
	}
	l := ls.m[k]
	if l == nil {
		l = &keyLock{held: make(chan struct{}, 1)}
		ls.m[k] = l
	}
	l.users++
	return l
}

func (ls *keyLocks) put(k step.Key, l *keyLock) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(ls.m, k)
	}
}

// LockKey excludes everyone else, in this and in other processes, from
// executing the step with this key. It waits until ctx is done; when it has to
// wait, it calls onWait, unless nil, once with the holder. The caller looks the
// key up again after it got the lock, and calls unlock, which may be repeated.
// Memory is ordered between holders of one Store only; two Stores of a process
// share nothing but the files.
func (s *Store) LockKey(ctx context.Context, key step.Key, onWait func(Owner)) (unlock func(), err error) {
	path := s.path("locks", key.String())
	if s.opts.Mode == ReadOnly {
		return nil, diskError(PointLocked, path, ErrReadOnly)
	}
	var once sync.Once
	wait := func(o Owner) {
		if onWait != nil {
			once.Do(func() { onWait(o) })
		}
	}
	l := s.keyLocks.get(key)
	if err := l.acquire(ctx, func() { wait(s.owner()) }); err != nil {
		s.keyLocks.put(key, l)
		return nil, fmt.Errorf("lock of step key %s: %w", key.Short(), err)
	}
	letGo := func() { <-l.held; s.keyLocks.put(key, l) }
	f, err := s.pollFlock(ctx, path, wait)
	if err != nil {
		letGo()
		return nil, fmt.Errorf("lock of step key %s: %w", key.Short(), err)
	}
	f.sign(s.owner())
	unlock = sync.OnceFunc(func() { f.unlockAndRemove(); letGo() })
	if err := s.disk.at(PointLocked, path); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

func (l *keyLock) acquire(ctx context.Context, wait func()) error {
	select {
	case l.held <- struct{}{}:
		return nil
	default:
		wait()
	}
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Bounds of the pause between two looks at a lock of another process. flock
// can wait by itself, but then cannot be called off.
const (
	minPoll = 5 * time.Millisecond
	maxPoll = 250 * time.Millisecond
)

func (s *Store) pollFlock(ctx context.Context, path string, wait func(Owner)) (*flock, error) {
	for pause := minPoll; ; pause = min(2*pause, maxPoll) {
		f, owner, err := tryFlock(path, false)
		if f != nil || err != nil {
			return f, err
		}
		wait(owner)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
