package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// quarantineNote lies beside what was moved.
type quarantineNote struct {
	Format int         `json:"format"`
	Digest step.Digest `json:"digest"`
	Why    string      `json:"why"`
	Moved  time.Time   `json:"moved"`
}

// Quarantine takes object d out of the way when it is damaged: it is moved,
// never deleted, and a note says why. A sound object stays where it is.
func (s *Store) Quarantine(d step.Digest) error {
	err := s.Verify(d)
	var damaged *Damaged
	if !errors.As(err, &damaged) {
		return err
	}
	return s.quarantine(d, damaged.Why)
}

func (s *Store) quarantine(d step.Digest, why string) error {
	note := quarantineNote{Format: Format, Digest: d, Why: why, Moved: s.clock().UTC()}
	b, err := seal(note)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		moved := s.path("quarantine", d.String()+"."+strconv.Itoa(n))
		err := s.disk.writeFile(moved+".json", b, frozen, false)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("quarantine of %s: %w", d.Short(), err)
		}
		err = s.disk.rename(s.objectPath(d), moved)
		if errors.Is(err, os.ErrNotExist) {
			return nil // another process moved it first
		}
		return err
	}
}
