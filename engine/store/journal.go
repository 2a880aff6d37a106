package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cupel-dev/cupel/engine/step"
)

const segmentSuffix = ".log"

// Journal is the unfinished work of one step. Each attempt appends to a segment
// of its own, made with its first line; what an earlier attempt wrote is only
// ever read. Whoever appends holds the key's lock (Store.LockKey). Append may
// be called concurrently.
type Journal struct {
	s       *Store
	key     step.Key
	dir     string
	earlier []int // numbers of the earlier attempts' segments, ascending

	mu   sync.Mutex
	next int
	cur  *segment // nil: the next Append starts one
	lost int
}

// Journal opens the journal of key. It writes nothing.
func (s *Store) Journal(key step.Key) (*Journal, error) {
	dir := s.path("journals", key.String())
	numbers, err := numbered(dir, segmentSuffix)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", key.Short(), err)
	}
	j := &Journal{s: s, key: key, dir: dir, earlier: numbers, next: 1}
	if len(numbers) > 0 {
		j.next = numbers[len(numbers)-1] + 1
	}
	return j, nil
}

// Append makes line durable before it returns. Callers that wait at the same
// time share one fsync. After a failure the line may or may not be read back,
// and the next line goes to a new segment: neither a half-written line nor a
// failed fsync can be trusted to end where it seems to.
func (j *Journal) Append(line []byte) error {
	if len(line) > MaxLine {
		return fmt.Errorf("journal of %s: a line of %d bytes is longer than %d", j.key.Short(), len(line), MaxLine)
	}
	seg, end, err := j.write(line)
	if err == nil {
		err = seg.syncTo(end)
	}
	if err != nil {
		j.abandon(seg)
		return fmt.Errorf("journal of %s: %w", j.key.Short(), err)
	}
	return nil
}

// write puts line into the current segment and returns where it ends.
func (j *Journal) write(line []byte) (*segment, int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cur == nil {
		seg, err := j.newSegment()
		if err != nil {
			return nil, 0, err
		}
		j.cur = seg
	}
	seg := j.cur
	end, err := seg.write(line)
	if err != nil {
		j.cur = nil
	}
	return seg, end, err
}

func (j *Journal) abandon(seg *segment) {
	if seg == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cur == seg {
		j.cur = nil
	}
	seg.close()
}

func (j *Journal) newSegment() (*segment, error) {
	d := j.s.disk
	if err := d.mkdirs(j.dir); err != nil {
		return nil, err
	}
	for {
		id := segmentID{key: j.key, n: j.next}
		f, err := d.appendTo(j.segmentPath(j.next))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		j.next++
		if err != nil {
			continue
		}
		if err := d.syncDir(j.dir); err != nil {
			f.Close()
			return nil, err
		}
		return newSegment(d, f, id), nil
	}
}

func (j *Journal) segmentPath(n int) string {
	return filepath.Join(j.dir, strconv.Itoa(n)+segmentSuffix)
}

// Each calls f with every sound line of earlier attempts, oldest first; f may
// keep the line. Torn and damaged lines are left out; Lost counts them. An
// error of f ends it and is returned.
func (j *Journal) Each(f func(line []byte) error) error {
	total := 0
	for _, n := range j.earlier {
		lost, err := j.s.scanSegment(j.segmentPath(n), segmentID{key: j.key, n: n}, f)
		total += lost
		if err != nil {
			return err
		}
	}
	j.mu.Lock()
	j.lost = total
	j.mu.Unlock()
	return nil
}

// Lost returns how many damaged stretches the last whole Each stepped over.
func (j *Journal) Lost() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

func (s *Store) scanSegment(path string, id segmentID, f func(line []byte) error) (lost int, err error) {
	r, size, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return id.scan(r, size, f)
}

// Remove deletes the journal, after its step was recorded. What a kill leaves
// of it is a journal with fewer lines.
func (j *Journal) Remove() error {
	if err := j.Close(); err != nil {
		return err
	}
	numbers, err := numbered(j.dir, segmentSuffix)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if err := j.s.disk.remove(j.segmentPath(n)); err != nil {
			return err
		}
	}
	j.earlier = nil
	err = j.s.disk.remove(j.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Close ends the attempt's segment; an Append after it starts another.
func (j *Journal) Close() error {
	j.mu.Lock()
	seg := j.cur
	j.cur = nil
	j.mu.Unlock()
	if seg != nil {
		seg.close()
	}
	return nil
}
