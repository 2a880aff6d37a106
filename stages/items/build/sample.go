package build

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
)

// bitset holds the numbers of the requests that are drawn.
type bitset []uint64

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }

// sample draws in two passes over the windows: the first counts, the second
// keeps in each window the requests with the smallest priorities. A priority is
// a hash of the seed and of the request's number, so it does not depend on how
// many others there are: lines that are appended later change only how many of a
// window are drawn.
func sample(times *spool, total int, o Sampling, r *Report) (bitset, error) {
	counts, err := countWindows(times)
	if err != nil {
		return nil, err
	}
	order := slices.Sorted(maps.Keys(counts))
	quota := allocate(order, counts, total, o.N)
	drawn := make(bitset, total/64+1)
	r.Windows = make([]Window, 0, len(order))
	for _, w := range order {
		r.Windows = append(r.Windows, Window{windowStart(w, o.Window), counts[w], quota[w]})
		r.Sampled += quota[w]
	}
	heaps := map[int64]*lowest{}
	err = eachWindow(times, func(i int, w int64) error {
		if quota[w] == counts[w] {
			drawn.set(i)
			return nil
		}
		if heaps[w] == nil {
			heaps[w] = &lowest{}
		}
		heaps[w].offer(draw{priority(o.Seed, i), i}, quota[w])
		return nil
	})
	for _, h := range heaps {
		for _, d := range h.draws {
			drawn.set(d.request)
		}
	}
	return drawn, err
}

func countWindows(times *spool) (map[int64]int, error) {
	counts := map[int64]int{}
	err := eachWindow(times, func(_ int, w int64) error {
		counts[w]++
		if len(counts) > maxWindows {
			return step.WithHint(fmt.Errorf("sample: the logs span more than %d windows of time", maxWindows), "take a longer window")
		}
		return nil
	})
	return counts, err
}

func eachWindow(times *spool, f func(i int, w int64) error) error {
	rs, err := times.rewind()
	if err != nil {
		return err
	}
	all := func(int) bool { return true }
	for {
		b, err := rs.next(all)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, n := range b.nums {
			if err := f(n, int64(binary.LittleEndian.Uint64(b.record(i)))); err != nil {
				return err
			}
		}
	}
}

// allocate gives each window its share of n in whole numbers: rounded down, and
// the rest to the largest remainders, of equal ones to the earlier window.
func allocate(order []int64, counts map[int64]int, total, n int) map[int64]int {
	quota := map[int64]int{}
	if n == 0 || n >= total {
		maps.Copy(quota, counts)
		return quota
	}
	left := n
	for _, w := range order {
		quota[w] = int(uint64(n) * uint64(counts[w]) / uint64(total))
		left -= quota[w]
	}
	rest := slices.Clone(order)
	slices.SortStableFunc(rest, func(a, b int64) int {
		remainder := func(w int64) uint64 { return uint64(n) * uint64(counts[w]) % uint64(total) }
		return cmp.Compare(remainder(b), remainder(a))
	})
	for _, w := range rest[:left] {
		quota[w]++
	}
	return quota
}

func priority(seed uint64, request int) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(request))
	sum := sha256.Sum256(b[:])
	return binary.LittleEndian.Uint64(sum[:])
}

type draw struct {
	priority uint64
	request  int
}

// lowest keeps the draws with the smallest priorities; its root is the largest.
type lowest struct{ draws []draw }

func (l *lowest) offer(d draw, most int) {
	switch {
	case most == 0:
	case len(l.draws) < most:
		heap.Push(l, d)
	case l.compare(d, l.draws[0]) < 0:
		l.draws[0] = d
		heap.Fix(l, 0)
	}
}

func (l *lowest) compare(a, b draw) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.request, b.request))
}

func (l *lowest) Len() int           { return len(l.draws) }
func (l *lowest) Less(i, j int) bool { return l.compare(l.draws[i], l.draws[j]) > 0 }
func (l *lowest) Swap(i, j int)      { l.draws[i], l.draws[j] = l.draws[j], l.draws[i] }
func (l *lowest) Push(x any)         { l.draws = append(l.draws, x.(draw)) }
func (l *lowest) Pop() any {
	d := l.draws[len(l.draws)-1]
	l.draws = l.draws[:len(l.draws)-1]
	return d
}
