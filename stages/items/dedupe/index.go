package dedupe

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxChain    = 64 // kept texts that one band offers to a text
	maxConfirms = 16 // candidates of one text that are confirmed, those with most bands first
)

// Index holds the band hashes of texts in their order: four bytes for each band
// and text, and twelve for each text.
type Index struct {
	bands  Bands
	column [][]uint32 // band -> text -> hash; by Resolve: one more than the text before it in the band, 0 = none
	size   []uint32   // shingles of each text
	pinned int        // texts before this one are always kept

	leader    []int32 // text -> the kept text that it is near to, -1 = it is kept itself
	Unchecked int     // texts with more candidates than were confirmed; by Resolve
}

// NewIndex expects at most n texts. The first pinned ones are always kept.
func NewIndex(b Bands, n, pinned int) *Index {
	x := &Index{bands: b, column: make([][]uint32, b.Count), size: make([]uint32, 0, n), pinned: pinned}
	for i := range x.column {
		x.column[i] = make([]uint32, 0, n)
	}
	return x
}

// BytesPerText is the memory of one text until Resolve has returned.
func (b Bands) BytesPerText() int64 { return int64(4*b.Count + 4 + 4 + 8) }

// Add appends a text by its signature and its number of shingles.
func (x *Index) Add(signature []uint32, shingles int) {
	for i, h := range signature {
		x.column[i] = append(x.column[i], h)
	}
	x.size = append(x.size, uint32(min(shingles, math.MaxUint32)))
}

// Len returns the number of texts.
func (x *Index) Len() int { return len(x.size) }

// Resolve goes through the texts in order and drops each one that is near to an
// earlier kept one, so that no two kept texts are near and every dropped one is
// near to what stands for it; chains of texts that are each near only to the next
// are not joined. near gives the exact answer for a candidate pair, kept < i. The
// result says for each text which one it is near to, -1 for none; a pinned text
// may have one and is kept all the same. Resolve may be called once.
func (x *Index) Resolve(near func(kept, i int) (bool, error)) ([]int32, error) {
	x.link()
	x.leader = make([]int32, len(x.size))
	var cands candidates
	for i := range x.size {
		x.leader[i] = -1
		cut := x.candidates(i, &cands)
		for _, c := range cands.list {
			ok, err := near(int(c.text), i)
			if err != nil {
				return nil, err
			}
			if ok {
				x.leader[i] = int32(c.text)
				break
			}
		}
		if cut && x.leader[i] < 0 {
			x.Unchecked++
		}
	}
	return x.leader, nil
}

// link turns every column of hashes into chains: each text points to the one
// before it with the same hash.
func (x *Index) link() {
	order := make([]uint64, len(x.size))
	for _, col := range x.column {
		for i, h := range col {
			order[i] = uint64(h)<<32 | uint64(i)
		}
		slices.Sort(order)
		for k, o := range order {
			i := uint32(o)
			col[i] = 0
			if k > 0 && order[k-1]>>32 == o>>32 {
				col[i] = uint32(order[k-1]) + 1
			}
		}
	}
}

// dropped reports whether text i no longer stands for itself.
func (x *Index) dropped(i uint32) bool { return x.leader[i] >= 0 && int(i) >= x.pinned }

// before returns one more than the nearest kept text before i in a band, 0 for
// none, and shortens the way for the next call.
func (x *Index) before(col []uint32, i uint32) uint32 {
	to := col[i]
	for to > 0 && x.dropped(to-1) {
		to = col[to-1]
	}
	for k := i; col[k] != to; { // path compression
		next := col[k]
		col[k] = to
		k = next - 1
	}
	return to
}

type candidate struct{ text, bands uint32 }

type candidates struct {
	list  []candidate
	texts []uint32
}

// candidates lists the kept texts that share a band with i and whose size allows
// the threshold; those that share most come first. It reports whether there were
// too many.
func (x *Index) candidates(i int, c *candidates) (cut bool) {
	c.texts, c.list = c.texts[:0], c.list[:0]
	for _, col := range x.column {
		n := 0
		for to := x.before(col, uint32(i)); to > 0; to = x.before(col, to-1) {
			if n++; n > maxChain {
				cut = true
				break
			}
			if x.sizesAllow(int(to-1), i) {
				c.texts = append(c.texts, to-1)
			}
		}
	}
	slices.Sort(c.texts)
	for _, t := range c.texts {
		if last := len(c.list) - 1; last >= 0 && c.list[last].text == t {
			c.list[last].bands++
			continue
		}
		c.list = append(c.list, candidate{t, 1})
	}
	slices.SortStableFunc(c.list, func(a, b candidate) int { return cmp.Compare(b.bands, a.bands) })
	if len(c.list) > maxConfirms {
		c.list, cut = c.list[:maxConfirms], true
	}
	return cut
}

// sizesAllow: the index of two sets is at most the smaller size by the larger.
func (x *Index) sizesAllow(a, b int) bool {
	small, large := min(x.size[a], x.size[b]), max(x.size[a], x.size[b])
	return float64(small) >= x.bands.Threshold*float64(large)
}
