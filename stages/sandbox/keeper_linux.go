//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/stages/score"
)

// keeperName is what this program is called when it is to be the keeper: the
// process that makes a sandbox from within, starts the one program in it,
// watches it and reports how it ended.
const keeperName = "cupel-sandbox-keeper"

const hostname = "sandbox"

// The keeper must run before anything else of whatever program it is started
// from: tests of other packages too, which would otherwise run themselves
// again.
func init() {
	if len(os.Args) == 0 || filepath.Base(os.Args[0]) != keeperName {
		return
	}
	keep()
	os.Exit(0)
}

func keep() {
	// The program may share our user, and must not end us. Caught signals are
	// themselves again in the program; ignored ones would stay ignored.
	signal.Notify(make(chan os.Signal, 1))
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	told, tell := os.NewFile(3, "job"), os.NewFile(4, "report")
	var j job
	if err := json.NewDecoder(told).Decode(&j); err != nil {
		return
	}
	_ = told.Close()
	r, err := keepJob(j)
	if err != nil {
		r = report{Error: err.Error()}
	}
	_ = json.NewEncoder(tell).Encode(r)
}

func keepJob(j job) (report, error) {
	// No other process may look into this one or write to its memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return report{}, fmt.Errorf("protect the keeper: %w", err)
	}
	// When the machine runs out of memory, this process and the program go first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if len(j.Root) > 0 {
		if err := makeRoot(j); err != nil {
			return report{}, err
		}
	}
	for _, f := range j.Files {
		mode := os.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		path := filepath.Join(score.WorkDir, filepath.Base(f.Name))
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			return report{}, err
		}
	}
	if len(j.Argv) == 0 {
		return report{}, nil
	}
	return supervise(j)
}

// supervise starts the program, stopped, puts the limits on it and lets it go.
func supervise(j job) (report, error) {
	runtime.LockOSThread() // a tracer is a thread, and so is what is confined
	if err := confine(); err != nil {
		return report{}, err
	}
	attr := &syscall.SysProcAttr{Ptrace: true, Setsid: true}
	if j.UID != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(j.UID), Gid: uint32(j.UID)}
	}
	pid, err := syscall.ForkExec(j.Argv[0], j.Argv, &syscall.ProcAttr{Dir: j.Dir, Env: j.Env, Files: []uintptr{0, 1, 2}, Sys: attr})
	if err != nil {
		fmt.Fprintf(os.Stderr, "start %s: %v\n", j.Argv[0], err)
		return report{Exit: 127}, nil
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		return report{}, fmt.Errorf("the program did not stop to be limited: %v, %v", ws, err)
	}
	if err := limit(pid, j.Limits); err != nil {
		return report{}, err
	}
	if err := checkConfined(pid); err != nil {
		return report{}, err
	}
	if err := syscall.PtraceDetach(pid); err != nil {
		return report{}, fmt.Errorf("let the program go: %w", err)
	}
	w, before := watch(j.Limits), oomKills()
	r, err := reap(pid, j.Limits)
	r.Lost = r.Exit != 0 && oomKills() != before
	if by := w.stop(); by != "" {
		r.Limit, r.Lost = by, false
	}
	return r, err
}

// reap waits for the program, and for orphans that come to the keeper.
func reap(pid int, l jobLimits) (report, error) {
	for {
		var ws syscall.WaitStatus
		var used syscall.Rusage
		got, err := syscall.Wait4(-1, &ws, 0, &used)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return report{}, fmt.Errorf("wait for the program: %w", err)
		case got == pid && (ws.Exited() || ws.Signaled()):
			return ended(ws, used, l), nil
		}
	}
}

// ended tells a program that ran out of CPU time from one that just failed.
func ended(ws syscall.WaitStatus, used syscall.Rusage, l jobLimits) report {
	r := report{Exit: exitStatus(ws)}
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	most := time.Duration(l.CPU) * time.Second
	switch r.Exit {
	case 128 + int(syscall.SIGXCPU):
		r.Limit = score.LimitCPU
	case 128 + int(syscall.SIGKILL): // what comes a second later to who ignores the first
		if l.CPU > 0 && spent >= most {
			r.Limit = score.LimitCPU
		}
	}
	return r
}

// oomKills is how many processes the kernel has ended on this machine for want
// of memory, -1 where it does not say. When one of them may have been the
// program's, nothing is known of the program.
func oomKills() int {
	stat, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(stat)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			kills, _ := strconv.Atoi(strings.TrimSpace(n))
			return kills
		}
	}
	return -1
}
