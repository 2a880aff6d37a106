package energy

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// docs/energy.md names every base, every window and every reason of an energy's own.
func TestDoc(t *testing.T) {
	b, err := os.ReadFile("../../../docs/energy.md")
	must(t, err)
	doc := string(b)
	for base := range Bases {
		if !strings.Contains(doc, "`"+base+"`") {
			t.Errorf("it does not say what %s is", base)
		}
	}
	for _, w := range Windows {
		if !strings.Contains(doc, "| `"+string(w)+"` |") {
			t.Errorf("it does not say what %s is", w)
		}
	}
	of := false
	for _, r := range metric.Reasons {
		if of = of || r.Code == metric.NoMeter; r.Code == metric.NotChecked {
			return // those of energy stand together
		}
		if of && !strings.Contains(doc, "`"+r.Code+"`") {
			t.Errorf("it does not say when %s", r.Code)
		}
	}
}

// The bases are those that a campaign may ask for.
func TestBases(t *testing.T) {
	b, err := os.ReadFile("../../../schemas/measure.cue")
	must(t, err)
	_, list, _ := strings.Cut(string(b), "\n#EnergyBase: ")
	list, _, _ = strings.Cut(list, "\n")
	names := strings.Split(strings.ReplaceAll(list, `"`, ""), " | ")
	if have := slices.Sorted(maps.Keys(Bases)); !slices.Equal(have, slices.Sorted(slices.Values(names))) {
		t.Errorf("%q, the schema has %q", have, names)
	}
}
