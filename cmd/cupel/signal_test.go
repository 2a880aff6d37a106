package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestInterrupted sends one Ctrl-C, or a SIGTERM, while an item is being
// answered: that answer is waited for and kept, nothing else is asked for, and
// the next run goes on from there.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.edit("concurrency: 2", "concurrency: 1")
			l.run(0, "run", "campaign.yaml", "--only", "pin")
			l.run(0, "run", "campaign.yaml", "--only", "preflight")
			l.q8.look()
			l.q8.hold("sum-4")
			p := l.start("run", "campaign.yaml")
			go p.drain()
			if err := l.q8.await("sum-4"); err != nil {
				t.Fatal(err)
			}
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			p.stderr.await(t, "finishing requests in flight")
			p.stderr.await(t, "finishing what is in flight")
			l.q8.release()
			r := p.wait(130)
			if !strings.HasSuffix(r.stderr, "cupel: interrupted; run the same command again to continue\n") {
				t.Error(r.stderr)
			}
			if asked := l.q8.look(); len(asked) != 4 {
				t.Errorf("asked for %v, want four", asked)
			}
			if got := l.run(0, "status").stdout; !strings.Contains(got, ": ended") || strings.Contains(got, "died") {
				t.Error(got)
			}
			l.clean()
			l.run(0, "run", "campaign.yaml")
			if asked := l.q8.look(); len(asked) != 8 || asked[0] != "sum-5" {
				t.Errorf("asked for %v, want the other eight", asked)
			}
			l.clean()
		})
	}
}

// TestInterruptedTwice does not wait for the endpoint.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.q8.hold("sum-4")
	p := l.start("run", "campaign.yaml")
	go p.drain()
	if err := l.q8.await("sum-4"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		p.stderr.await(t, "finishing requests in flight")
	}
	p.wait(130)
	l.q8.release()
	if got := l.run(0, "status").stdout; !strings.Contains(got, ": died") || !strings.Contains(got, "the same `cupel run` continues it") {
		t.Error(got)
	}
	l.clean()
	l.q8.look()
	kept := len(l.journaled("q8"))
	l.run(0, "run", "campaign.yaml")
	if asked := l.q8.look(); len(asked) != 12-kept {
		t.Errorf("asked for %v, and %d were there", asked, kept)
	}
}

// TestInterruptedDecidesNothing: a run that was stopped prints no decision, in
// JSON either, and leaves none for the gate.
func TestInterruptedDecidesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.f16.hold("sum-1")
	l.q8.hold("sum-1")
	p := l.start("run", "campaign.yaml", "--json")
	go p.drain()
	if err := l.f16.await("sum-1"); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.stderr.await(t, "interrupted")
	l.f16.release()
	l.q8.release()
	r := p.wait(130)
	if err := eachJSONLine(r.stdout); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.stdout, `"decision"`) {
		t.Errorf("an interrupted run decides: %s", r.stdout)
	}
	l.run(3, "gate", "campaign.yaml")
}
