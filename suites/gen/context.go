package gen

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// depths are where in its context a fact stands, 0 the beginning and 1 the end.
var depths = []float64{0, 0.25, 0.5, 0.75, 1}

func depthLabel(at float64) string { return fmt.Sprintf("%03d", int(math.Round(100*at))) }

// fact is a line with the place where it is to stand.
type fact struct {
	at   float64
	line string
}

// along returns the place of the i-th fact of an item whose first stands at
// depth: the others are spread over the whole context.
func along(depth float64, i int) float64 {
	if i == 0 {
		return depth
	}
	at := math.Mod(depth+0.37*float64(i), 1)
	return math.Round(at*1000) / 1000
}

// context is a text of at most size bytes, question included: lines of filler
// with facts among them.
func context(head, question string, facts []fact, size int, filler func() string) string {
	size -= len(head) + len(question) + 4
	for _, f := range facts {
		size -= len(f.line) + 1
	}
	var lines []string
	for {
		line := filler()
		if size -= len(line) + 1; size < 0 {
			break
		}
		lines = append(lines, line)
	}
	return head + "\n\n" + strings.Join(place(lines, facts), "\n") + "\n\n" + question
}

// sameTime at the beginning of a fact becomes the time of the line before it, or
// behind it at the beginning of a text.
const sameTime = "--:--:--"

// place puts facts among lines; facts of one place keep their order.
func place(lines []string, facts []fact) []string {
	sorted := slices.Clone(facts)
	slices.SortStableFunc(sorted, func(a, b fact) int { return cmp.Compare(a.at, b.at) })
	out, done := make([]string, 0, len(lines)+len(facts)), 0
	for _, f := range sorted {
		until := int(math.Round(f.at * float64(len(lines))))
		line := f.line
		if rest, ok := strings.CutPrefix(line, sameTime); ok {
			line = lines[max(0, until-1)][:len(sameTime)] + rest
		}
		out = append(append(out, lines[done:until]...), line)
		done = until
	}
	return append(out, lines[done:]...)
}

// contexts makes the items of a suite with lengths: of every length each kind,
// of every kind one item for each depth.
func contexts(suite string, tokens []int, kinds []kindOf) []items.Item {
	var out []items.Item
	for _, n := range tokens {
		task, number := fmt.Sprintf("tokens-%d", n), 0
		for _, k := range kinds {
			for _, depth := range k.depths {
				number++
				q := k.make(newDraw(suite, task, k.name, depthLabel(depth)), depth, n*BytesPerToken)
				q.labels = map[string]string{"kind": k.name, "depth": depthLabel(depth)}
				out = append(out, q.item(task, number))
			}
		}
	}
	return out
}

// kindOf is one kind of question about a context of size bytes.
type kindOf struct {
	name   string
	depths []float64
	make   func(d *draw, depth float64, size int) question
}
