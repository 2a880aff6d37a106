package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The test binary is also the other process: with roleVar set it plays a role
// instead of running tests.
const roleVar = "CUPEL_STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1], os.Args[2]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// play does what role says in the store at dir, says "ready", and holds on
// until its stdin ends.
func play(role, dir, arg string) error {
	if role == "killed" {
		return playKilled(dir, arg)
	}
	s, err := Open(dir, Options{Mode: ReadWrite, LeaseDir: dir + ".leases"})
	if err != nil {
		return err
	}
	switch role {
	case "lock":
		k, _ := preimage(noTest{}, 1)
		if _, err := s.LockKey(context.Background(), k, nil); err != nil {
			return err
		}
	case "lease":
		if _, err := s.Lease(arg); err != nil {
			return err
		}
	case "exclusive":
		s.Close()
		if _, err = Open(dir, Options{Mode: Exclusive}); err != nil {
			return err
		}
	case "run":
		r, err := s.NewRun(noon)
		if err != nil {
			return err
		}
		if err := r.Event("began"); err != nil {
			return err
		}
		r.events.f.WriteString(`"torn`)
	}
	return ready()
}

func ready() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// playKilled runs the scenario up to the given change and stops there.
func playKilled(dir, arg string) error {
	stop, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	n := 0
	return scenario(noTest{}, dir, Hooks{At: func(Point, string) error {
		if n++; n > stop {
			if err := ready(); err != nil {
				return err
			}
			return errors.New("was not killed")
		}
		return nil
	}})
}

// noTest stands in for a test where there is none.
type noTest struct{ testing.TB }

func (noTest) Helper()           {}
func (noTest) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// other is another process that plays a role.
type other struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

func start(t testing.TB, role, dir, arg string) *other {
	t.Helper()
	cmd := exec.Command(must[string](t)(os.Executable()), dir, arg)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	stdin := must[io.WriteCloser](t)(cmd.StdinPipe())
	stdout := must[io.ReadCloser](t)(cmd.StdoutPipe())
	check(t, cmd.Start())
	o := &other{cmd, stdin}
	t.Cleanup(o.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != "ready" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return o
}

// kill sends SIGKILL and waits for the end.
func (o *other) kill() {
	o.cmd.Process.Kill()
	o.cmd.Wait()
}

// A process killed by the kernel at any change, with locks held: the store is
// sound, nothing has to be unlocked, and the next run finishes the work.
func TestKillMinus9(t *testing.T) {
	dir := ""
	for i := range points(t) {
		dir = newDir(t)
		start(t, "killed", dir, strconv.Itoa(i)).kill()
		afterFault(t, dir, i, "kill -9")
	}
}

func TestKeyLockBetweenProcesses(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	p := start(t, "lock", s.Dir(), "")
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	calls := 0
	_, err := s.LockKey(ctx, k, func(o Owner) {
		if calls++; o.PID != p.cmd.Process.Pid || o.Host != self().Host || o.Boot != self().Boot {
			t.Errorf("owner %+v", o)
		}
		cancel(enough)
	})
	if !errors.Is(err, enough) || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	unlock, err := s.LockKey(context.Background(), k, func(Owner) { p.cmd.Process.Kill() })
	check(t, err)
	unlock()
	unlock()
	if entries := must[[]os.DirEntry](t)(os.ReadDir(s.path("locks"))); len(entries) != 1 {
		t.Errorf("locks holds %v, want only the store's", entries)
	}
}

func TestLeaseBetweenProcesses(t *testing.T) {
	s := open(t, newDir(t), Options{Mode: ReadWrite})
	s.opts.LeaseDir = s.dir + ".leases"
	const resource = "http://127.0.0.1:8000"
	p := start(t, "lease", s.Dir(), resource)
	_, err := s.Lease(resource)
	var busy *Busy
	if !errors.As(err, &busy) || busy.Resource != resource || busy.Owner.PID != p.cmd.Process.Pid {
		t.Fatalf("error %v", err)
	}
	if release, err := s.Lease("http://127.0.0.1:8001"); err != nil {
		t.Errorf("another resource: %v", err)
	} else {
		release()
	}
	p.kill()
	release, err := s.Lease(resource)
	check(t, err)
	release()
}

func TestExclusiveIsAlone(t *testing.T) {
	s := writable(t)
	var busy *Busy
	if _, err := Open(s.Dir(), Options{Mode: Exclusive}); !errors.As(err, &busy) {
		t.Errorf("exclusive beside a writer: %v", err)
	}
	s.Close()
	p := start(t, "exclusive", s.Dir(), "")
	if _, err := Open(s.Dir(), Options{Mode: ReadWrite}); !errors.As(err, &busy) || busy.Owner.PID != p.cmd.Process.Pid {
		t.Errorf("writer beside an exclusive: %v", err)
	}
	open(t, s.Dir(), Options{}) // reading goes on
	p.kill()
	open(t, s.Dir(), Options{Mode: Exclusive}).Close()
}

// Another terminal reads a run while it is written, and sees it end.
func TestRunOfAnotherProcess(t *testing.T) {
	dir := newDir(t)
	p := start(t, "run", dir, "")
	s := open(t, dir, Options{})
	id := must[string](t)(s.LatestRun())
	l := must[*RunLog](t)(s.ReadRun(id))
	if !l.Alive || l.Owner.PID != p.cmd.Process.Pid || len(l.Events) != 1 || l.Torn != 0 {
		t.Errorf("run %+v", l)
	}
	p.kill()
	if l := must[*RunLog](t)(s.ReadRun(id)); l.Alive {
		t.Error("a killed run is alive")
	}
}
