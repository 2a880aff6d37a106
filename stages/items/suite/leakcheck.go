package suite

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// Leak is an item that stands in the texts. Share is the part of its own word
// runs that does.
type Leak struct {
	ID    string
	Share float64
	Exact bool // a whole message stands there, but for case, punctuation and white space
}

// Leaks looks items up in texts: their user and assistant messages. System
// texts are not looked at, a campaign and its items share those by design; and
// runs of words that many items share, such as a fixed instruction, say nothing
// about any one of them.
type Leaks struct {
	items []lookedUp
	freq  map[uint64]int // items that have the run
}

type lookedUp struct {
	id       string
	messages [][]uint64
	short    []string
}

// NewLeaks makes an empty collection of items.
func NewLeaks() *Leaks { return &Leaks{freq: map[uint64]int{}} }

// Add takes one item.
func (l *Leaks) Add(it *items.Item) {
	one := lookedUp{id: it.ID}
	seen := map[uint64]bool{}
	for _, m := range it.Input {
		if m.Role != "user" && m.Role != "assistant" {
			continue
		}
		w := words(m.Content)
		if len(w) > 0 && len(w) < leakGram {
			one.short = append(one.short, strings.Join(w, " "))
			continue
		}
		grams := shingles(w, leakGram)
		one.messages = append(one.messages, grams)
		for _, g := range grams {
			if !seen[g] {
				seen[g] = true
				l.freq[g]++
			}
		}
	}
	l.items = append(l.items, one)
}

// In lists the items that stand in the texts, in the order in which they were
// added.
func (l *Leaks) In(t *Texts) []Leak {
	if len(t.grams) == 0 && len(t.short) == 0 {
		return nil
	}
	var out []Leak
	for _, it := range l.items {
		if found, ok := l.look(it, t); ok {
			out = append(out, found)
		}
	}
	return out
}

func (l *Leaks) look(it lookedUp, t *Texts) (Leak, bool) {
	best := Leak{ID: it.id}
	for _, s := range it.short {
		if t.short[s] {
			return Leak{it.id, 1, true}, true
		}
	}
	for _, grams := range it.messages {
		if len(grams) > 0 && t.has(grams) == 1 {
			return Leak{it.id, 1, true}, true
		}
		best.Share = max(best.Share, t.has(l.own(grams)))
	}
	return best, best.Share >= leakShare
}

// own leaves out runs that more than a twentieth of the items share; all of
// them stay where nothing else is left.
func (l *Leaks) own(grams []uint64) []uint64 {
	common := max(3, len(l.items)/20)
	var out []uint64
	for _, g := range grams {
		if l.freq[g] <= common {
			out = append(out, g)
		}
	}
	if out == nil {
		return grams
	}
	return out
}
