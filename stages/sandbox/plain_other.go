//go:build !unix

package sandbox

import (
	"errors"
	"os/exec"
	"sync"
)

// startPlain starts a command. What it starts itself is not ended with it.
func startPlain(cmd *exec.Cmd) (*process, error) {
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	p.kill = func() { _ = cmd.Process.Kill() }
	p.wait = sync.OnceValues(func() (report, error) {
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return report{Exit: exit.ExitCode()}, nil
		}
		return report{}, err
	})
	return p, nil
}
