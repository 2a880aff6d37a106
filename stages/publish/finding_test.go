package publish

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func rendered(t *testing.T) (readme, report []byte) {
	t.Helper()
	rec, dec := fixture(t)
	readme, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	return readme, report
}

func TestGolden(t *testing.T) {
	readme, report := rendered(t)
	golden(t, "README.md", readme)
	golden(t, "report.html", report)
	again, page := rendered(t)
	if !bytes.Equal(readme, again) || !bytes.Equal(report, page) {
		t.Error("the same record gave two renderings")
	}
}
