package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKilledWhileGenerating kills -9 while the n-th item is being answered: the
// next run asks for what is missing and nothing else.
func TestKilledWhileGenerating(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	for _, at := range []string{"generate", "sum-1", "sum-5", "tree-6"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.q8.hold(at)
			p := l.start("run", "campaign.yaml")
			if err := l.q8.await(at); err != nil {
				t.Fatal(err)
			}
			p.kill()
			l.q8.release()
			l.clean()
			kept := len(l.journaled("q8"))
			before := len(l.q8.look())
			r := l.run(0, "run", "campaign.yaml")
			if asked := l.q8.look(); at != "generate" && len(asked) != 12-kept {
				t.Errorf("%d requests for %d items of which the journal held %d: %v (%d before the kill)\n%s", len(asked), 12, kept, asked, before, r.stderr)
			}
			sound(t, l, want)
		})
	}
}

// TestKilledWhileGrowing kills -9 while a new item of a set that has grown is
// being answered: the rows of the earlier set and those of the journal are
// there, and the outputs are those of a set that was asked for as a whole.
func TestKilledWhileGrowing(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	l := newLab(t)
	whole, err := os.ReadFile(l.path("items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if err := os.WriteFile(l.path("items.jsonl"), bytes.Join(slices.Concat(lines[:2], lines[6:11]), nil), 0o666); err != nil {
		t.Fatal(err)
	}
	l.run(0, "run", "campaign.yaml")
	if err := os.WriteFile(l.path("items.jsonl"), whole, 0o666); err != nil {
		t.Fatal(err)
	}
	l.q8.look()
	l.q8.hold("sum-6")
	p := l.start("run", "campaign.yaml")
	if err := l.q8.await("sum-6"); err != nil {
		t.Fatal(err)
	}
	p.kill()
	l.q8.release()
	l.clean()
	kept := len(l.journaled("q8"))
	if asked := l.q8.look(); kept == 0 || slices.ContainsFunc(asked, func(id string) bool {
		return !slices.Contains([]string{"sum-3", "sum-4", "sum-5", "sum-6", "tree-6"}, id)
	}) {
		t.Errorf("%v were asked for before the kill, %d are in the journal", asked, kept)
	}
	r := l.run(0, "run", "campaign.yaml")
	if asked := l.q8.look(); len(asked) != 5-kept {
		t.Errorf("%d requests for 5 new items of which the journal held %d: %v", len(asked), kept, asked)
	}
	if !strings.Contains(r.stderr, "7 rows kept from an earlier set, 5 asked") {
		t.Error(r.stderr)
	}
	l.clean()
	if diff := cmp.Diff(want, l.outputs()); diff != "" {
		t.Errorf("other outputs than a set that was asked for as a whole:\n%s", diff)
	}
}

// TestKilledInTheJournal cuts the journal of a killed run at every place that a
// kill or a power failure may leave: before, in, and after a durable line.
func TestKilledInTheJournal(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.edit("concurrency: 2", "concurrency: 1")
	calm := newLab(t)
	calm.edit("concurrency: 2", "concurrency: 1")
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()

	l.run(0, "run", "campaign.yaml", "--only", "pin")
	l.run(0, "run", "campaign.yaml", "--only", "preflight")
	l.q8.hold("tree-1")
	p := l.start("run", "campaign.yaml")
	if err := l.q8.await("tree-1"); err != nil {
		t.Fatal(err)
	}
	p.kill()
	l.q8.release()
	lines := l.journaled("q8")
	if len(lines) < 5 {
		t.Fatalf("only %d lines in the journal", len(lines))
	}
	name, whole := l.journal("q8")
	end := len(whole)
	last := end - len(lines[len(lines)-1])
	for _, cut := range []int{0, 1, last - 1, last, last + 1, last + 17, end - 1, end} {
		t.Run(fmt.Sprintf("at %d of %d", cut, end), func(t *testing.T) {
			c := l.copy(t)
			if err := os.WriteFile(strings.Replace(name, l.dir, c.dir, 1), whole[:cut], 0o644); err != nil {
				t.Fatal(err)
			}
			kept := bytes.Count(whole[:cut], []byte("\n"))
			c.q8.look()
			c.run(0, "run", "campaign.yaml")
			if asked := c.q8.look(); len(asked) != 12-kept {
				t.Errorf("%d requests, want %d: %v", len(asked), 12-kept, asked)
			}
			sound(t, c, want)
		})
	}
}

// TestKilledAtEveryEvent kills a run right after its first event, the next one
// after its second, and so on, until one gets to its end: all the while it is
// pinning, checking, measuring, scoring, comparing, publishing and deciding.
func TestKilledAtEveryEvent(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	l := newLab(t)
	for n := 1; ; n++ {
		p := l.start("run", "campaign.yaml", "--json")
		last := ""
		for range n {
			line, ok := p.line()
			if !ok {
				break
			}
			last = line
		}
		p.kill()
		l.clean()
		if strings.Contains(last, `"decision"`) {
			t.Logf("%d kills", n-1)
			break
		}
		if n > 200 {
			t.Fatal("no run got to its end")
		}
	}
	l.run(0, "run", "campaign.yaml")
	sound(t, l, want)
}

// TestKilledWhilePublishing stops a run in the middle of writing its finding,
// where the index of findings is a pipe that nobody feeds, and again where the
// folder of the finding is not complete.
func TestKilledWhilePublishing(t *testing.T) {
	t.Parallel()
	calm := newLab(t)
	calm.run(0, "run", "campaign.yaml")
	want := calm.outputs()
	for name, stop := range map[string]func(*lab, *process) bool{"index": atIndex, "folder": inFolder} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for tries := 0; ; tries++ {
				l := newLab(t)
				if err := os.Mkdir(l.path("findings"), 0o777); err != nil {
					t.Fatal(err)
				}
				if !stop(l, l.start("run", "campaign.yaml", "--json")) {
					if tries == 50 {
						t.Fatal("the finding was always complete before the kill")
					}
					continue
				}
				l.clean()
				r := l.run(0, "run", "campaign.yaml")
				if !strings.Contains(r.stderr, "requests sent: 0;") {
					t.Error(r.stderr)
				}
				sound(t, l, want)
				return
			}
		})
	}
}

// atIndex kills when the index is being read.
func atIndex(l *lab, p *process) bool {
	index := l.path("findings", "README.md")
	must(syscall.Mkfifo(index, 0o666))
	p.until(`"state":"end"`)
	w, err := os.OpenFile(index, os.O_WRONLY, 0) // returns when cupel opens it
	must(err)
	p.kill()
	must(w.Close())
	must(os.Remove(index))
	return true
}

// inFolder kills as soon as the unfinished folder is there, and reports whether
// it still is.
func inFolder(l *lab, p *process) bool {
	unfinished := func() bool {
		found, err := filepath.Glob(l.path("findings", ".tmp-finding-*", "record.json"))
		must(err)
		return len(found) > 0
	}
	complete := func() bool {
		_, err := os.Stat(l.path("findings", "index.json"))
		return err == nil
	}
	p.until(`"state":"end"`)
	for !unfinished() && !complete() {
		runtime.Gosched()
	}
	p.kill()
	return unfinished()
}

// until reads lines of stdout up to one that contains text.
func (p *process) until(text string) {
	p.l.t.Helper()
	for {
		line, ok := p.line()
		if !ok {
			p.l.t.Fatalf("no %s in %s", text, p.stdout.String())
		}
		if strings.Contains(line, text) {
			return
		}
	}
}
