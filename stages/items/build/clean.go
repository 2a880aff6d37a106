package build

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/dedupe"
	"github.com/cupel-dev/cupel/stages/items/scrub"
)

// cleaning scrubs what is drawn and drops what is there already. It keeps the
// hash of each item, its bands and where it stands.
type cleaning struct {
	o      *Options
	scrub  *scrub.Scrubber
	bands  dedupe.Bands
	report *Report
	out    *spool
	seen   map[dedupe.Key]struct{}
	index  *dedupe.Index // nil = near-duplicates are kept
	at     []int64       // item -> its record in out
}

// cleanItem is an item after scrubbing, with what de-duplication looks at.
type cleanItem struct {
	record    []byte
	key       dedupe.Key
	signature []uint32
	shingles  int
	counts    map[string]int
	failed    bool
}

// forms are the normalised texts of an item: what differs from request to request,
// and what stands around it. They are compared one by one, because a system
// prompt of a page would make all its requests alike.
type forms struct {
	asked, context string
	key            dedupe.Key
}

func (c *cleaning) formsOf(it *items.Item) forms {
	norm := func(s string) string { return dedupe.Normalise(s, c.o.KeepDigits) }
	var asked, context []string
	var parts []string
	for _, m := range it.Turns() {
		content, calls := norm(m.Content), norm(string(m.ToolCalls))
		parts = append(parts, m.Role, content, calls)
		if m.Role == "system" {
			context = append(context, content)
			continue
		}
		asked = append(asked, content)
		if calls != "" {
			asked = append(asked, calls)
		}
	}
	tools := norm(string(it.Tools))
	return forms{strings.Join(asked, "\n"), strings.Join(append(context, tools), "\n"), dedupe.KeyOf(append(parts, tools)...)}
}

// contentID is the id of an item whose log has none: a hash of what is left of
// it after scrubbing, so that nothing can be guessed from it.
func contentID(it *items.Item) string {
	var parts []string
	for _, m := range it.Turns() {
		parts = append(parts, m.Role, m.Content, m.ToolCallID, string(m.ToolCalls))
	}
	key := dedupe.KeyOf(append(parts, string(it.Tools))...)
	return "log-" + hex.EncodeToString(key[:10])
}

// clean runs in several goroutines.
func (c *cleaning) clean(b *batch) ([]cleanItem, error) {
	out := make([]cleanItem, len(b.ends))
	for i := range out {
		it, err := decodeItem(b.record(i))
		if err != nil {
			return nil, err
		}
		id, cluster, strata := it.ID, it.Cluster, it.Strata
		counts, err := c.scrub.Item(&it)
		if err != nil {
			out[i].failed = true
			continue
		}
		if it.ID != id || !usableID(id) {
			it.ID = contentID(&it)
		}
		if it.Cluster != cluster {
			it.Cluster = pseudonymOf(cluster)
		}
		for label, value := range it.Strata { // Item has made a copy
			if value != strata[label] {
				it.Strata[label] = pseudonymOf(strata[label])
			}
		}
		if err := c.fill(&out[i], &it); err != nil {
			return nil, err
		}
		out[i].counts = counts
	}
	return out, nil
}

// fill writes the record of an item: the length of the item's JSON, the JSON,
// the length of the text that is asked, the text, and a hash of its context.
func (c *cleaning) fill(to *cleanItem, it *items.Item) error {
	f := c.formsOf(it)
	to.key = f.key
	buf, err := appendItem(make([]byte, 4, 512), it)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-4))
	if c.index != nil {
		buf = append(buf, make([]byte, 4)...)
		binary.LittleEndian.PutUint32(buf[len(buf)-4:], uint32(len(f.asked)))
		buf = append(buf, f.asked...)
		context := dedupe.KeyOf(f.context)
		buf = append(buf, context[:]...)
		shingles := dedupe.Shingles(f.asked)
		to.signature, to.shingles = make([]uint32, c.bands.Count), len(shingles)
		c.bands.Signature(shingles, to.signature)
	}
	to.record = buf
	return nil
}

// itemOf, askedOf and contextOf take a record apart.
func itemOf(record []byte) []byte {
	return record[4 : 4+binary.LittleEndian.Uint32(record)]
}

func askedOf(record []byte) (asked, context []byte) {
	rest := record[4+binary.LittleEndian.Uint32(record):]
	n := binary.LittleEndian.Uint32(rest)
	return rest[4 : 4+n], rest[4+n:]
}

// keep takes items in order and drops the ones that are there already.
func (c *cleaning) keep(all []cleanItem) error {
	for i := range all {
		it := &all[i]
		if it.failed {
			c.report.Unclean++
			continue
		}
		if len(it.counts) > 0 {
			c.report.ScrubbedItems++
		}
		for rule, n := range it.counts {
			c.report.Scrubbed[rule] += n
		}
		if _, dup := c.seen[it.key]; dup {
			c.report.ExactDuplicates++
			continue
		}
		if err := c.add(it); err != nil {
			return err
		}
	}
	return nil
}

func (c *cleaning) add(it *cleanItem) error {
	c.seen[it.key] = struct{}{}
	at, err := c.out.append(it.record)
	if err != nil {
		return err
	}
	if c.index != nil {
		c.at = append(c.at, at)
		c.index.Add(it.signature, it.shingles)
	}
	return nil
}

func (c *cleaning) logs(ctx context.Context, requests *spool, drawn bitset) error {
	rs, err := requests.rewind()
	if err != nil {
		return err
	}
	next := func() (*batch, error) { return rs.next(drawn.has) }
	return ordered(ctx, next, c.clean, c.keep)
}

// expert adds the hand-written items, before the logs: where both ask the same,
// theirs stays, since it has a reference. They are not changed and all are kept.
func (c *cleaning) expert(all []items.Item) error {
	for i := range all {
		copied := all[i]
		counts, err := c.scrub.Item(&copied)
		if err == nil {
			for rule, n := range counts {
				c.report.ExpertMatches[rule] += n
			}
		}
		var ci cleanItem
		if err := c.fill(&ci, &all[i]); err != nil {
			return err
		}
		if _, dup := c.seen[ci.key]; dup && c.index == nil { // otherwise it is near, too
			c.report.ExpertAlike++
		}
		if err := c.add(&ci); err != nil {
			return err
		}
	}
	return nil
}
