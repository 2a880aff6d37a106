package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// child is a server in a process of its own, run by a hidden command of this
// program. It prints its address and ends when its standard input does, so it
// never outlives this process.
type child struct {
	url   string
	stdin io.Closer
	cmd   *exec.Cmd
}

// startChild starts a hidden command; what names it in errors.
func startChild(what string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var words strings.Builder
	p := &child{cmd: exec.Command(self, args...)}
	p.cmd.Stderr = &words
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = p.close()
		return nil, fmt.Errorf("%s: %w", what, errors.New(strings.TrimPrefix(strings.TrimSpace(words.String()), "cupel: ")))
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

// close ends the server and waits for it. It may be called on nil.
func (p *child) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}
