package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// halfLog is after how many bytes a text log begins anew beside its older half,
// so that one log of a run takes at most 64 MiB and ends with the newest lines.
const halfLog = 32 << 20

// logName is what a text log of a run may be called; olderLog its older half.
var logName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,120}\.log$`)

const olderLog = ".1"

// CreateLog opens a text log beside the events of the run, appending to one
// that is there: what another program says, for people. It is bounded: of more
// than 64 MiB the end is kept. It may be written by several goroutines.
func (r *Run) CreateLog(name string) (io.WriteCloser, error) {
	f, err := r.LogFile(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &textLog{run: r, name: name, f: f, size: st.Size()}, nil
}

// LogFile is CreateLog for a program that goes on writing after this process
// has ended. Nothing bounds it.
func (r *Run) LogFile(name string) (*os.File, error) {
	if !logName.MatchString(name) {
		return nil, fmt.Errorf("log %q of run %s: want letters, digits, '_' and '-' and .log behind", name, r.head.ID)
	}
	path := filepath.Join(r.dir, name)
	f, err := r.s.disk.appendTo(path)
	if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	return f, err
}

// textLog is a log in two halves. What cannot be written is dropped: a full disk
// must not stop the program that is being listened to.
type textLog struct {
	run  *Run
	name string

	mu   sync.Mutex
	f    *os.File
	size int64
}

// Write implements io.Writer. It never fails.
func (l *textLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.size > 0 && l.size+int64(len(p)) > halfLog {
		l.turn()
	}
	if l.f != nil {
		n, _ := l.run.s.disk.write(l.f, p)
		l.size += int64(n)
	}
	return len(p), nil
}

// turn puts the log aside as its older half.
func (l *textLog) turn() {
	path := filepath.Join(l.run.dir, l.name)
	_ = l.close()
	if os.Rename(path, path+olderLog) != nil {
		return // what follows is dropped
	}
	l.f, _ = l.run.LogFile(l.name)
	l.size = 0
}

// Close implements io.Closer.
func (l *textLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}

func (l *textLog) close() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return f.Close()
}

// isLogName reports whether a file of a run's directory is a text log.
func isLogName(name string) bool {
	if n := len(name) - len(olderLog); n > 0 && name[n:] == olderLog {
		name = name[:n]
	}
	return logName.MatchString(name)
}
