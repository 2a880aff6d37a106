package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Creator begins files of a run.
type Creator interface {
	// Create begins a file, or goes on with it; its end is kept.
	Create(name string) (io.WriteCloser, error)
	// File is Create for a process that outlives this one.
	File(name string) (*os.File, error)
}

// silent is a Log that nobody reads.
type silent struct{}

func (silent) Create(string) (io.WriteCloser, error) { return nopCloser{io.Discard}, nil }
func (silent) File(string) (*os.File, error)         { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
func (silent) Note(string, ...any)                   {}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// process is a command that was started, in a session and a process group of its
// own: Ctrl-C does not reach it, and a signal to the group reaches all of it.
type process struct {
	cmd    *exec.Cmd
	tail   *tail
	ended  chan struct{} // closed when the command itself has ended
	copied chan struct{} // closed when nobody can write to its output any more
}

// spawn starts the start command of a server, unless all is being stopped.
func (h *Hooks) spawn(in *instance, log Log) (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.aborted {
		return nil, context.Canceled
	}
	var err error
	in.process, err = h.begin(in.server, "start", in.server.Start, log, in.stays)
	return in.process, err
}

func (h *Hooks) processOf(in *instance) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return in.process
}

// begin starts a command. The output of one that stays when this process ends
// goes into its log without a detour.
func (h *Hooks) begin(s Server, what string, argv []string, log Log, stays bool) (*process, error) {
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), tail: &tail{}, ended: make(chan struct{}), copied: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = h.Dir, h.environ(s)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.connect(log, logName(s.Candidate), stays); err != nil {
		return nil, outside(fmt.Errorf("log of %s: %w", s.Candidate, err))
	}
	defer p.connected()
	if err := p.cmd.Start(); err != nil {
		return nil, notRun(s, what, argv, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	return p, nil
}

// connect joins the output of a command to its log.
func (p *process) connect(log Log, name string, stays bool) error {
	if stays {
		f, err := log.File(name)
		if err != nil {
			return err
		}
		p.cmd.Stdout, p.cmd.Stderr = f, f
		p.tail.file = f.Name()
		close(p.copied)
		return nil
	}
	w, err := log.Create(name)
	if err != nil {
		return err
	}
	r, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, w.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	go func() {
		_, _ = io.Copy(io.MultiWriter(p.tail, w), r)
		_, _ = r.Close(), w.Close()
		close(p.copied)
	}()
	return nil
}

// connected closes this process's end of what the command writes to, once the
// command has it.
func (p *process) connected() {
	if f, ok := p.cmd.Stdout.(*os.File); ok {
		_ = f.Close()
	}
}

// notRun is a command that could not be run at all: a mistake, and no result.
func notRun(s Server, what string, argv []string, err error) error {
	todo := fmt.Sprintf("see candidates.%s.serve.%s", s.Candidate, what)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		todo += "; a command without a slash is looked for in PATH, any other from the folder of the campaign"
	case errors.Is(err, fs.ErrPermission):
		todo += "; is it executable?"
	}
	var path *fs.PathError
	var look *exec.Error
	switch {
	case errors.As(err, &look):
		err = look.Err
	case errors.As(err, &path):
		err = path.Err
	}
	return step.WithHint(outside(fmt.Errorf("the %s command of %s could not be run: %s: %w", what, s.Candidate, argv[0], err)), todo)
}

// command runs a command to its end.
func (h *Hooks) command(s Server, what string, argv []string, log Log) error {
	p, err := h.begin(s, what, argv, log, false)
	if err != nil {
		return err
	}
	late := time.NewTimer(max(h.grace(), min(s.Timeout, 5*time.Minute)))
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		p.end(h.grace())
		return fmt.Errorf("its %s command did not end", what)
	}
	if p.code() != 0 {
		p.settle()
		return fmt.Errorf("its %s command ended with %s: %s", what, p.how(), h.redact(p.last(3)))
	}
	return nil
}

func (h *Hooks) environ(s Server) []string {
	return append(append([]string{}, h.Environ...),
		"CUPEL_CANDIDATE="+s.Candidate, "CUPEL_CAMPAIGN="+h.Campaign, "CUPEL_GPUS="+strings.Join(s.GPUs, ","))
}

// code is the exit status, 128 and the number of the signal that ended it.
func (p *process) code() int {
	st := p.cmd.ProcessState
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}

// how says how the command ended.
func (p *process) how() string {
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("signal %d (%s)", int(ws.Signal()), ws.Signal())
	}
	return fmt.Sprintf("status %d", p.code())
}

// settle gives the last words of an ended command a moment to arrive: others of
// its group may hold its output open.
func (p *process) settle() {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case <-p.copied:
	case <-late.C:
	}
}

// gone reports whether the command has ended other than by putting itself into
// the background. soon gives it a moment: a connection breaks before its
// process is known to have ended.
func (p *process) gone(soon bool) bool {
	if soon {
		late := time.NewTimer(time.Second)
		defer late.Stop()
		select {
		case <-p.ended:
		case <-late.C:
		}
	}
	select {
	case <-p.ended:
		p.settle()
		return p.code() != 0
	default:
		return false
	}
}

// over reports whether the command has failed and none of its group is left.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return p.code() != 0 && !alive(p.cmd.Process.Pid)
	default:
		return false
	}
}

// leaves waits until none of the command's group is left, which a stop command
// has asked for; false = it took too long.
func (p *process) leaves(grace time.Duration) bool {
	late := time.NewTimer(grace)
	defer late.Stop()
	tick := time.NewTicker(firstPause)
	defer tick.Stop()
	for p.alive() {
		select {
		case <-tick.C:
		case <-late.C:
			return false
		}
	}
	return true
}

// alive reports whether the command, or another process of its group, runs.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return alive(p.cmd.Process.Pid)
	default:
		return true
	}
}

// end ends all processes of the command's group: politely, and after grace not.
func (p *process) end(grace time.Duration) {
	endGroup(p.cmd.Process.Pid, grace, p.alive)
}

// endGroup signals a process group until it is empty.
func endGroup(group int, grace time.Duration, alive func() bool) {
	if !alive() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = syscall.Kill(-group, syscall.SIGTERM)
	tick := time.NewTicker(firstPause)
	defer tick.Stop()
	for alive() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			_ = syscall.Kill(-group, syscall.SIGKILL)
			return
		}
	}
}

// alive reports whether a process group has a member that has not ended. One
// that has, and that nobody waits for, stays in its group for a long time.
func alive(group int) bool {
	if syscall.Kill(-group, 0) != nil {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true // no /proc here
	}
	for _, stat := range stats {
		if f := statFields(stat); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" && f[0] != "X" {
			return true
		}
	}
	return false
}

// statFields are the fields of proc_pid_stat(5) from the state on, counted
// behind the command, which may hold blanks; nil when there is no such process.
func statFields(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(b, ')')
	return strings.Fields(string(b[i+1:]))
}
