//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
)

// startPlain starts a command in a process group of its own, so that it ends
// with all that it started.
func startPlain(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	p.kill = func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	p.wait = sync.OnceValues(func() (report, error) {
		err := cmd.Wait()
		p.kill() // what it left behind
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return report{Exit: exitStatus(exit.Sys().(syscall.WaitStatus))}, nil
		}
		return report{}, err
	})
	return p, nil
}

// exitStatus is as a shell gives it.
func exitStatus(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
