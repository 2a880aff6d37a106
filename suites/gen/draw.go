package gen

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// draw is a stream of random numbers that follows from names alone. It uses
// nothing of math/rand/v2 but the generator, whose numbers are specified.
type draw struct{ src *rand.PCG }

// newDraw returns the stream of these names.
func newDraw(names ...string) *draw {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return &draw{rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))}
}

// below returns a number in [0, n), every one equally often.
func (d *draw) below(n int) int {
	limit := -uint64(n) % uint64(n) // 2^64 mod n: numbers below it would favour the small ones
	for {
		if x := d.src.Uint64(); x >= limit {
			return int(x % uint64(n))
		}
	}
}

// between returns a number in [lo, hi].
func (d *draw) between(lo, hi int) int { return lo + d.below(hi-lo+1) }

// pick returns one element of a list.
func pick[T any](d *draw, list []T) T { return list[d.below(len(list))] }

// shuffled returns a list in another order.
func shuffled[T any](d *draw, list []T) []T {
	out := append([]T(nil), list...)
	for i := len(out) - 1; i > 0; i-- {
		j := d.below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// some returns n different elements of a list, in random order.
func some[T any](d *draw, list []T, n int) []T { return shuffled(d, list)[:n] }

const upper = "ABCDEFGHJKLMNPQRSTUVWXYZ" // no I and O: they are read as digits

// code returns letters followed by digits, such as QK-40718.
func (d *draw) code(letters, digits int) string {
	var b strings.Builder
	for range letters {
		b.WriteByte(upper[d.below(len(upper))])
	}
	b.WriteByte('-')
	for i := range digits {
		b.WriteByte("1234567890"[d.below(10-boolInt(i == 0))])
	}
	return b.String()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
