package main

import (
	"os"
	"strconv"
	"syscall"
)

// limited starts a command under the limits that a test asks for through the
// environment:
//
//	CUPEL_TEST_FILE_SIZE=N      a file cannot grow beyond N bytes: writing fails as on a full disk
//	CUPEL_TEST_ORDINARY_USER=1  file permissions hold for root too
func limited(f func()) func() {
	return func() {
		if n, err := strconv.ParseUint(os.Getenv("CUPEL_TEST_FILE_SIZE"), 10, 64); err == nil {
			must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}))
		}
		if os.Getenv("CUPEL_TEST_ORDINARY_USER") != "" && os.Geteuid() == 0 {
			must(os.Unsetenv("CUPEL_TEST_ORDINARY_USER"))
			must(becomeOrdinary())
		}
		f()
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
