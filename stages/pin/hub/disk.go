package hub

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/cupel-dev/cupel/engine/step"
)

// diskError adds what to do when the disk is the reason.
func diskError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EDQUOT):
		return step.WithHint(err, "make room and run the same command again; what is there is kept")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return step.WithHint(err, "give a folder that you may write to")
	}
	return err
}
