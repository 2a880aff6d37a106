package llm_test

import (
	"fmt"
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
	}{{"T", 1, 24}, {"K", 1, 17}, {"S", 1, 16}, {"F", 1, 14}, {"L", 11, 12}, {"L", 17, 17}, {"E", 28, 33}, {"E", 36, 38}} {
		for n := span.from; n <= span.to; n++ {
			ids = append(ids, fmt.Sprint(span.kind, n))
		}
	}
	return ids
}

// Every mistake has a case or a test that exists, or a package that has tests.
// With -v it prints the table.
func TestRows(t *testing.T) {
	cases := map[string]bool{}
	for _, h := range llmtest.Hostiles() {
		cases[h.Name] = true
	}
	here := testFiles(t, ".")
	var ids []string
	var table strings.Builder
	table.WriteString("| id | mistake | cases | tests | elsewhere |\n|---|---|---|---|---|\n")
	for _, r := range llmtest.Rows() {
		ids = append(ids, r.ID)
		if len(r.Cases)+len(r.Tests) == 0 && r.Where == "" {
			t.Errorf("%s has neither a case nor a test", r.ID)
		}
		for _, name := range r.Cases {
			if !cases[name] {
				t.Errorf("%s: there is no case %q", r.ID, name)
			}
		}
		for _, name := range r.Tests {
			if !slices.ContainsFunc(here, func(text string) bool { return strings.Contains(text, "\nfunc "+name+"(t *testing.T) {") }) {
				t.Errorf("%s: there is no test %s", r.ID, name)
			}
		}
		if r.Where != "" && (r.Why == "" || len(testFiles(t, filepath.Join("..", "..", filepath.FromSlash(r.Where)))) == 0) {
			t.Errorf("%s: %s has no tests, or it is not said which", r.ID, r.Where)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", r.ID, r.Mistake, strings.Join(r.Cases, "; "), strings.Join(r.Tests, " "), strings.Trim(r.Where+": "+r.Why, ": "))
	}
	if want := required(); !slices.Equal(ids, want) {
		t.Errorf("rows %v\nwant %v", ids, want)
	}
	t.Log("\n" + table.String())
}

// testFiles are the texts of a folder's tests.
func testFiles(t *testing.T, folder string) (texts []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}
