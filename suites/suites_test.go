package suites

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// What suite.json says is what the item file holds, and a README stands beside
// it that says what a pass means.
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
				Input  any
				Scorer any
			}
			if err := json.Unmarshal(line, &it); err != nil {
				t.Fatal(err)
			}
			if ids[it.ID] || it.Input == nil || it.Strata["task"] == "" {
				t.Errorf("%s: item %q is not well formed", s.Name, it.ID)
			}
			ids[it.ID] = true
			strata[it.Strata["task"]]++
			named(it.Scorer, scorers)
		}
		if diff := cmp.Diff(s.Strata, strata); diff != "" || len(ids) != s.Count {
			t.Errorf("%s: %d items of %d; strata (-says +has):\n%s", s.Name, len(ids), s.Count, diff)
		}
		var says []string
		for _, id := range s.Scorers {
			name, _, _ := strings.Cut(id, "/")
			says = append(says, name)
		}
		if diff := cmp.Diff(says, slices.Sorted(maps.Keys(scorers))); diff != "" {
			t.Errorf("%s: scorers (-says +has):\n%s", s.Name, diff)
		}
		readme, err := FS.ReadFile(path.Join(s.Name, "README.md"))
		if err != nil || !bytes.HasPrefix(readme, []byte("# "+s.Name+": ")) {
			t.Errorf("%s: README.md: %v", s.Name, err)
		}
		for _, section := range []string{"What a pass means", "How it was made", "Limits: ", "Apache-2.0"} {
			if s.Name != "tiny" && !strings.Contains(string(readme), section) {
				t.Errorf("%s: README.md does not say %q", s.Name, section)
			}
		}
	}
}

// named collects the names of an item's scorers in any of their three forms.
func named(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		into[v] = true
	case map[string]any:
		into[v["name"].(string)] = true
	case []any:
		for _, one := range v {
			named(one, into)
		}
	}
}

func TestOpen(t *testing.T) {
	f, err := Open("cupel:tiny/items.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, name := range []string{"tiny/items.jsonl", "cupel:none/items.jsonl", "cupel:../suites.go", "cupel:", "cupel:/etc/passwd"} {
		if f, err := Open(name); err == nil {
			if st, _ := f.Stat(); !st.IsDir() {
				t.Errorf("%s was opened", name)
			}
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
