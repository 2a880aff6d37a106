package hub

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestLocks: one writer or several readers, by the folder and by a file in it.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	for name, take := range map[string]func(string) (func(), error){"folder": writing, "file": writingFile} {
		unlock, err := take(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := take(dir); err == nil || !strings.Contains(err.Error(), "another process works on ") {
			t.Errorf("%s: two writers, %v", name, err)
		}
		if done, err := Reading(dir); (err != nil) != (name == "folder") {
			t.Errorf("%s: a reader beside a writer: %v", name, err)
		} else if err == nil {
			done()
		}
		unlock()
		if unlock, err = take(dir); err != nil {
			t.Errorf("%s: a lock stayed: %v", name, err)
		} else {
			unlock()
		}
	}
	a, errA := Reading(dir)
	b, errB := Reading(dir)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	a()
	b()
	if !isNoLock(fmt.Errorf("flock: %w", &os.PathError{Err: syscall.EBADF})) || isNoLock(syscall.EACCES) || isNoLock(nil) {
		t.Error("which errors say that there are no locks")
	}
}
