package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// killGrace is how long a program may take to end after its standard input did.
const killGrace = 5 * time.Second

// maxWords bounds what is kept of what a program says of itself.
const maxWords = 4 << 10

// Local records with the cupel-meter at path, a process of its own: it ends when its
// standard input does, and so never outlives this one. flags are further ones of its
// command sample.
func Local(path string, flags ...string) Record {
	return func(ctx context.Context, want Want, stop <-chan struct{}, w io.Writer) error {
		return local(ctx, path, append(arguments(want), flags...), stop, w, killGrace)
	}
}

func arguments(want Want) []string {
	args := []string{"sample", "--until-eof"}
	if want.Hz > 0 {
		args = append(args, "--hz", strconv.FormatFloat(want.Hz, 'f', -1, 64))
	}
	for _, gpu := range want.GPUs {
		args = append(args, "--gpu", gpu)
	}
	return args
}

func local(ctx context.Context, path string, args []string, stop <-chan struct{}, w io.Writer, grace time.Duration) error {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	c := exec.CommandContext(ctx, path, args...)
	words := &tail{}
	c.Stdout, c.Stderr = &sink{w: w, kill: kill}, words
	c.WaitDelay = time.Second // for somebody else who holds its output open
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("cupel-meter cannot be started: %w", innermost(err))
	}
	ended := make(chan struct{})
	asked := make(chan bool, 1)
	go func() { asked <- end(stop, ended, in, kill, grace) }()
	err = c.Wait()
	close(ended)
	if killed := <-asked; killed {
		return fmt.Errorf("cupel-meter did not end within %s", grace)
	}
	return words.explain(err)
}

// end closes the program's input when it is to stop, and kills it when that is not
// enough; it reports whether it had to.
func end(stop, ended <-chan struct{}, in io.Closer, kill context.CancelFunc, grace time.Duration) bool {
	defer in.Close()
	select {
	case <-ended:
		return false
	case <-stop:
	}
	_ = in.Close() // it is told by that
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-ended:
		return false
	case <-late.C:
		kill()
		return true
	}
}

// sink ends a program whose output cannot be taken.
type sink struct {
	w    io.Writer
	kill context.CancelFunc
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.kill()
	}
	return n, err
}

// tail keeps the last of what a program says.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if more := len(t.b) - maxWords; more > 0 {
		t.b = append(t.b[:0], t.b[more:]...)
	}
	return len(p), nil
}

// explain adds the last line that the program wrote to its error.
func (t *tail) explain(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.b), "?")), "\n")
	said := strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "cupel-meter: ")
	if said == "" {
		return fmt.Errorf("cupel-meter: %w", innermost(err))
	}
	return fmt.Errorf("cupel-meter: %w: %.200s", innermost(err), said)
}

// innermost is what the system said, without paths.
func innermost(err error) error {
	for {
		in := errors.Unwrap(err)
		if in == nil {
			return err
		}
		err = in
	}
}
