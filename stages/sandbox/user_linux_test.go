//go:build amd64 || arm64

package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asking is set for a copy of the tests that runs under other conditions.
const asking = "CUPEL_TEST_AS"

// Most people are not root, for whom the sandbox is made in another way: the
// escapes are tried again by a user without rights.
func TestAsUser(t *testing.T) {
	if os.Getuid() != 0 || testing.Short() {
		t.Skip("the other tests run as a user already, or the run is to be short")
	}
	// Where the user may read it; the build's folder is root's.
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(dir, "sandbox.test")
	copyFile(t, "/proc/self/exe", self)
	cmd := exec.Command(self, "-test.v", "-test.run", "^Test(Programs|Determinism|Escapes|Kills|Leaves|Limits)")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), asking+"=user", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "NOT TESTED") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Where user namespaces are forbidden, as in most containers, nothing is run
// and the reason says what to allow.
func TestForbidden(t *testing.T) {
	if os.Getenv(asking) == "forbidden" {
		forbidden(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run", "^TestForbidden$")
	cmd.Env = append(os.Environ(), asking+"=forbidden")
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "fork/exec") {
		t.Logf("user namespaces are forbidden here already: %v", err)
		forbidden(t)
		return
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}

func forbidden(t *testing.T) {
	if os.Getenv(asking) == "forbidden" {
		// Of this user namespace; its own can have none then.
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			t.Fatal(err)
		}
	}
	_, err := findNative("")
	if err == nil || !strings.Contains(err.Error(), "namespaces: ") || !strings.Contains(err.Error(), hint) {
		t.Errorf("a sandbox without user namespaces: %v", err)
	}
	t.Log(err)
	s := New(Options{})
	if got := s.Runtimes()["sandbox"]; !strings.HasPrefix(got, "none: ") {
		t.Errorf("sandbox: %q", got)
	}
}
