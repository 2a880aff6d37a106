//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// noRandomAddresses makes a program see the same addresses each time, so that
// what it prints of them is the same.
const noRandomAddresses = 0x0040000

// confine prepares the calling thread, whose children inherit it: no
// capability, no gain of rights by executing a file, fewer system calls.
func confine() error {
	_, _, _ = unix.Syscall(unix.SYS_PERSONALITY, noRandomAddresses, 0, 0) // where it is refused, only output may differ
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// Refused to bubblewrap's programs, which have none: checkConfined looks.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new rights: %w", err)
	}
	return filterCalls()
}

// checkConfined reads from the kernel what the program can still do. /proc
// must be read-only, since its switches ask for the user's number only, and
// root's may be the program's.
func checkConfined(pid int) error {
	for _, path := range []string{"/", "/proc", "/usr"} {
		var fs unix.Statfs_t
		if err := unix.Statfs(path, &fs); err != nil {
			return fmt.Errorf("look at %s: %w", path, err)
		}
		if fs.Flags&unix.ST_RDONLY == 0 {
			return fmt.Errorf("%s can be written", path)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch {
		case (name == "CapEff" || name == "CapPrm" || name == "CapBnd" || name == "CapAmb") && strings.Trim(value, "0") != "":
			return fmt.Errorf("the program has the capabilities %s %s", name, value)
		case name == "NoNewPrivs" && value != "1":
			return errors.New("the program could gain rights")
		case name == "Seccomp" && value != "2":
			return errors.New("the program's system calls are not filtered")
		}
	}
	return nil
}

// limit sets resource limits of a process that has not begun.
func limit(pid int, l jobLimits) error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE:    0,
		unix.RLIMIT_NOFILE:  256,
		unix.RLIMIT_FSIZE:   uint64(l.FileSize),
		unix.RLIMIT_DATA:    uint64(l.Memory),
		unix.RLIMIT_MEMLOCK: 0,
	}
	if l.AddressSpace {
		limits[unix.RLIMIT_AS] = uint64(l.Memory)
	}
	if countsPerNamespace() {
		// Above what the watch allows, so that it can tell.
		limits[unix.RLIMIT_NPROC] = uint64(l.Processes) + 32
	}
	for what, most := range limits {
		if err := unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return fmt.Errorf("limit %d: %w", what, err)
		}
	}
	if l.CPU > 0 { // SIGXCPU, and SIGKILL for who ignores it
		most := &unix.Rlimit{Cur: uint64(l.CPU), Max: uint64(l.CPU) + 1}
		if err := unix.Prlimit(pid, unix.RLIMIT_CPU, most, nil); err != nil {
			return fmt.Errorf("limit of CPU time: %w", err)
		}
	}
	return nil
}

// countsPerNamespace: before Linux 5.14 all processes of the user outside are
// counted too, and a limit would refuse the first of a busy user's.
func countsPerNamespace() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 5 || major == 5 && minor >= 14)
}
