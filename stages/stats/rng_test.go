package stats

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Bounds near 3*2^30 reject a third of all draws, so the slow path is taken.
var bounds = rapid.OneOf(rapid.Uint32Range(1, 5000), rapid.Uint32Range(1<<31, 1<<32-1), rapid.Just(uint32(3<<30)))

func TestFillIndicesEqualsSingleDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, n := rapid.Uint64().Draw(t, "seed"), bounds.Draw(t, "n")
		rows, single := NewPCG64(NewSeedSequence(seed)), NewPCG64(NewSeedSequence(seed))
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			idx := make([]uint32, rapid.IntRange(0, 33).Draw(t, "length"))
			rows.fillIndices(idx, n)
			for i, got := range idx {
				if want := single.Uint64N(uint64(n)); uint64(got) != want {
					t.Fatalf("draw %d is %d, want %d", i, got, want)
				}
			}
		}
		if rows.hasSpare != single.hasSpare || rows.Uint32() != single.Uint32() || rows.Uint64() != single.Uint64() {
			t.Fatal("the generators part after the rows")
		}
	})
}

func TestFastIndicesStayBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, n := &splitMix{state: rapid.Uint64().Draw(t, "seed")}, bounds.Draw(t, "n")
		idx := make([]uint32, rapid.IntRange(0, 33).Draw(t, "length"))
		g.fillIndices(idx, n)
		for _, i := range idx {
			if i >= n {
				t.Fatalf("index %d of %d", i, n)
			}
		}
	})
}

func TestUint64NFullRange(t *testing.T) {
	a, b := NewPCG64(NewSeedSequence(3)), NewPCG64(NewSeedSequence(3))
	if a.Uint64N(0) != b.Uint64() {
		t.Error("n = 2^64 is not a plain word")
	}
	if a.Uint64N(1<<32) != uint64(b.Uint32()) {
		t.Error("n = 2^32 is not a plain half word")
	}
}

// numpy.random.SeedSequence(2**100 + 7) has four entropy words; a spawn key
// pads shorter entropy to four before it is added.
func TestSeedSequenceWords(t *testing.T) {
	big100 := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(7))
	if got, want := BigSeedSequence(big100), newSeedSequence([]uint32{7, 0, 0, 16}, nil); got != want {
		t.Errorf("pool = %v, want %v", got, want)
	}
	if got, want := NewSeedSequence(5, 9), newSeedSequence([]uint32{5, 0, 0, 0, 9}, nil); got != want {
		t.Errorf("pool = %v, want %v", got, want)
	}
	if NewSeedSequence(5) == NewSeedSequence(5, 0) {
		t.Error("a spawn key of 0 is no spawn key")
	}
}

func TestSumIndexedEqualsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 400), rapid.IntRange(8000, 17000)).Draw(t, "n")
		g := &splitMix{state: rapid.Uint64().Draw(t, "seed")}
		d, row, idx := make([]float64, n), make([]float64, n), make([]uint32, n)
		for i := range d {
			d[i] = g.Float64() - 0.3
		}
		g.fillIndices(idx, uint32(n))
		for i, j := range idx {
			row[i] = d[j]
		}
		if sumIndexed(d, idx) != Sum(row) {
			t.Fatal("sums differ")
		}
	})
}
