package build

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/dedupe"
)

// emitting hands out the kept items: the hand-written ones first, then those of
// the logs in the order of the logs.
type emitting struct {
	o        *Options
	report   *Report
	expert   []items.Item
	leader   []int32 // nil = none is dropped
	emit     func(items.Item) error
	ids      map[uint64]struct{} // by hash: a false match only gives an id a suffix that it did not need
	names    *pseudonyms
	clusters map[int32]int // leader -> its place in report.Clusters, -1 = not listed
}

// decoded is an item with its number.
type decoded struct {
	n    int
	item items.Item
}

func (e *emitting) all(ctx context.Context, out *spool) error {
	rs, err := out.rewind()
	if err != nil {
		return err
	}
	e.clusters = map[int32]int{}
	for _, l := range e.leader {
		if l >= 0 {
			e.clusters[l] = -1
		}
	}
	next := func() (*batch, error) { return rs.next(func(int) bool { return true }) }
	err = ordered(ctx, next, decodeBatch, func(b []decoded) error {
		for i := range b {
			if err := e.one(b[i].n, &b[i].item); err != nil {
				return err
			}
		}
		return nil
	})
	if err == io.EOF {
		err = fmt.Errorf("temporary file: %w", io.ErrUnexpectedEOF)
	}
	return err
}

func decodeBatch(b *batch) ([]decoded, error) {
	out := make([]decoded, len(b.ends))
	for i := range out {
		it, err := decodeItem(itemOf(b.record(i)))
		if err != nil {
			return nil, err
		}
		out[i] = decoded{b.nums[i], it}
	}
	return out, nil
}

func (e *emitting) one(n int, it *items.Item) error {
	pinned := n < len(e.expert)
	if pinned {
		*it = e.expert[n]
	}
	if e.leader != nil {
		e.list(n, it.ID)
		if e.leader[n] >= 0 && !pinned {
			e.report.NearDuplicates++
			return nil
		}
	}
	if !pinned {
		e.unique(it)
	}
	if err := e.label(it); err != nil {
		return err
	}
	if len(it.Scorer) == 0 {
		e.report.WithoutReference++
	}
	e.report.Items++
	return e.emit(*it)
}

// list adds the id to the cluster that the item leads or belongs to. A leader
// comes before all of its cluster.
func (e *emitting) list(n int, id string) {
	leader := int32(n)
	if l := e.leader[n]; l >= 0 {
		leader = l
	}
	place, ok := e.clusters[leader]
	r := e.report
	if !ok {
		return
	}
	if int32(n) == leader {
		r.ClusterCount++
		if len(r.Clusters) < maxClusters {
			e.clusters[leader] = len(r.Clusters)
			r.Clusters = append(r.Clusters, []string{id})
		}
		return
	}
	if place >= 0 && len(r.Clusters[place]) < maxMembers {
		r.Clusters[place] = append(r.Clusters[place], id)
	}
}

// unique gives an id that stands on an earlier item a suffix from the content.
func (e *emitting) unique(it *items.Item) {
	if e.claim(it.ID) {
		return
	}
	e.report.Renamed++
	base := it.ID[:min(len(it.ID), maxID-32)]
	suffix := contentID(it)[len("log-"):]
	for n := 1; ; n++ {
		it.ID = base + "~" + suffix
		if n > 1 {
			it.ID += fmt.Sprintf("~%d", n)
		}
		if e.claim(it.ID) {
			return
		}
	}
}

func (e *emitting) claim(id string) bool {
	key := dedupe.KeyOf(id)
	h := binary.LittleEndian.Uint64(key[:])
	if _, taken := e.ids[h]; taken {
		return false
	}
	e.ids[h] = struct{}{}
	return true
}

// label adds the labels and counts strata.
func (e *emitting) label(it *items.Item) error {
	if e.o.Label != nil {
		labels, err := e.o.Label(it)
		if err != nil {
			return fmt.Errorf("labels of item %s: %w", it.ID, err)
		}
		for label, value := range labels {
			if label == "" || value == "" {
				return fmt.Errorf("labels of item %s: label %q has the value %q", it.ID, label, value)
			}
			if it.Strata == nil {
				it.Strata = map[string]string{}
			}
			v := e.names.of(value)
			it.Strata[label] = v.text
			for rule, n := range v.counts {
				e.report.Scrubbed[rule] += n
			}
		}
	}
	for label, value := range it.Strata {
		e.report.ByStratum[label+"="+value]++
	}
	if len(e.report.ByStratum) > maxStrata {
		return step.WithHint(fmt.Errorf("the labels have more than %d values", maxStrata), "a label groups items; leave out ids and times")
	}
	return nil
}

// claimExpert takes the ids of the expert items before any log has one, and
// refuses those that two files share.
func (e *emitting) claimExpert() error {
	e.ids = map[uint64]struct{}{}
	for _, it := range e.expert {
		if !e.claim(it.ID) {
			return fmt.Errorf("two expert files have an item %q", it.ID)
		}
	}
	return nil
}
