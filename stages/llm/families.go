package llm

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// family is a family of models with controls of its own.
type family struct {
	mark     string   // in the model's name, lower case
	thinking bool     // can be switched on and off
	efforts  []string // that it was trained for; empty = none
}

//go:embed families.tsv
var familyTable string

// families is searched from the top. A model of no family here may have any
// control, and its engine has the last word.
var families = mustReadFamilies(familyTable)

func mustReadFamilies(table string) []family {
	f, err := readFamilies(table)
	if err != nil {
		panic("llm: families.tsv: " + err.Error())
	}
	return f
}

// readFamilies reads lines of mark, yes or no, and efforts, split by tabs.
func readFamilies(table string) ([]family, error) {
	var out []family
	for n, line := range strings.Split(table, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f, err := readFamily(strings.Split(line, "\t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		for _, earlier := range out {
			if strings.Contains(f.mark, earlier.mark) {
				return nil, fmt.Errorf("line %d: %s is never reached, since %s stands above it", n+1, f.mark, earlier.mark)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func readFamily(cells []string) (f family, err error) {
	if len(cells) != 3 {
		return f, fmt.Errorf("%d cells, want 3", len(cells))
	}
	f.mark, f.thinking = cells[0], cells[1] == "yes"
	if f.mark == "" || f.mark != strings.ToLower(f.mark) {
		return f, fmt.Errorf("the mark %q is not in lower case", f.mark)
	}
	if !f.thinking && cells[1] != "no" {
		return f, fmt.Errorf("thinking is %q, want yes or no", cells[1])
	}
	if cells[2] != "-" {
		f.efforts = strings.Fields(cells[2])
	}
	for _, e := range f.efforts {
		if !slices.Contains(efforts, e) {
			return f, fmt.Errorf("there is no effort %q", e)
		}
	}
	return f, nil
}

func familyOf(model string) *family {
	name := strings.ToLower(model)
	for i := range families {
		if strings.Contains(name, families[i].mark) {
			return &families[i]
		}
	}
	return nil
}

// controls lists what the family has, for a hint.
func (f *family) controls() string {
	var have []string
	if f.thinking {
		have = append(have, "thinking-on", "thinking-off")
	}
	for _, e := range f.efforts {
		have = append(have, "effort-"+e)
	}
	return "use none or one of " + strings.Join(have, ", ")
}

// CheckReasoning refuses a control that models of this name do not have, with a
// hint that lists those they do. What no family here is known by may have any.
func CheckReasoning(control, model string) error {
	c, err := ParseReasoning(control)
	if err != nil {
		return err
	}
	return c.checkFamily(model)
}

// Efforts are those that a model of this name was trained for, least first; nil
// = it has none, or nothing is known of it.
func Efforts(model string) []string {
	if f := familyOf(model); f != nil {
		return f.efforts
	}
	return nil
}

func (c ReasoningControl) checkFamily(model string) error {
	refuse := func(why string, f *family) error {
		return step.WithHint(fmt.Errorf("reasoning control %s: models of the family %s (%q) %s", c, f.mark, model, why), f.controls())
	}
	switch f := familyOf(model); {
	case f == nil:
	case c.Thinking != nil && !f.thinking:
		return refuse("cannot switch thinking on or off", f)
	case c.Effort != "" && !slices.Contains(f.efforts, c.Effort):
		return refuse("do not have it", f)
	}
	return nil
}
