package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// becomeOrdinary starts the program anew without the capabilities by which root
// passes over file permissions.
func becomeOrdinary() error {
	const drop, dacOverride, dacReadSearch, fowner = 24, 1, 2, 3 // prctl(2), capabilities(7)
	runtime.LockOSThread()                                       // what is dropped is the thread's, and exec makes it the process's
	for _, c := range []uintptr{dacOverride, dacReadSearch, fowner} {
		if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, drop, c, 0); e != 0 {
			return fmt.Errorf("capability %d: %w", c, e)
		}
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// narrowPipe holds one write and no more: a process that prints events can be
// at most one event ahead of its reader.
func narrowPipe() (r, w *os.File, err error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC|syscall.O_DIRECT); err != nil { // packets: pipe(2)
		return nil, nil, err
	}
	const setPipeSize = 1031 // fcntl(2)
	if _, _, e := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(p[1]), setPipeSize, 4096); e != 0 {
		return nil, nil, e
	}
	return os.NewFile(uintptr(p[0]), "events"), os.NewFile(uintptr(p[1]), "events"), nil
}

// smallDisk mounts a file system of that size at dir, which is made; grow gives
// it room. ok = false where mounting is not permitted.
func smallDisk(dir, size string) (grow func() error, unmount func() error, ok bool, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, nil, false, err
	}
	err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if err == syscall.EPERM || err == syscall.EACCES {
		return nil, nil, false, nil
	}
	grow = func() error { return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m") }
	return grow, func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, err == nil, err
}
