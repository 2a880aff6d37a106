package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cupel-dev/cupel/stages/score"
)

// prepareTrusted runs a program of the user in place and with the user's
// rights and environment: only its time and its output are bounded.
func (s *Sandbox) prepareTrusted(l launch, p score.Program) (launch, error) {
	if p.Path == "" {
		return l, errors.New("only a program with a digest can be trusted")
	}
	argv := append([]string{p.Path}, p.Args...)
	if p.Language != "" {
		it, err := s.language(p.Language)
		if err != nil {
			return l, &score.Undetermined{Code: score.ReasonNoRuntime, Err: err}
		}
		argv = append([]string{it.path}, argv...)
	}
	l.start = func(context.Context) (*process, error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = filepath.Dir(p.Path)
		cmd.Env = os.Environ()
		return startPlain(cmd)
	}
	return l, nil
}
