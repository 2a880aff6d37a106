package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items/scrub"
)

// pseudonymOf stands for the value of a cluster or a label that holds personal
// data. A placeholder would not do: its number counts within one item, and a
// cluster or a stratum spans items, so that all of them would become one.
func pseudonymOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "u-" + hex.EncodeToString(sum[:8])
}

// pseudonyms are those of labels that rules and label files give: one value for
// one value, whichever way a label comes.
type pseudonyms struct {
	scrub *scrub.Scrubber
	known map[string]labelValue
}

type labelValue struct {
	text   string
	counts map[string]int // of what was found
}

func (p *pseudonyms) of(value string) labelValue {
	if v, ok := p.known[value]; ok {
		return v
	}
	n := p.scrub.Session()
	v := labelValue{text: value}
	if n.Text(value) != value {
		v = labelValue{pseudonymOf(value), n.Counts()}
	}
	if len(p.known) < maxStrata { // more is an error soon
		p.known[value] = v
	}
	return v
}

// checkLabelNames refuses labels whose name is personal data: a name stands in
// every report and rule, and whoever wrote it can write another.
func checkLabelNames(s *scrub.Scrubber, labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if s.Session().Text(name) != name {
			return step.WithHint(fmt.Errorf("the label %q is personal data itself", name), "give it another name; its values become pseudonyms")
		}
	}
	return nil
}
