package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// TestKilledFreeze kills -9 while the items are being copied: nothing stands
// under the name, and the next freeze takes away what is left.
func TestKilledFreeze(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := syscall.Mkfifo(l.path("slow.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := l.start("items", "freeze", "slow.jsonl", "suites/v1", "--name", "own", "--version", "1")
	item := `{"id":"a","input":"q","scorer":"exact","answer":"x"}` + "\n"
	l.feed("slow.jsonl", item) // read once to be counted
	for len(l.scratch()) == 0 {
		runtime.Gosched()
	}
	w := l.feedOpen("slow.jsonl") // once it is being copied
	p.kill()
	w.Close()
	if _, err := os.Stat(l.path("suites", "v1")); err == nil || len(l.scratch()) != 1 {
		t.Fatalf("the kill came too late: %v, %v", err, l.scratch())
	}
	if err := os.WriteFile(l.path("items.jsonl"), []byte(item), 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(0, "items", "freeze", "items.jsonl", "suites/v1", "--name", "own", "--version", "1")
	names, err := os.ReadDir(l.path("suites"))
	if err != nil || len(names) != 1 || names[0].Name() != "v1" {
		t.Errorf("%v %v", names, err)
	}
}

func (l *lab) scratch() []string {
	found, _ := filepath.Glob(l.path("suites", ".cupel-items-*"))
	return found
}

func (l *lab) feedOpen(fifo string) *os.File {
	l.t.Helper()
	w, err := os.OpenFile(l.path(fifo), os.O_WRONLY, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

func (l *lab) feed(fifo, text string) {
	l.t.Helper()
	w := l.feedOpen(fifo)
	defer w.Close()
	if _, err := io.WriteString(w, text); err != nil {
		l.t.Fatal(err)
	}
}

// TestConcurrentOpenings: processes that open held-out items at once each leave
// one whole line.
func TestConcurrentOpenings(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path("key"), []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(0, "items", "split", "items.jsonl", "parts", "--salt", "a", "--held-out", "0.5", "--recipient", id.Recipient().String())
	held := ""
	for line := range strings.Lines(l.run(0, "items", "show", "parts").stdout) {
		if name, part, _ := strings.Cut(line, "  "); strings.HasPrefix(part, "held-out") {
			held = name
		}
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { l.run(0, "items", "show", "parts", held, "--identity", "key", "--as", fmt.Sprint("p", i)) })
	}
	all.Wait()
	log := l.run(0, "items", "show", "parts", "--access").stdout
	if strings.Count(log, "\n") != 8 || strings.Count(log, "  cupel items show  1 item(s)\n") != 8 {
		t.Errorf("%s", log)
	}
	for i := range 8 {
		if strings.Count(log, fmt.Sprintf("  p%d  ", i)) != 1 {
			t.Errorf("p%d is not there once: %s", i, log)
		}
	}
}

// TestSplitFullDisk: a split that cannot be written leaves nothing and says 4.
func TestSplitFullDisk(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "CUPEL_TEST_FILE_SIZE=300")
	l.run(4, "items", "split", "items.jsonl", "made/parts", "--salt", "a", "--held-out", "0.5", "--recipient", id.Recipient().String())
	if names, err := os.ReadDir(l.path("made")); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v %v", names, err)
	}
}

func TestOpenPlain(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, wrap func(io.Writer) io.WriteCloser) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := wrap(f)
		if _, err := io.WriteString(w, "a line\n"); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	for _, name := range []string{
		write("a.jsonl", func(w io.Writer) io.WriteCloser { return w.(io.WriteCloser) }),
		write("a.jsonl.gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		write("a.jsonl.zst", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }),
	} {
		r, err := openPlain(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || r.Close() != nil || string(b) != "a line\n" {
			t.Errorf("%s: %q %v", filepath.Base(name), b, err)
		}
	}
}

// FuzzReadLabels: a label file is read whole or refused, and no label is empty
// where the file is a table.
func FuzzReadLabels(f *testing.F) {
	f.Add("id,a,b\nx,1,\ny,,2\n", true)
	f.Add("a,id\n\"q\nr\",x\n", true)
	f.Add(`{"id":"x","strata":{"a":"b"}}`, false)
	f.Fuzz(func(t *testing.T, text string, table bool) {
		name := filepath.Join(t.TempDir(), "l.jsonl")
		if table {
			name = filepath.Join(t.TempDir(), "l.csv")
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := readLabels(name)
		if err != nil {
			return
		}
		for id, strata := range all {
			for label, value := range strata {
				if id == "" || table && value == "" {
					t.Fatalf("%q: %q=%q", id, label, value)
				}
			}
		}
	})
}
