package suite

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cupel-dev/cupel/engine/step"
)

// Access is one opening of held-out texts.
type Access struct {
	Time    string `json:"time"` // RFC 3339, UTC
	As      string `json:"as"`   // what --as said, or "unnamed"
	Command string `json:"command"`
	Why     string `json:"why,omitempty"`
	Items   int    `json:"items"` // held-out items whose texts were opened
	// Prev is the SHA-256 of the line before, without its line end; absent in
	// the first line. A line that is changed, removed or put in later breaks it.
	Prev *step.Digest `json:"prev,omitempty"`
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
	f, err := os.OpenFile(filepath.Join(dir, AccessFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("record the opening of held-out items: %w", err)
	}
	defer f.Close()
	if err := addLine(f, a); err != nil {
		return fmt.Errorf("record the opening of held-out items in %s: %w", AccessFile, err)
	}
	return nil
}

// addLine writes under a lock, so that lines of several processes never mix and
// each follows the one before it. A line that a full disk or a power failure
// cut is ended first.
func addLine(f *os.File, a Access) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	last, torn, err := lastLine(f)
	if err != nil {
		return err
	}
	if last != nil {
		d := step.Sum(last)
		a.Prev = &d
	}
	b, err := encodeLine(a)
	if err != nil {
		return err
	}
	if torn {
		b = append([]byte("\n"), b...)
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}

// lastLine returns the last line without its end, nil when there is none, and
// whether it lacks that end.
func lastLine(f *os.File) (line []byte, torn bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	const block = 4096
	for at := info.Size(); at > 0; {
		n := min(at, block)
		at -= n
		b := make([]byte, n)
		if _, err := f.ReadAt(b, at); err != nil && err != io.EOF {
			return nil, false, err
		}
		if line = append(b, line...); at > 0 && bytes.IndexByte(line[:len(line)-1], '\n') < 0 {
			continue
		}
		break
	}
	if len(line) == 0 {
		return nil, false, nil
	}
	torn = line[len(line)-1] != '\n'
	line = bytes.TrimSuffix(line, []byte("\n"))
	return line[bytes.LastIndexByte(line, '\n')+1:], torn, nil
}
