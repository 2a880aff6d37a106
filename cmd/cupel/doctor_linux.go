package main

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/engine/store"
)

// thisSystem asks the kernel that runs this program.
var thisSystem = system{
	resolution: func() (time.Duration, error) {
		var ts unix.Timespec
		err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &ts)
		return time.Duration(ts.Nano()), err
	},
	synced: clockSynced,
	files: func() (uint64, uint64, error) {
		var r unix.Rlimit
		err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r)
		return r.Cur, r.Max, err
	},
	free:      freeSpace,
	networkFS: store.NetworkFS,
}

// unsynchronised is STA_UNSYNC of timex.h.
const unsynchronised = 0x40

// clockSynced reads the state that NTP keeps in the kernel; without modes it sets
// nothing, and needs no right.
func clockSynced() (bool, time.Duration, error) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return false, 0, err
	}
	return t.Status&unsynchronised == 0, time.Duration(t.Maxerror) * time.Microsecond, nil
}

// freeSpace is the space that a user may fill where dir is, or will be.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	at, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	for {
		err := unix.Statfs(at, &st)
		if err == nil {
			return st.Bavail * uint64(st.Bsize), nil
		}
		if err != unix.ENOENT || at == filepath.Dir(at) {
			return 0, err
		}
		at = filepath.Dir(at)
	}
}
