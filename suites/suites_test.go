package suites

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// What suite.json says is what the item file holds.
func TestManifests(t *testing.T) {
	list, err := List()
	if err != nil || len(list) == 0 {
		t.Fatalf("%d suites, %v", len(list), err)
	}
	for _, s := range list {
		b, err := FS.ReadFile(path.Join(s.Name, s.Items))
		if err != nil {
			t.Fatal(err)
		}
		if got := step.Sum(b).String(); got != s.SHA256 {
			t.Errorf("%s: items have digest %s, suite.json says %s", s.Name, got, s.SHA256)
		}
		ids, strata, scorers := map[string]bool{}, map[string]int{}, map[string]bool{}
		for line := range bytes.Lines(b) {
			var it struct {
				ID     string
				Strata map[string]string
				Input  string
				Scorer string
				Answer json.RawMessage
				Expect json.RawMessage `json:"expect_tool"`
			}
			if err := json.Unmarshal(line, &it); err != nil {
				t.Fatal(err)
			}
			if ids[it.ID] || it.Input == "" || it.Strata["difficulty"] == "" || (it.Answer == nil) == (it.Expect == nil) {
				t.Errorf("%s: item %q is not well formed", s.Name, it.ID)
			}
			ids[it.ID] = true
			strata[it.Strata["task"]]++
			scorers[it.Scorer] = true
		}
		if diff := cmp.Diff(s.Strata, strata); diff != "" || len(ids) != s.Count {
			t.Errorf("%s: %d items of %d; strata (-says +has):\n%s", s.Name, len(ids), s.Count, diff)
		}
		if diff := cmp.Diff(s.Scorers, slices.Sorted(maps.Keys(scorers))); diff != "" {
			t.Errorf("%s: scorers (-says +has):\n%s", s.Name, diff)
		}
	}
}
