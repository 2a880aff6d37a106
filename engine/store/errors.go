package store

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cupel-dev/cupel/engine/step"
)

var (
	// ErrMissing marks what the store does not have.
	ErrMissing = errors.New("not in the store")
	// ErrFormat marks a directory that this version cannot read as a store.
	ErrFormat = errors.New("not a store that this cupel can read")
	// ErrReadOnly marks an attempt to write to a store opened read-only.
	ErrReadOnly = errors.New("store is open read-only")
	// ErrNoSpace marks a full disk or quota; it wraps ENOSPC or EDQUOT.
	ErrNoSpace = errors.New("no space left")
	// ErrNetworkFS marks a file system on which locks may not hold.
	ErrNetworkFS = errors.New("network file system")
)

// Damaged is returned for something that is there but is not what was written.
type Damaged struct {
	Digest step.Digest // of an object; zero for anything else
	Path   string
	Why    string
}

// Error says what is damaged, where, and how that shows.
func (d *Damaged) Error() string {
	if d.Digest.IsZero() {
		return fmt.Sprintf("%s is damaged: %s", d.Path, d.Why)
	}
	return fmt.Sprintf("object %s is damaged: %s (%s)", d.Digest.Short(), d.Why, d.Path)
}

// Busy is returned when another holder has what was asked for. The kernel ends
// a hold with its process, so a Busy is never stale.
type Busy struct {
	Resource string
	Owner    Owner // zero when the holder has not signed yet
}

// Error says what is held and by whom.
func (b *Busy) Error() string {
	return fmt.Sprintf("%s is in use by %s", b.Resource, b.Owner)
}

// diskError names the path of a failed operation once, and marks a full disk.
func diskError(p Point, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%s %s: %w: %w", p, path, ErrNoSpace, err)
		return step.WithHint(err, "free some space and run again; what was finished is kept")
	}
	return fmt.Errorf("%s %s: %w", p, path, err)
}
