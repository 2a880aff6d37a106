package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cupel-dev/cupel/stages/items"
)

// Access is one opening of held-out texts.
type Access struct {
	Time    string `json:"time"` // RFC 3339, UTC
	As      string `json:"as"`   // what --as said, or "unnamed"
	Command string `json:"command"`
	Items   int    `json:"items"` // held-out items whose texts were opened
}

// Unnamed stands where nobody said who they are. The account's name is not
// recorded: it is a personal datum that nobody chose to give.
const Unnamed = "unnamed"

// appendAccess adds one line, durably, and before anything is opened: an
// opening that cannot be recorded does not happen.
func appendAccess(dir string, a Access) error {
	if a.As == "" {
		a.As = Unnamed
	}
	b, err := encodeLine(a)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, AccessFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("record the opening of held-out items: %w", err)
	}
	defer f.Close()
	if err := addLine(f, b); err != nil {
		return fmt.Errorf("record the opening of held-out items in %s: %w", AccessFile, err)
	}
	return nil
}

// addLine writes under a lock, so that lines of several processes never mix.
// A line that a full disk or a power failure cut is ended first.
func addLine(f *os.File, b []byte) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if n := info.Size(); n > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, n-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			b = append([]byte("\n"), b...)
		}
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}

// AccessLog reads the openings of the held-out part, oldest first. Lines that
// cannot be read are counted: they are openings too.
func (s *Set) AccessLog() (log []Access, unreadable int, err error) {
	b, err := os.ReadFile(filepath.Join(s.dir, AccessFile))
	if s.dir == "" || errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for l := range bytes.Lines(b) {
		err := items.ReadRows(AccessFile, bytes.NewReader(l), func(a Access) error {
			log = append(log, a)
			return nil
		})
		if err != nil && err != io.EOF {
			unreadable++
		}
	}
	return log, unreadable, nil
}
