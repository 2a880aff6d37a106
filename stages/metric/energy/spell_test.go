package energy

import (
	"regexp"
	"slices"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/cupel-dev/cupel/schemas"
)

// Every base that a campaign may name has one spelling, a name that rules can use.
func TestEveryBaseIsSpelled(t *testing.T) {
	var ours, names []string
	for _, s := range Spelled {
		ours, names = append(ours, s.Base), append(names, s.Name)
		if Spell(s.Base) != s.Name || BaseOf(s.Name) != s.Base || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(s.Name) {
			t.Errorf("%+v", s)
		}
	}
	src, err := schemas.Files.ReadFile("measure.cue")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^#EnergyBase:.*$`).Find(src)
	v := cuecontext.New().CompileBytes(line).LookupPath(cue.ParsePath("#EnergyBase"))
	op, values := v.Expr()
	if op != cue.OrOp {
		t.Fatalf("#EnergyBase is no disjunction: %s", line)
	}
	var theirs []string
	for _, x := range values {
		s, err := x.String()
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, s)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) {
		t.Errorf("spelled are %q, the schema has %q", ours, theirs)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(Spelled) {
		t.Error("two bases are spelled alike")
	}
	if Spell("nv.cpu") != "" || BaseOf("nv.gpu") != "" {
		t.Error("what is no base is spelled")
	}
}
