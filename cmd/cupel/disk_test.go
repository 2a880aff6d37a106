package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFullDisk runs where nothing larger than a few bytes, or a few kilobytes,
// can be written: the run ends with exit code 4 and a sentence, nothing
// half-written is visible, and with room again it goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	for _, limit := range []string{"10", "100", "600", "1500", "3000", "9000"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tight := *l
			tight.env = append(append([]string{}, l.env...), "CUPEL_TEST_FILE_SIZE="+limit)
			r := tight.run(4, "run", "campaign.yaml")
			l.full(r, "file too large")
			l.run(0, "run", "campaign.yaml")
			sound(t, l, want)
		})
	}
}

// full wants one sentence about a disk without room, and nothing half-written.
func (l *lab) full(r result, words string) {
	l.t.Helper()
	if !strings.Contains(r.stderr, words) || strings.Contains(r.stderr, "goroutine") {
		l.t.Error(r.stderr)
	}
	if strings.Contains(r.stdout, "verdict") {
		l.t.Errorf("a decision that could not be kept is printed: %s", r.stdout)
	}
	if _, err := os.Stat(l.path(".cupel", "format")); err == nil {
		l.clean()
	}
	l.run(3, "gate", "campaign.yaml")
	found, err := filepath.Glob(l.path("findings", "*"))
	if err != nil || len(found) > 0 {
		l.t.Errorf("findings %v, %v", found, err)
	}
}

// TestFullFileSystem does the same with a store that is a file system of its
// own, where that may be mounted. Elsewhere TestFullDisk and the store's own
// tests stand for it.
func TestFullFileSystem(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	for _, size := range []string{"4k", "24k", "64k", "128k", "160k"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			grow, unmount, ok, err := smallDisk(l.path(".cupel"), size)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				t.Log("mounting is not permitted here")
				return
			}
			t.Cleanup(func() { must(unmount()) })
			l.full(l.run(4, "run", "campaign.yaml"), "no space left")
			must(grow())
			l.run(0, "run", "campaign.yaml")
			sound(t, l, want)
		})
	}
}
