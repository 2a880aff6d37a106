package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// process is a program that runs. Everything but the pipes may be used at any
// time and more than once.
type process struct {
	stdin          io.WriteCloser
	stdout, stderr io.Reader
	kill           func()
	wait           func() (report, error) // returns after the program and all that it started have ended
	close          func()                 // closes our ends of the pipes, which ends reading
}

// run starts a program, feeds it and waits for its end.
func run(ctx context.Context, l launch, stdin []byte) (score.Outcome, error) {
	var out score.Outcome
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := l.start(ctx)
	if err != nil {
		return out, err
	}
	defer p.close()
	e := ender{kill: p.kill}
	clock := time.AfterFunc(l.limits.Wall, func() { e.end(score.LimitWall) })
	defer clock.Stop()
	defer context.AfterFunc(ctx, p.kill)()

	var readers sync.WaitGroup
	readers.Go(func() { out.Stdout = e.read(p.stdout, l.limits.Output) })
	readers.Go(func() { out.Stderr = e.read(p.stderr, l.limits.Output) })
	go func() { // a program need not read what it is fed
		_, _ = p.stdin.Write(stdin)
		_ = p.stdin.Close()
	}()
	readers.Wait()
	r, err := p.wait()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out.Exit, out.Limit = r.Exit, r.Limit
	if by := e.by(); by != "" {
		out.Limit = by
		return out, nil
	}
	return out, verdict(r, err)
}

// verdict says what became of a run that no limit outside of it ended.
func verdict(r report, err error) error {
	switch {
	case err != nil:
		return &score.Undetermined{Code: score.ReasonKilled, Err: err}
	case r.Error != "":
		return &score.Undetermined{Code: score.ReasonNoSandbox, Err: errors.New(r.Error)}
	case r.Lost:
		return &score.Undetermined{Code: score.ReasonKilled, Err: errors.New("something else than the sandbox ended the program; the machine may be out of memory")}
	}
	return nil
}

// ender ends a program for the first reason there is.
type ender struct {
	kill  func()
	mu    sync.Mutex
	limit score.Limit
}

func (e *ender) end(by score.Limit) {
	e.mu.Lock()
	if e.limit == "" {
		e.limit = by
	}
	e.mu.Unlock()
	e.kill()
}

func (e *ender) by() score.Limit {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.limit
}

// read keeps the first limit bytes and ends the program at the next one.
func (e *ender) read(r io.Reader, limit int64) []byte {
	kept, _ := io.ReadAll(io.LimitReader(r, limit))
	if n, _ := io.CopyN(io.Discard, r, 1); n > 0 {
		e.end(score.LimitOutput)
		_, _ = io.Copy(io.Discard, r)
	}
	return kept
}

// session is a program that is asked line by line.
type session struct {
	process *process
	limits  score.Limits
	stdout  *bufio.Reader
	stderr  tail
	drained sync.WaitGroup
	cancel  context.CancelFunc
}

func open(ctx context.Context, l launch) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	p, err := l.start(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &session{process: p, limits: l.limits, stdout: bufio.NewReader(p.stdout), cancel: cancel}
	s.drained.Go(func() { _, _ = io.Copy(&s.stderr, p.stderr) })
	context.AfterFunc(ctx, p.kill)
	return s, nil
}

// Ask writes a line and reads one.
func (s *session) Ask(ctx context.Context, line []byte) ([]byte, error) {
	e := ender{kill: s.process.kill}
	clock := time.AfterFunc(s.limits.Wall, func() { e.end(score.LimitWall) })
	defer clock.Stop()
	defer context.AfterFunc(ctx, s.process.kill)()

	go func() { _, _ = s.process.stdin.Write(append(append([]byte(nil), line...), '\n')) }()
	answer, err := s.readLine()
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.by() == score.LimitWall:
		return nil, &score.Undetermined{Code: score.ReasonTimeout, Err: fmt.Errorf("no answer within %v", s.limits.Wall)}
	case errors.Is(err, errLongLine):
		s.process.kill()
		return nil, &score.Undetermined{Code: score.ReasonOutput, Err: fmt.Errorf("a line of more than %d bytes", s.limits.Output)}
	}
	return nil, s.gone()
}

// gone says how a program ended that should have answered.
func (s *session) gone() error {
	s.process.kill()
	r, err := s.process.wait()
	clock := time.AfterFunc(time.Second, s.process.close) // a daemon may hold stderr open
	s.drained.Wait()
	clock.Stop()
	if err := verdict(r, err); err != nil && !r.Lost {
		return err
	}
	switch r.Limit {
	case score.LimitMemory:
		return &score.Undetermined{Code: score.ReasonMemory, Err: fmt.Errorf("more than %d MiB", s.limits.Memory>>20)}
	case score.LimitProcesses:
		return &score.Undetermined{Code: score.ReasonProcesses, Err: fmt.Errorf("more than %d", s.limits.Processes)}
	}
	return fmt.Errorf("the program ended without an answer: %s", s.stderr.last())
}

var errLongLine = errors.New("long line")

func (s *session) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := s.stdout.ReadSlice('\n')
		if int64(len(line)+len(part)) > s.limits.Output {
			return nil, errLongLine
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close ends the program.
func (s *session) Close() error {
	s.process.kill()
	s.cancel()
	_, _ = s.process.wait()
	s.process.close()
	s.drained.Wait()
	return nil
}
