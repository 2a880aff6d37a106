package build

import (
	"bytes"
	"context"

	"github.com/cupel-dev/cupel/stages/items/dedupe"
)

// cacheSize is how many kept texts stay as shingle sets; those that many others
// are near to are asked for again and again.
const cacheSize = 4096

// confirmer compares two items exactly.
type confirmer struct {
	ctx      context.Context
	c        *cleaning
	cache    map[int]compared
	old      map[int]compared // the cache before; two halves are a cheap LRU
	of       int              // the item in own, -1 = none
	own      compared
	buf      []byte
	compares int
}

type compared struct {
	shingles []uint64
	context  []byte // hash
}

func newConfirmer(ctx context.Context, c *cleaning) *confirmer {
	return &confirmer{ctx: ctx, c: c, cache: map[int]compared{}, old: map[int]compared{}, of: -1}
}

func (cf *confirmer) near(kept, i int) (bool, error) {
	if cf.compares++; cf.compares%1024 == 0 && cf.ctx.Err() != nil {
		return false, cf.ctx.Err()
	}
	if cf.of != i {
		own, err := cf.load(i)
		if err != nil {
			return false, err
		}
		cf.of, cf.own = i, own
	}
	other, err := cf.cached(kept)
	if err != nil {
		return false, err
	}
	if dedupe.Jaccard(other.shingles, cf.own.shingles) < cf.c.bands.Threshold {
		return false, nil
	}
	return cf.sameContext(kept, i, other)
}

func (cf *confirmer) load(i int) (compared, error) {
	var err error
	if cf.buf, err = cf.c.out.at(cf.c.at[i], cf.buf[:0]); err != nil {
		return compared{}, err
	}
	asked, context := askedOf(cf.buf)
	return compared{dedupe.Shingles(string(asked)), bytes.Clone(context)}, nil
}

func (cf *confirmer) cached(i int) (compared, error) {
	if v, ok := cf.cache[i]; ok {
		return v, nil
	}
	v, ok := cf.old[i]
	if !ok {
		var err error
		if v, err = cf.load(i); err != nil {
			return v, err
		}
	}
	if len(v.shingles) > 1<<14 {
		return v, nil // a few of these would be all of the memory
	}
	if len(cf.cache) >= cacheSize {
		cf.old, cf.cache = cf.cache, map[int]compared{}
	}
	cf.cache[i] = v
	return v, nil
}

// sameContext compares system prompts and tools, usually by their hash alone.
func (cf *confirmer) sameContext(kept, i int, other compared) (bool, error) {
	if bytes.Equal(other.context, cf.own.context) {
		return true, nil
	}
	a, err := cf.contextOf(kept)
	if err != nil {
		return false, err
	}
	b, err := cf.contextOf(i)
	return dedupe.Jaccard(a, b) >= cf.c.bands.Threshold, err
}

func (cf *confirmer) contextOf(i int) ([]uint64, error) {
	var err error
	if cf.buf, err = cf.c.out.at(cf.c.at[i], cf.buf[:0]); err != nil {
		return nil, err
	}
	it, err := decodeItem(itemOf(cf.buf))
	if err != nil {
		return nil, err
	}
	return dedupe.Shingles(cf.c.formsOf(&it).context), nil
}
