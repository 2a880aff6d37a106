package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// tally counts failures of the outside and keeps the first words of each class.
type tally struct {
	n     int
	count map[llm.Class]int
	first map[llm.Class]*llm.Failure
}

func (t *tally) add(f *llm.Failure) {
	if t.count == nil {
		t.count, t.first = map[llm.Class]int{}, map[llm.Class]*llm.Failure{}
	}
	t.n++
	if t.count[f.Class]++; t.count[f.Class] == 1 {
		t.first[f.Class] = f
	}
}

// join adds what another tally counted.
func (t *tally) join(o *tally) {
	for class, n := range o.count {
		t.add(o.first[class])
		t.n += n - 1
		t.count[class] += n - 1
	}
}

// err names how many failed, by class, and quotes the most frequent class. Of
// total requests, answered were answered and cut were cut off in the middle.
func (t *tally) err(answered, cut, total int) error {
	classes := slices.Sorted(maps.Keys(t.count))
	main := classes[0]
	var parts []string
	for _, c := range classes {
		if t.count[c] > t.count[main] {
			main = c
		}
		parts = append(parts, fmt.Sprintf("%d %s", t.count[c], c))
	}
	return fmt.Errorf("%d of %d requests could not be answered (%s), %d were answered, %d cut off, %d not sent: %w",
		t.n, total, strings.Join(parts, ", "), answered, cut, total-answered-cut-t.n, pin.Outside(t.first[main]))
}
