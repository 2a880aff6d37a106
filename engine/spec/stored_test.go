package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What is hashed is enough to know the campaign again, but for where files are.
func TestFromCanonical(t *testing.T) {
	want := mustLoad(t, "testdata/campaign/full.yaml")
	got, err := FromCanonical(want.Canonical, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != want.Digest || got.Dir != "x" {
		t.Errorf("%s in %s", got.Digest, got.Dir)
	}
	places := cmp.Options{cmpopts.IgnoreFields(File{}, "Path", "Name", "Size", "Lines"), cmpopts.IgnoreFields(Suite{}, "Count", "Dir"), cmpopts.IgnoreFields(HeldOut{}, "Scorers"), cmpopts.EquateEmpty()}
	if d := cmp.Diff(want.Campaign, got.Campaign, places); d != "" {
		t.Error(d)
	}
}

func TestFromCanonicalRefuses(t *testing.T) {
	good := string(mustLoad(t, "testdata/campaign/full.yaml").Canonical)
	for name, text := range map[string]string{
		"a field of a later version":       strings.Replace(good, `"apiVersion":`, `"aNewOne":1,"apiVersion":`, 1),
		"a nested field of a later one":    strings.Replace(good, `"kind":"quality"`, `"kind":"quality","novelty":true`, 1),
		"a workload of a later version":    strings.Replace(good, `"kind":"decode"`, `"kind":"dream"`, 1),
		"not JSON":                         good[:len(good)/2],
		"another spelling of the same":     " " + good,
		"a value of another type in a map": strings.Replace(good, `"candidates":{`, `"candidates":{"x":1,`, 1),
	} {
		if text == good {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if _, err := FromCanonical([]byte(text), ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
