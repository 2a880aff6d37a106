//go:build !unix

package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
)

// startPlain starts a command. What it starts itself is not ended with it.
func startPlain(cmd *exec.Cmd) (*process, error) {
	p, started, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	err = cmd.Start()
	started()
	if err != nil {
		p.close()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
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
