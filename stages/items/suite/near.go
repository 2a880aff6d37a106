package suite

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/dedupe"
)

// near finds items whose inputs are alike, with one another and not only with
// one that stands for them. Digits count: `3 + 4` and `5 + 6` are two
// questions. System texts and tools do not: they are often the same for all.
// It keeps the texts in memory, since those of held-out items go to no disk.
type near struct {
	bands     dedupe.Bands
	index     *dedupe.Index
	texts     []string
	ids       []int // text -> number of the item
	Unchecked int   // items with more candidates than were compared; by groups
}

func newNear(threshold float64) (*near, error) {
	b, err := dedupe.BandsFor(threshold)
	if err != nil {
		return nil, err
	}
	return &near{bands: b, index: dedupe.NewIndex(b, 0, 0)}, nil
}

// add takes the item that the caller calls number.
func (n *near) add(it *items.Item, number int) {
	var b strings.Builder
	for _, m := range it.Input {
		if m.Role != "system" {
			b.WriteString(m.Content)
			b.WriteByte('\n')
			shown(&b, m.Media)
		}
	}
	text := dedupe.Normalise(b.String(), true)
	shingles := dedupe.Shingles(text)
	signature := make([]uint32, n.bands.Count)
	n.bands.Signature(shingles, signature)
	n.index.Add(signature, len(shingles))
	n.texts, n.ids = append(n.texts, text), append(n.ids, number)
}

// groups returns the numbers of items that are alike, transitively, each group
// of two or more in order.
func (n *near) groups() ([][]int, error) {
	g := newGroups(len(n.texts))
	// Nothing is reported as near, so every item stays a candidate for the later
	// ones, and all pairs are seen.
	last, shingles := -1, []uint64(nil)
	_, err := n.index.Resolve(func(a, b int) (bool, error) {
		if g.root(a) == g.root(b) {
			return false, nil
		}
		if b != last {
			last, shingles = b, dedupe.Shingles(n.texts[b])
		}
		if dedupe.Jaccard(dedupe.Shingles(n.texts[a]), shingles) >= n.bands.Threshold {
			g.join(a, b)
		}
		return false, nil
	})
	n.Unchecked = n.index.Unchecked
	if err != nil {
		return nil, err
	}
	byRoot := map[int]int{} // root -> place in out
	var all, out [][]int
	for i := range n.texts {
		r := g.root(i)
		at, ok := byRoot[r]
		if !ok {
			at = len(all)
			byRoot[r] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], n.ids[i])
	}
	for _, group := range all {
		if len(group) > 1 {
			out = append(out, group)
		}
	}
	return out, nil
}
