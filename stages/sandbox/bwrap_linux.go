//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/cupel-dev/cupel/stages/score"
)

// bubblewrap makes the same sandbox as cupel's own namespaces, with a program
// that systems which forbid user namespaces may still allow.
func bubblewrap() (native, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return native{}, errors.New("not installed")
	}
	self, err := os.Executable()
	if err != nil {
		return native{}, err
	}
	help, err := exec.Command(path, "--help").CombinedOutput()
	if err != nil || !bytes.Contains(help, []byte("--size ")) {
		return native{}, errors.New("older than 0.7: it cannot bound what is written")
	}
	return native{command: func(j job, root []mount) (*exec.Cmd, job) {
		cmd := exec.Command(path, bwrapArgs(self, j, root)...)
		cmd.Dir, cmd.Env = "/", []string{"GOMAXPROCS=2"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd, j
	}}, nil
}

func bwrapArgs(self string, j job, root []mount) []string {
	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", hostname,
	}
	for _, m := range root {
		switch {
		case m.Link != "":
			args = append(args, "--symlink", m.Link, m.Path)
		case m.Dev:
			args = append(args, "--dev-bind", m.Path, m.Path)
		default:
			args = append(args, "--ro-bind", m.Path, m.Path)
		}
	}
	size := strconv.FormatInt(j.Limits.space(), 10)
	return append(args,
		"--ro-bind", self, "/"+keeperName, "--proc", "/proc",
		"--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", score.WorkDir,
		"--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/", "--", fmt.Sprint("/", keeperName))
}
