package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// pipes connects a command that is not started yet. exec.Cmd's own pipes are
// closed by Wait, which here is called while they are being read. started
// closes the command's ends, so that reading ends when the command does.
func pipes(cmd *exec.Cmd) (p *process, started func(), err error) {
	inR, inW, err1 := os.Pipe()
	outR, outW, err2 := os.Pipe()
	errR, errW, err3 := os.Pipe()
	started = func() { closeAll(inR, outW, errW) }
	p = &process{stdin: inW, stdout: outR, stderr: errR, close: func() { closeAll(inW, outR, errR) }}
	if err := errors.Join(err1, err2, err3); err != nil {
		started()
		p.close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	return p, started, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // nil, or closed already
	}
}

// start starts a command with its pipes; how it is ended is its caller's.
func start(cmd *exec.Cmd) (*process, error) {
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
	return p, nil
}
