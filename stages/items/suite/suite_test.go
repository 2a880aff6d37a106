package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// tmp is a folder of its own with a helper to write files.
type tmp struct {
	testing.TB
	dir string
}

func newTmp(t testing.TB) tmp { return tmp{t, t.TempDir()} }

func (t tmp) path(name string) string { return filepath.Join(t.dir, name) }

func (t tmp) write(name, text string) string {
	t.Helper()
	if err := os.WriteFile(t.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return t.path(name)
}

func (t tmp) read(name string) string {
	t.Helper()
	b, err := os.ReadFile(t.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (t tmp) open(name string) *Set {
	t.Helper()
	s, err := Open(t.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbered makes n items whose texts share no run of words.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"i%d","strata":{"task":"t%d"},"input":"secret%d: how much is a%[1]d b%[1]d c%[1]d d%[1]d","scorer":"exact","answer":"right%[1]d","source":"expert"}`+"\n", i, i%2, i)
	}
	return b.String()
}

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (t tmp) split(from, to string, id *age.X25519Identity, parent *Set) SplitReport {
	t.Helper()
	rep, err := WriteSplit(t.open(from), t.path(to), SplitOptions{Salt: "salt", Share: 0.3, Recipients: []string{id.Recipient().String()}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

var options = FreezeOptions{Name: "s", Version: "1", Scorer: func(n string) (string, bool) { return n + "/1", n == "exact" }}

func (t tmp) freeze(from, to string, o FreezeOptions) (Manifest, bool, error) {
	t.Helper()
	return Freeze(context.Background(), t.open(from), t.path(to), o)
}

func (t tmp) mustFreeze(from, to string, o FreezeOptions) Manifest {
	t.Helper()
	m, fresh, err := t.freeze(from, to, o)
	if err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	return m
}

func key(ids ...age.Identity) Key {
	return Key{Identities: ids, As: "tester", Command: "test", Now: "2026-01-02T03:04:05Z"}
}

func TestHeldOutIsSealed(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(60))
	rep := d.split("items.jsonl", "parts", id, nil)
	if rep.HeldOut+rep.Development != 60 || rep.HeldOut < 8 || rep.HeldOut > 30 {
		t.Errorf("%+v", rep)
	}
	d.mustFreeze("parts", "v1", options)
	s := d.open("v1")
	var sealed []string
	if err := s.Index(func(e Entry) error { sealed = append(sealed, e.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(d.path("v1/*"))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, id := range sealed {
			n := strings.TrimPrefix(id, "i")
			for _, text := range []string{"secret" + n + ":", "right" + n + `"`} {
				if bytes.Contains(b, []byte(text)) {
					t.Errorf("%s holds the text of held-out item %s", filepath.Base(f), id)
				}
			}
		}
	}
	if err := s.HeldOut(key(), 1, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("no identity: %v", err)
	}
	if err := s.HeldOut(key(identity(t)), 1, nil); err == nil || !strings.Contains(err.Error(), "does not open") {
		t.Errorf("wrong identity: %v", err)
	}
	if log, _ := s.AccessLog(); len(log.Openings) != 0 {
		t.Errorf("nothing was opened, and the log says %v", log)
	}
	var opened []string
	err := s.HeldOut(key(id), len(sealed), func(it items.Item) error {
		opened = append(opened, it.ID)
		if !strings.HasPrefix(it.Input[0].Content, "secret"+it.ID[1:]) {
			t.Errorf("item %s reads %q", it.ID, it.Input[0].Content)
		}
		return nil
	})
	if err != nil || !cmp.Equal(opened, sealed) {
		t.Errorf("%v; %s", err, cmp.Diff(sealed, opened))
	}
	log, err := s.AccessLog()
	want := []Access{{Time: "2026-01-02T03:04:05Z", As: "tester", Command: "test", Items: len(sealed)}}
	if err != nil || log.Unreadable != 0 || !cmp.Equal(log.Openings, want) {
		t.Errorf("%v %v", log, err)
	}
}

// TestUnrecordedOpening: what cannot be recorded is not opened.
func TestUnrecordedOpening(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(20))
	d.split("items.jsonl", "parts", id, nil)
	if err := os.Mkdir(d.path("parts/"+AccessFile), 0o755); err != nil {
		t.Fatal(err)
	}
	err := d.open("parts").HeldOut(key(id), 1, func(items.Item) error { t.Error("a text was read"); return nil })
	if err == nil || !strings.Contains(err.Error(), "record the opening") {
		t.Error(err)
	}
}

func TestAccessLogConcurrent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, AccessFile), []byte(`{"time":"cut`), 0o644); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 25 {
				if err := appendAccess(dir, Access{Time: "t", As: strings.Repeat("n", 9000+i), Command: "c", Items: j}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	log, err := (&Set{dir: dir}).AccessLog()
	if err != nil || len(log.Openings) != 200 || log.Unreadable != 1 || len(log.Broken) != 0 {
		t.Errorf("%d lines, %d unreadable, broken %v, %v; want 200 and the one that was cut", len(log.Openings), log.Unreadable, log.Broken, err)
	}
}

func TestTampered(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(40))
	d.write(ReportFile, "{}\n")
	from := d.open("items.jsonl")
	if _, err := WriteSplit(from, d.path("parts"), SplitOptions{Salt: "x", Share: 0.3, Recipients: []string{id.Recipient().String()}, Report: from.Report()}); err != nil {
		t.Fatal(err)
	}
	o := options
	o.BuildReport = d.open("parts").Report()
	d.mustFreeze("parts", "v1", o)
	for _, name := range []string{ItemsFile, SealedFile, IndexFile, ReportFile, ManifestFile} {
		old := d.read("v1/" + name)
		at := len(old) / 2
		if name == ManifestFile {
			at = strings.Index(old, `"version": "1"`) + len(`"version": "`)
		}
		d.write("v1/"+name, old[:at]+string(old[at]^1)+old[at+1:])
		if _, err := Open(d.path("v1")); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s changed: %v", name, err)
		}
		d.write("v1/"+name, old)
	}
	// A manifest that fits the changed cipher text still fails on its plain text.
	other := d.split("items.jsonl", "other", id, nil)
	_ = other
	m := *d.open("v1").Manifest
	cipher := d.read("other/" + SealedFile)
	d.write("v1/"+SealedFile, cipher)
	sp := *m.Split
	sp.HeldOut.Encrypted, m.Split = step.Sum([]byte(cipher)), &sp
	b, _ := json.Marshal(m)
	d.write("v1/"+ManifestFile, string(b))
	if err := d.open("v1").HeldOut(key(id), 1, func(items.Item) error { return nil }); !errors.Is(err, ErrTampered) {
		t.Errorf("another plain text: %v", err)
	}
}

func TestFreeze(t *testing.T) {
	d := newTmp(t)
	d.write("a.jsonl", `{"scorer":["exact"], "answer":"1", "input":[{"role":"user","content":"q"}], "id":"i"}`+"\n")
	d.write("b.jsonl", `{"id":"i","input":"q","scorer":"exact","answer": "1"}`+"\n")
	d.write("c.jsonl", `{"id":"i","input":"q","scorer":"exact","answer":"2"}`+"\n")
	d.write("u.jsonl", `{"id":"i","input":"q","scorer":"exacts","answer":"2"}`+"\n")
	m := d.mustFreeze("a.jsonl", "v1", options)
	for _, tt := range []struct{ from, to, version, err string }{
		{"a.jsonl", "v1", "1", ""},
		{"b.jsonl", "v1", "1", ""}, // the same content, written differently
		{"c.jsonl", "v1", "1", "is published with other content"},
		{"c.jsonl", "elsewhere", "1", "is published with other content"},
		{"c.jsonl", "v1", "2", "holds s version 1"},
		{"u.jsonl", "v9", "9", `no scorer "exacts"`},
		{"a.jsonl", "v9", "../9", "version"},
		{"v1", "v9", "9", "frozen already"},
	} {
		o := options
		o.Version = tt.version
		got, fresh, err := d.freeze(tt.from, tt.to, o)
		switch {
		case tt.err == "" && (err != nil || fresh || got.Digest != m.Digest):
			t.Errorf("%+v: %v, %v, %s", tt, fresh, err, got.Digest)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%+v: %v", tt, err)
		}
	}
	o := options
	o.Version, o.Parent = "2", d.open("v1")
	m2 := d.mustFreeze("c.jsonl", "v2", o)
	if m2.Parent != "1" || *m2.ParentDigest != m.Digest || m2.Digest == m.Digest {
		t.Errorf("%+v", m2)
	}
	d.write("dir", "")
	if left, _ := filepath.Glob(d.path(scratch + "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestEngineReads: what Freeze writes is what the engine's loader and the
// campaigns take.
func TestEngineReads(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(30))
	d.split("items.jsonl", "parts", id, nil)
	m := d.mustFreeze("parts", "v1", options)
	d.write("campaign.yaml", `apiVersion: cupel/v1
campaign: reads
decision: {question: "q?", kind: other}
candidates:
  a: {role: baseline, model: {repo: m, sha256: `+strings.Repeat("a", 64)+`}, sampling: {temperature: 0, maxTokens: 8}}
  b: {role: candidate, model: {repo: m, sha256: `+strings.Repeat("b", 64)+`}, sampling: {temperature: 0, maxTokens: 8}}
measure:
  q: {kind: quality, suite: v1, stratify: task}
decide: {guards: {g: {on: q, rule: "lo > -0.02"}}}
`)
	l, err := spec.Load(d.path("campaign.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := l.Campaign.Measure["q"].Quality.Suite
	if got.Name != "s" || got.Version != "1" || got.Count != m.Count || got.Items.Digest != m.SHA256 {
		t.Errorf("%+v, want %+v", got, m)
	}
}

// TestHandWritten: suites that were not made here are read too.
func TestHandWritten(t *testing.T) {
	s, err := Open("../../../suites/tiny")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Census()
	if err != nil || c.Development != 2000 || c.HeldOut != 0 || c.Labels["task"]["json"] != 333 {
		t.Errorf("%+v %v", c, err)
	}
}

// TestConcurrentFreeze: of many contents under one name exactly one is
// published, whole.
func TestConcurrentFreeze(t *testing.T) {
	d := newTmp(t)
	var wins sync.Map
	var all sync.WaitGroup
	for i := range 6 {
		d.write(fmt.Sprint(i, ".jsonl"), numbered(i+1))
		all.Go(func() {
			m, fresh, err := d.freeze(fmt.Sprint(i, ".jsonl"), "v1", options)
			switch {
			case err == nil && fresh:
				wins.Store(m.Digest, true)
			case !errors.Is(err, ErrPublished):
				t.Error(fresh, err)
			}
		})
	}
	all.Wait()
	n := 0
	wins.Range(func(k, _ any) bool {
		n++
		if got := d.open("v1").Manifest.Digest; got != k {
			t.Errorf("%s won, %s is there", k, got)
		}
		return true
	})
	if n != 1 {
		t.Errorf("%d freezes won", n)
	}
}

// TestInterruptedFreeze stops at every point where something is written.
func TestInterruptedFreeze(t *testing.T) {
	d := newTmp(t)
	d.write("items.jsonl", numbered(3))
	if err := os.Mkdir(d.path(scratch+"dead"), 0o755); err != nil { // of one that was killed
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Freeze(ctx, d.open("items.jsonl"), d.path("v1"), options); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.write("bad.jsonl", numbered(3)+"{}\n")
	if _, _, err := d.freeze("bad.jsonl", "v1", options); err == nil {
		t.Error("a bad line was frozen")
	}
	names, _ := os.ReadDir(d.dir)
	if len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// FuzzOpen: a folder opens only when its item file is the one that suite.json
// names by digest, whatever else is written there.
func FuzzOpen(f *testing.F) {
	d := newTmp(f)
	d.write("items.jsonl", numbered(2))
	d.mustFreeze("items.jsonl", "v1", options)
	good := d.read("v1/" + ManifestFile)
	f.Add(good, false)
	f.Add(strings.Replace(good, `"items.jsonl"`, `"../items.jsonl"`, 1), false)
	f.Add(`{"salt":"s","development":{"file":"items.jsonl"},"held_out":{"index":"/etc/passwd"}}`, true)
	f.Fuzz(func(t *testing.T, manifest string, split bool) {
		d := newTmp(t)
		name := ManifestFile
		if split {
			name = SplitFile
		}
		d.write(ItemsFile, numbered(2))
		d.write(name, manifest)
		s, err := Open(d.dir)
		if err != nil {
			return
		}
		if !filepath.IsLocal(strings.TrimPrefix(s.items, d.dir+"/")) {
			t.Fatalf("opens %s", s.items)
		}
		if m := s.Manifest; m != nil && !m.Digest.IsZero() && m.SHA256 != step.Sum([]byte(d.read(ItemsFile))) {
			t.Fatalf("opens with another item file: %s", manifest)
		}
	})
}
