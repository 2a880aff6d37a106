package llm_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// required are the ids of all public mistakes that concern a client.
func required() (ids []string) {
	for _, span := range []struct {
		kind     string
		from, to int
	}{{"T", 1, 24}, {"K", 1, 17}, {"S", 1, 16}, {"F", 1, 14}, {"L", 4, 6}, {"L", 8, 14}, {"L", 16, 17}, {"A", 8, 8}, {"D", 1, 9}, {"E", 28, 33}, {"E", 36, 38}} {
		for n := span.from; n <= span.to; n++ {
			ids = append(ids, fmt.Sprint(span.kind, n))
		}
	}
	return ids
}

// Every mistake has cases or tests that exist, here or elsewhere.
// With -v it prints the table.
func TestRows(t *testing.T) {
	cases := map[string]bool{}
	for _, h := range llmtest.Hostiles() {
		cases[h.Name] = true
	}
	folders := testsBelow(t)
	var ids []string
	var table strings.Builder
	table.WriteString("| id | mistake | cases | tests | elsewhere |\n|---|---|---|---|---|\n")
	for _, r := range llmtest.Rows() {
		ids = append(ids, r.ID)
		if len(r.Cases)+len(r.Tests)+len(r.Elsewhere) == 0 {
			t.Errorf("%s has neither a case nor a test", r.ID)
		}
		for _, name := range r.Cases {
			if !cases[name] {
				t.Errorf("%s: there is no case %q", r.ID, name)
			}
		}
		var elsewhere []string
		for _, at := range append(r.Elsewhere, llmtest.Place{Folder: "stages/llm", Why: "beside the client", Tests: r.Tests}) {
			for _, name := range at.Tests {
				if !hasTest(folders, at.Folder, name) {
					t.Errorf("%s: there is no test %s in %s", r.ID, name, at.Folder)
				}
			}
			if at.Folder != "stages/llm" {
				elsewhere = append(elsewhere, fmt.Sprintf("%s: %s (%s)", at.Folder, at.Why, strings.Join(at.Tests, " ")))
				if at.Why == "" || len(at.Tests) == 0 {
					t.Errorf("%s: it is not said what tests it in %s", r.ID, at.Folder)
				}
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", r.ID, r.Mistake, strings.Join(r.Cases, "; "), strings.Join(r.Tests, " "), strings.Join(elsewhere, "; "))
	}
	if want := required(); !slices.Equal(ids, want) {
		t.Errorf("rows %v\nwant %v", ids, want)
	}
	t.Log("\n" + table.String())
}

// testsBelow are the texts of all tests of the module, by folder.
func testsBelow(t *testing.T) map[string][]string {
	t.Helper()
	root, out := filepath.Join("..", ".."), map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		out[filepath.ToSlash(folder)] = append(out[filepath.ToSlash(folder)], string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func hasTest(folders map[string][]string, folder, name string) bool {
	return slices.ContainsFunc(folders[folder], func(text string) bool { return strings.Contains(text, "\nfunc "+name+"(t *testing.T) {") })
}

// TestRowsThatLie: a test that is not there is found to be missing.
func TestRowsThatLie(t *testing.T) {
	folders := testsBelow(t)
	for folder, name := range map[string]string{"stages/metric": "TestNothingOfTheKind", "stages/nowhere": "TestRows", "stages/llm": "TestRow"} {
		if hasTest(folders, folder, name) {
			t.Errorf("%s has a test %s", folder, name)
		}
	}
}
