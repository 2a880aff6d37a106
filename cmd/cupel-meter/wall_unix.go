//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// openNow opens a file or a pipe without waiting for who writes to it. A pipe is
// opened for both directions, for it would end whenever its last writer goes.
func openNow(name string) (*os.File, error) {
	how := os.O_RDONLY
	if info, err := os.Stat(name); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		how = os.O_RDWR
	}
	return os.OpenFile(name, how|unix.O_NONBLOCK, 0)
}
