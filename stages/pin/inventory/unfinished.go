package inventory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// ErrUnfinished marks a folder that holds only a part of what it should.
var ErrUnfinished = errors.New("unfinished pull")

// CheckFinished refuses a folder into which a pull has begun and not ended: what
// it holds is some part of the model, and looks like a whole one. A pull leaves
// PullDir behind until its inventory is written, also between two files; after
// that only unfinished files of another selection are in it.
func CheckFinished(dir string) error {
	parts := filepath.Join(dir, PullDir)
	there, err := os.ReadDir(parts)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", parts, diskfile.Cause(err))
	}
	n := unfinished(there)
	if _, err := os.Lstat(filepath.Join(dir, File)); err == nil && n == 0 {
		return nil
	}
	err = fmt.Errorf("%s holds a pull that has not ended (unfinished files: %d), so that what is there is not the whole", dir, n)
	return step.Mark(ErrUnfinished, step.WithHint(err, "finish it with the same `cupel models pull` again, or remove "+parts+" if what is there is what you want"))
}

// unfinished counts the files among what a pull keeps in PullDir: others are
// locks and the tags of what was sent.
func unfinished(there []fs.DirEntry) (n int) {
	for _, e := range there {
		if e.Name() != "lock" && !strings.HasSuffix(e.Name(), ".etag") {
			n++
		}
	}
	return n
}
