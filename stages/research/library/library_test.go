package library

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cupel-dev/cupel/stages/prior/table"
)

func importOf(text string) Import {
	return Import{ID: "runs", Kind: "community", URL: "https://example.org", ObservedOn: "2025-06-20", Format: "csv", Ext: ".csv", Bytes: []byte(text),
		Options: table.Options{Map: map[string]string{}, Set: map[string]string{}}}
}

func TestAddTwiceAndChanged(t *testing.T) {
	dir := t.TempDir()
	for i, tt := range []struct {
		text, state string
		versions    int
	}{
		{"model,tok/s\na,1\n", New, 1},
		{"model,tok/s\na,1\n", Unchanged, 1},
		{"model,tok/s\na,2\nb,x\n", Another, 2},
		{"model,tok/s\na,1\n", Another, 3}, // it went back: that is news too
	} {
		res, err := Add(dir, importOf(tt.text))
		if err != nil || res.State != tt.state || len(res.Source.Versions) < tt.versions && res.State != Unchanged {
			t.Errorf("%d: %s %v", i, res.State, err)
		}
		s, err := Open(dir, "runs")
		if err != nil || len(s.Versions) != tt.versions {
			t.Fatalf("%d: %d versions, %v", i, len(s.Versions), err)
		}
		for _, v := range s.Versions {
			if _, err := Snapshot(dir, s, v); err != nil {
				t.Error(err)
			}
			if rows, err := Rows(dir, s, v); err != nil || len(rows) != 1 || rows[0].ID != "runs#1" {
				t.Errorf("%+v %v", rows, err)
			}
		}
	}
}

// Imports at one time lose nothing.
func TestAddConcurrently(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			in := importOf("model,tok/s\na," + strings.Repeat("1", i+1) + "\n")
			if _, err := Add(dir, in); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := Open(dir, "runs")
	if err != nil || len(s.Versions) != 8 {
		t.Errorf("%d versions, %v", len(s.Versions), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "runs", ".new-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := Open(dir, "../up"); err == nil {
		t.Error("an id that leaves the folder")
	}
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	const file = `{"name": "a", "sha256": "0000000000000000000000000000000000000000000000000000000000000000", "bytes": 1}`
	version := func(snapshot string) string {
		return `{"schema": "cupel/research-source/v1", "id": "x", "kind": "import", "url": "u", "versions": [{"observed_on": "2025-01-01", "format": "csv", "snapshot": ` + snapshot + `, "rows": ` + file + `, "skipped": null}]}`
	}
	for text, want := range map[string]string{
		`{`: "x/source.json", `{"schema": "other"}`: "found the schema", `{"schema": "cupel/research-source/v1", "id": "y"}`: `is of source "y"`,
		`{"schema": "cupel/research-source/v1", "id": "x"}`: "no version", `{"schema": "cupel/research-source/v1", "schema": "x"}`: "duplicate",
		version(strings.Replace(file, `"a"`, `"../../etc/passwd"`, 1)): "is not beside it", version(strings.Replace(file, `"a"`, `".."`, 1)): "is not beside it",
		`{"schema": "cupel/research-source/v1", "surprise": 1}`: "unknown",
	} {
		if err := os.WriteFile(filepath.Join(dir, "x", "source.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"schema": "cupel/research-source/v1", "id": "x", "kind": "import", "url": "u", "versions": []}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if os.Mkdir(filepath.Join(dir, "x"), 0o777) != nil || os.WriteFile(filepath.Join(dir, "x", "source.json"), b, 0o600) != nil {
			t.Skip()
		}
		s, err := Open(dir, "x")
		if err != nil {
			return
		}
		_ = s.Latest()
		for _, v := range s.Versions {
			for _, file := range v.files() {
				if filepath.Dir(filepath.Join(dir, "x", file.Name)) != filepath.Join(dir, "x") {
					t.Fatalf("%q lies elsewhere", file.Name)
				}
			}
		}
	})
}
