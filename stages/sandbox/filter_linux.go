//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are system calls that no answer to a question needs and that most
// escapes from a container began with.
var refused = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_FANOTIFY_INIT,
}

// Positions in the kernel's seccomp_data. The low half of an argument comes
// first on every machine that the filter is written for.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16
)

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// callFilter is the program that the kernel runs at each system call.
func callFilter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	refuse := func(e unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(e)) }
	when := func(test uint16, k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: skip}
	}
	unless := func(test uint16, k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jf: skip}
	}
	f := []unix.SockFilter{
		load(atArch), when(unix.BPF_JEQ, auditArch, 1), answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(atCall),
		unless(unix.BPF_JGE, 0x40000000, 1), refuse(unix.ENOSYS), // the x32 calls have other numbers
		unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), refuse(unix.ENOSYS), // its flags cannot be looked at; clone's can
	}
	for _, call := range refused {
		f = append(f, unless(unix.BPF_JEQ, call, 1), refuse(unix.EPERM))
	}
	return append(f,
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 3),
		load(atArg0), unless(unix.BPF_JSET, newNamespaces, 1), refuse(unix.EPERM),
		load(atCall),
		unless(unix.BPF_JEQ, unix.SYS_SOCKET, 3),
		// Every network but sockets between the sandbox's own processes: some,
		// as to a virtual machine's host, are in no network namespace.
		load(atArg0), when(unix.BPF_JEQ, unix.AF_UNIX, 1), refuse(unix.ENETUNREACH),
		answer(unix.SECCOMP_RET_ALLOW),
	)
}

// filterCalls puts the filter on the calling thread and all that it starts.
func filterCalls() error {
	f := callFilter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}
