package store

import (
	"os"
	"sync"
)

// segment is the file that one attempt appends to.
//
//	0 <= synced <= written; bytes before synced survive a power failure.
type segment struct {
	d  *disk
	f  *os.File
	id segmentID

	mu      sync.Mutex
	turn    *sync.Cond // signalled when a sync has ended
	written int64
	synced  int64
	syncing bool
	err     error // of the first failed sync or close; final
}

func newSegment(d *disk, f *os.File, id segmentID) *segment {
	s := &segment{d: d, f: f, id: id}
	s.turn = sync.NewCond(&s.mu)
	return s
}

// write appends the frame of line and returns where it ends.
func (s *segment) write(line []byte) (end int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	frame := s.id.appendFrame(make([]byte, 0, frameRoom+len(line)), s.written, line)
	if _, err := s.d.write(s.f, frame); err != nil {
		return 0, err
	}
	s.written += int64(len(frame))
	return s.written, nil
}

// syncTo returns when all bytes before end are durable. One caller syncs for
// everything written so far; who comes meanwhile waits and is mostly covered
// by the next one.
func (s *segment) syncTo(end int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.synced < end && s.err == nil {
		if s.syncing {
			s.turn.Wait()
			continue
		}
		s.syncing = true
		upTo := s.written
		s.mu.Unlock()
		err := s.d.sync(s.f)
		s.mu.Lock()
		s.syncing = false
		if err != nil {
			s.err = err
		} else {
			s.synced = upTo
		}
		s.turn.Broadcast()
	}
	if s.synced >= end {
		return nil
	}
	return s.err
}

// close syncs what callers may still be waiting for and closes the file, once.
func (s *segment) close() {
	s.mu.Lock()
	end := s.written
	s.mu.Unlock()
	_ = s.syncTo(end) // each waiter gets the error itself
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.syncing {
		s.turn.Wait()
	}
	if s.err == nil {
		s.err = os.ErrClosed
	}
	s.f.Close()
}
