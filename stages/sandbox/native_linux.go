//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// native starts programs in namespaces of their own.
type native struct {
	command func(job, []mount) (*exec.Cmd, job) // starts the keeper inside the sandbox
}

// nobody is who a program runs as where the sandbox may choose.
const nobody = 65534

// hint is for whoever finds that no sandbox works.
const hint = "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, " +
	"kernel.apparmor_restrict_unprivileged_userns; in a container --security-opt seccomp=unconfined --security-opt systempaths=unconfined), " +
	"install bubblewrap, or name a WebAssembly interpreter as module"

// findNative tries the backends, each with a sandbox that only says that it
// works. As root the kernel does not count processes for bubblewrap, so
// cupel's own namespaces come first there.
func findNative(backend string) (native, error) {
	order := []string{Bubblewrap, Namespaces}
	if os.Getuid() == 0 {
		order = []string{Namespaces, Bubblewrap}
	}
	if backend != "" {
		order = []string{backend}
	}
	var why []string
	for _, name := range order {
		n, err := tryBackend(name)
		if err == nil {
			return n, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", name, err))
	}
	return native{}, step.WithHint(errors.New(strings.Join(why, "; ")), hint)
}

func tryBackend(name string) (native, error) {
	var candidates []native
	switch name {
	case Namespaces:
		candidates = namespaces()
	case Bubblewrap:
		n, err := bubblewrap()
		if err != nil {
			return native{}, err
		}
		candidates = []native{n}
	default:
		return native{}, errors.New("not used here")
	}
	var err error
	for _, n := range candidates {
		if err = n.probe(); err == nil {
			return n, nil
		}
	}
	return native{}, err
}

// probe makes a sandbox in which nothing runs.
func (n native) probe() error {
	p, err := n.start(job{Limits: jobLimits{FileSize: 1 << 20}}, "")
	if err != nil {
		return err
	}
	defer p.close()
	clock := time.AfterFunc(30*time.Second, p.kill)
	defer clock.Stop()
	said, _ := io.ReadAll(p.stderr)
	r, err := p.wait()
	switch {
	case r.Error != "":
		return errors.New(r.Error)
	case err != nil:
		return err
	case r.Lost && len(said) > 0:
		return errors.New(strings.TrimSpace(string(said)))
	case r.Lost:
		return errors.New("the sandbox ended before it was made")
	}
	return nil
}

// start starts the keeper, tells it its job and reads its report.
func (n native) start(j job, prefix string) (*process, error) {
	cmd, j := n.command(j, rootOf(prefix))
	told, tell, err1 := os.Pipe()
	hear, heard, err2 := os.Pipe()
	p, started, err3 := pipes(cmd)
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll(told, tell, hear, heard)
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{told, heard} // 3 and 4
	done, err := startLocked(cmd)
	started()
	closeAll(told, heard)
	if err != nil {
		closeAll(tell, hear)
		p.close()
		return nil, err
	}
	go func() {
		_ = json.NewEncoder(tell).Encode(j) // a keeper that is gone reports nothing
		_ = tell.Close()
	}()
	p.kill = func() { _ = cmd.Process.Kill() } // the first process of its namespace: all others end with it
	p.wait = sync.OnceValues(func() (report, error) {
		defer hear.Close()
		var r report
		err := json.NewDecoder(io.LimitReader(hear, 1<<20)).Decode(&r)
		<-done
		if err != nil {
			return report{Lost: true}, nil
		}
		return r, nil
	})
	return p, nil
}

// startLocked starts a command from a thread that lives as long as it does:
// the kernel sends the signal for a parent's death when the thread ends.
func startLocked(cmd *exec.Cmd) (done <-chan struct{}, err error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // what it has to say is in its report
		}
	}()
	return ended, <-started
}

// namespaces are cupel's own, in two forms: with a user of its own for the
// program, which only some may map, and without.
func namespaces() []native {
	with := func(uid int, a syscall.SysProcAttr) native {
		return native{command: func(j job, root []mount) (*exec.Cmd, job) {
			attr := a
			attr.Pdeathsig, attr.Setsid = syscall.SIGKILL, true
			attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
				syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP
			j.Root, j.UID = root, uid
			return &exec.Cmd{Path: "/proc/self/exe", Args: []string{keeperName}, Dir: "/", Env: []string{"GOMAXPROCS=2"}, SysProcAttr: &attr}, j
		}}
	}
	ids := func(outside ...int) (m []syscall.SysProcIDMap) {
		for i, id := range outside {
			m = append(m, syscall.SysProcIDMap{ContainerID: i * nobody, HostID: id, Size: 1})
		}
		return m
	}
	alone := with(0, syscall.SysProcAttr{UidMappings: ids(os.Getuid()), GidMappings: ids(os.Getgid())})
	if os.Getuid() != 0 {
		return []native{alone}
	}
	own := with(nobody, syscall.SysProcAttr{UidMappings: ids(0, nobody), GidMappings: ids(0, nobody), GidMappingsEnableSetgroups: true})
	return []native{own, alone}
}

// rootOf lists what a sandbox shows of the machine: libraries and commands,
// never accounts, settings or homes.
func rootOf(prefix string) []mount {
	var root []mount
	add := func(path string, dev bool) {
		switch info, err := os.Lstat(path); {
		case err != nil: // the machine has none
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(path); err == nil {
				root = append(root, mount{Path: path, Link: to})
			}
		default:
			root = append(root, mount{Path: path, Dev: dev})
		}
	}
	for _, dir := range system {
		add(dir, false)
	}
	for _, path := range []string{"/etc/ld.so.cache", "/etc/alternatives"} {
		add(path, false)
	}
	for _, device := range []string{"null", "zero", "full", "random", "urandom"} {
		add("/dev/"+device, true)
	}
	if prefix != "" {
		add(prefix, false)
	}
	return root
}
