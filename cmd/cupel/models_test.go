package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/pin/hub/hubtest"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// pullArgs pulls into m.
func pullArgs(h *hubtest.Hub) []string {
	return []string{"models", "pull", hubtest.Repo, "--revision", hubtest.Commit, "--endpoint", h.URL, "--to", "m"}
}

// TestPullEnds kills, and interrupts, a pull in the middle of a file: no
// unfinished file has its name, and the next pull asks for the rest alone.
func TestPullEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process){
		"killed": (*process).kill,
		"interrupted": func(p *process) {
			must(p.cmd.Process.Signal(os.Interrupt))
			go p.drain()
			if r := p.wait(130); !strings.HasSuffix(r.stderr, "cupel: interrupted; run the same command again to continue\n") {
				p.l.t.Error(r.stderr)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			h := newHub()
			defer h.Close()
			h.Hold("model.safetensors")
			p := l.start(pullArgs(h)...)
			h.Await("model.safetensors")
			for !grown(l.path("m", inventory.PullDir)) {
				runtime.Gosched()
			}
			end(p)
			h.Release("model.safetensors")
			for _, name := range []string{"model.safetensors", inventory.File} {
				if _, err := os.Stat(l.path("m", name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
			h.Look()
			l.run(0, pullArgs(h)...)
			if log := strings.Join(h.Look(), "\n"); !strings.Contains(log, "/model.safetensors?Signature=secret bytes=") {
				t.Errorf("the file was not continued:\n%s", log)
			}
			l.run(0, "models", "verify", "m")
		})
	}
}

// grown reports whether something of the large file is on the disk.
func grown(dir string) bool {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.Size() > 1000 {
			return true
		}
	}
	return false
}

// TestPullFullDisk pulls where a file cannot grow beyond a limit, and then
// where it can.
func TestPullFullDisk(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	h := newHub()
	defer h.Close()
	for _, limit := range []string{"5", "100000"} {
		tight := *l
		tight.env = append(append([]string{}, l.env...), "CUPEL_TEST_FILE_SIZE="+limit)
		r := tight.run(4, pullArgs(h)...)
		if !strings.Contains(r.stderr, "file too large; make room and run the same command again; what is there is kept") || strings.Contains(r.stderr, "goroutine") {
			t.Error(r.stderr)
		}
		if _, err := os.Stat(l.path("m", "model.safetensors")); err == nil {
			t.Error("an unfinished file has its name")
		}
	}
	l.run(0, pullArgs(h)...)
	l.run(0, "models", "verify", "m")
}

// TestPullSmallDisk is told before the first byte where the disk is too small.
func TestPullSmallDisk(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, unmount, ok, err := smallDisk(l.path("m"), "100k")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Log("mounting is not permitted here")
		return
	}
	t.Cleanup(func() { must(unmount()) })
	h := newHub()
	defer h.Close()
	r := l.run(4, pullArgs(h)...)
	if !strings.Contains(r.stderr, "nothing was downloaded") {
		t.Error(r.stderr)
	}
	if left, err := filepath.Glob(l.path("m", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestShownNames: a name on the disk that turns the line it is shown on is shown
// as what it is.
func TestShownNames(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	h := newHub()
	defer h.Close()
	l.run(0, pullArgs(h)...)
	must(os.WriteFile(l.path("m", "a\u202eb\x1b[31m"), nil, 0o666))
	if r := l.run(1, "models", "verify", "m"); !strings.HasPrefix(r.stdout, `extra      a\u202eb\u001b[31m: `) {
		t.Errorf("%q", r.stdout)
	}
	if r := l.run(0, pullArgs(h)...); !strings.Contains(r.stderr, `the first is "a\u202eb\x1b[31m"`) {
		t.Errorf("%q", r.stderr)
	}
	must(os.Remove(l.path("m", inventory.File)))
	if r := l.run(2, "models", "digest", "m"); !strings.Contains(r.stderr, `file name "a\u202eb\x1b[31m" holds a control character`) {
		t.Errorf("%q", r.stderr)
	}
}
