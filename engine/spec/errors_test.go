package spec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "print the golden files again")

// errorCase is one section of testdata/errors.txt: an edit of base.yaml and the
// errors that it must cause.
type errorCase struct{ name, before, after, want string }

func readErrorCases(t *testing.T) []errorCase {
	t.Helper()
	b, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []errorCase
	for _, section := range strings.Split(string(b), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		edit, want, ok := strings.Cut(rest, "\n<<<\n")
		before, after, ok2 := strings.Cut(edit, "\n>>>\n")
		if !ok || !ok2 {
			t.Fatalf("section %q is not before, >>>, after, <<<, errors", name)
		}
		out = append(out, errorCase{name, before, after, strings.TrimSpace(want)})
	}
	return out
}

// Every mistake is found where it was made, in one sentence, with what is
// allowed. Regenerate with -update and read the difference.
func TestErrors(t *testing.T) {
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadText("testdata/base.yaml", base); err != nil {
		t.Fatalf("the base is wrong: %v", err)
	}
	var golden strings.Builder
	golden.WriteString("Edits of base.yaml, and the errors they cause.\n")
	for _, c := range readErrorCases(t) {
		if strings.Count(string(base), c.before) != 1 {
			t.Errorf("%s: %q is in the base %d times", c.name, c.before, strings.Count(string(base), c.before))
			continue
		}
		_, err := loadText("testdata/c.yaml", []byte(strings.Replace(string(base), c.before, c.after, 1)))
		got := "no error"
		if err != nil {
			got = strings.ReplaceAll(err.Error(), "testdata/c.yaml:", "")
		}
		golden.WriteString("\n=== " + c.name + "\n" + c.before + "\n>>>\n" + c.after + "\n<<<\n" + got + "\n")
		if diff := cmp.Diff(c.want, got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/errors.txt", []byte(golden.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// loadText is Load for a file that exists only here.
func loadText(file string, src []byte) (*Loaded, error) {
	s := source{dir: filepath.Dir(file)}
	switch filepath.Ext(file) {
	case ".json":
		s.root, s.errs = parseJSON(file, src)
	default:
		s.root, s.errs = parseYAML(file, src)
	}
	s.errs = append(s.errs, findSecrets(file, src, s.root)...)
	if s.root == nil {
		return nil, s.errs.err()
	}
	return assemble(s)
}

func TestErrorsAreCounted(t *testing.T) {
	var es Errors
	for range 23 {
		es.add(pos{"f", 1, len(es) + 1}, nil, "wrong", "")
	}
	lines := strings.Split(es.err().Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 3 more errors" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestNearest(t *testing.T) {
	words := []string{"candidates", "measure", "publish", "kind", "seed", "topP"}
	for in, want := range map[string]string{
		"candidtes": "candidates", "meausre": "measure", "Kind": "kind", "knid": "kind", "sede": "seed",
		"topp": "topP", "xyz": "", "": "", strings.Repeat("a", 100): "",
	} {
		if got := nearest(in, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
