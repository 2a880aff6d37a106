package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

func TestOtherSources(t *testing.T) {
	root := sysfs(t)
	meter := file(t, "wall.csv", "time,watts\n")
	sources, missing, err := otherSources(sourceOptions{RAPL: root, Hwmon: root, Wall: meter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeAll(sources); err != nil {
			t.Error(err)
		}
	}()
	got := map[trace.Domain]bool{}
	for _, s := range sources {
		for _, c := range s.Describe().Channels {
			got[c.Domain] = true
		}
	}
	if !got[trace.RAPLPackage] || !got[trace.System] || !got[trace.Wall] || len(got) != 3 {
		t.Errorf("%v", got)
	}
	var why []string
	for _, m := range missing {
		why = append(why, string(m.Domain)+" "+m.Reason)
	}
	if !strings.Contains(strings.Join(why, ", "), "hwmon.gpu no-gpu") {
		t.Error(why)
	}
}

func TestOtherSourcesOff(t *testing.T) {
	sources, missing, err := otherSources(sourceOptions{RAPL: off, Hwmon: off})
	if err != nil || closeAll(sources) != nil {
		t.Error(err)
	}
	if len(sources) > 0 || len(missing) > 0 {
		t.Errorf("nothing was to be read: %v %v", sources, missing)
	}
}

func TestWallSource(t *testing.T) {
	for what, name := range map[string]string{"nothing": filepath.Join(t.TempDir(), "none"), "folder": t.TempDir()} {
		if s, _, err := wallSource(name); s != nil || !errors.Is(err, errOutside) || !strings.HasPrefix(err.Error(), "--wall "+name+": ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A pipe is opened without its writer, and outlives one that goes.
func TestWallPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := fifo(name); err != nil {
		t.Skip("NOT TESTED: no named pipes here: ", err)
	}
	s, _, err := wallSource(name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString("- 100\n"); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	if states := s.States(); states != nil {
		t.Errorf("a pipe without a writer has ended: %+v", states)
	}
}
