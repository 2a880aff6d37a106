package artifact

import (
	"os"
	"testing"
)

// docs/evidence.md is printed from the tables; UPDATE=1 prints it again.
func TestMarkdown(t *testing.T) {
	const page = "../../docs/evidence.md"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(Markdown()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(page)
	if err != nil || string(b) != Markdown() {
		t.Errorf("%s is not what the tables say (%v): UPDATE=1 go test ./stages/artifact", page, err)
	}
}

// Every rule names a field that records have.
func TestRulesNameFields(t *testing.T) {
	have := byName(new(Record))
	seen := map[string]bool{}
	for _, r := range Rules {
		if _, ok := have[r.Field]; !ok {
			t.Errorf("there is no field %s", r.Field)
		}
		if seen[r.Field] {
			t.Errorf("%s has two rules", r.Field)
		}
		seen[r.Field] = true
	}
}
