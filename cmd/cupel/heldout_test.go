package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

// newHeldOutLab makes the shared items a frozen suite and runs its held-out part.
func newHeldOutLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path("key"), []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(0, "items", "split", "items.jsonl", "parts", "--salt", "a", "--held-out", "0.6", "--recipient", id.Recipient().String())
	l.run(0, "items", "freeze", "parts", "v1", "--name", "s", "--version", "1")
	l.edit("suite: items.jsonl", "suite: v1, split: held-out")
	return l
}

// rewrite changes a file of the suite and the digest of it in suite.json, as
// somebody may who wants to be believed. The digest of the version does not
// cover how the text is encrypted.
func (l *lab) rewrite(name, field string, edit func([]byte) []byte) {
	l.t.Helper()
	b, err := os.ReadFile(l.path("v1", name))
	if err != nil {
		l.t.Fatal(err)
	}
	manifest, err := os.ReadFile(l.path("v1", "suite.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	was, now := step.Sum(b), edit(b)
	text := strings.Replace(string(manifest), field+`": "`+was.String(), field+`": "`+step.Sum(now).String(), 1)
	if text == string(manifest) {
		l.t.Fatalf("suite.json does not name %s", was)
	}
	for file, content := range map[string][]byte{name: now, "suite.json": []byte(text)} {
		if err := os.WriteFile(l.path("v1", file), content, 0o666); err != nil {
			l.t.Fatal(err)
		}
	}
}

// A cipher text that was cut or changed, and an index that is not the items',
// stop a run before anything is sent, also when suite.json was made to fit.
func TestForgedHeldOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, field, want string
		edit              func([]byte) []byte
	}{
		"cut":     {"heldout.age", "encrypted_sha256", "cannot be decrypted", func(b []byte) []byte { return b[:len(b)-9] }},
		"changed": {"heldout.age", "encrypted_sha256", "cannot be decrypted", func(b []byte) []byte { b[len(b)-9] ^= 1; return b }},
		"header":  {"heldout.age", "encrypted_sha256", "v1: heldout.age: ", func(b []byte) []byte { return b[:40] }},
		"index": {"heldout.index.jsonl", "index_sha256", "suite.json is not what was frozen", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"task":"`, `"task":"x`, 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHeldOutLab(t)
			l.rewrite(c.file, c.field, c.edit)
			r := l.run(2, "run", "campaign.yaml", "--identity", "key")
			if !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "What is") || strings.Count(r.stderr, "\n") > 2 {
				t.Errorf("%s", r.stderr)
			}
			if sent := append(l.f16.look(), l.q8.look()...); len(sent) != 0 {
				t.Errorf("%v were asked for", sent)
			}
		})
	}
}

// A step that nobody expected to run, and that has no identity then, is wrong
// usage; beside a failure of the outside it is that.
func TestLockedStep(t *testing.T) {
	locked := exec.Result{Step: step.Step{Name: "measure/q8/answers/generate"}, State: exec.Failed}
	c := &spec.Campaign{Measure: map[string]spec.Workload{"answers": {Kind: "quality", Quality: &spec.Quality{
		Suite: spec.Suite{Items: spec.File{Path: "v1/heldout.age"}, HeldOut: &spec.HeldOut{}}}}}}
	w := &wiring{loaded: &spec.Loaded{Campaign: c}}
	_, locked.Err = w.unseal("r", step.Input{Path: "v1/heldout.age", Sealed: true})
	if !errors.Is(locked.Err, suite.ErrLocked) || !strings.HasSuffix(locked.Err.Error(), giveIdentity) {
		t.Fatal(locked.Err)
	}
	down := exec.Result{State: exec.Failed, Err: step.ErrUnreachable}
	for want, results := range map[exitCode][]exec.Result{exitUsage: {locked, locked}, exitOutside: {locked, down}} {
		if err := runError(&exec.Outcome{Results: results}); codeOf(err) != want {
			t.Errorf("%v: exit code %d, want %d", err, codeOf(err), want)
		}
	}
	if _, err := w.unseal("r", step.Input{Path: "other.age"}); err == nil {
		t.Error("a file that belongs to no workload was opened")
	}
}

// Runs at once on one suite: each opening is a whole line, and they are chained.
func TestHeldOutRunsAtOnce(t *testing.T) {
	t.Parallel()
	l := newHeldOutLab(t)
	first := l.start("run", "campaign.yaml", "--identity", "key", "--as", "run")
	go first.drain()
	done := make(chan struct{})
	for range 4 {
		go func() { l.run(0, "check", "campaign.yaml", "--identity", "key", "--as", "check"); done <- struct{}{} }()
	}
	for range 4 {
		<-done
	}
	first.wait(0)
	var log struct {
		Access []struct{ As, Why string }
		Doubts []string
	}
	if err := json.Unmarshal([]byte(l.run(0, "items", "show", "v1", "--access", "--json").stdout), &log); err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, a := range log.Access {
		by[a.As]++
	}
	if by["run"] != 2 || by["check"] != 4 || len(log.Doubts) != 0 {
		t.Errorf("%+v", log)
	}
	if r := l.run(0, "run", "campaign.yaml"); !strings.Contains(r.stderr, "requests sent: 0; ") || strings.Contains(r.stderr, "warning") {
		t.Errorf("%s", r.stderr)
	}
}
