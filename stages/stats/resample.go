package stats

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// resampleBlock is the number of resamples that share one stream of the fast
// generator. It is part of that algorithm's id: results may not depend on how
// many CPUs work on the blocks.
const resampleBlock = 64

// eachResample draws opt.Resamples rows of n indices below n and calls use for
// each; use must not keep idx. With the fast generator calls are concurrent.
func eachResample(n int, opt BootstrapOptions, use func(k int, idx []uint32)) {
	if opt.Generator == GeneratorFast {
		eachBlock(opt, func(g *splitMix, first, end int) {
			idx := make([]uint32, n)
			for k := first; k < end; k++ {
				g.fillIndices(idx, uint32(n))
				use(k, idx)
			}
		})
		return
	}
	g := NewPCG64(opt.sequence())
	idx := make([]uint32, n)
	for k := range opt.Resamples {
		g.fillIndices(idx, uint32(n))
		use(k, idx)
	}
}

// eachBlock runs do for every block of resamples [first, end), each with its
// own stream, on all CPUs.
func eachBlock(opt BootstrapOptions, do func(g *splitMix, first, end int)) {
	blocks := (opt.Resamples + resampleBlock - 1) / resampleBlock
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), blocks) {
		wg.Go(func() {
			for {
				b := int(next.Add(1)) - 1
				if b >= blocks {
					return
				}
				g := &splitMix{state: opt.sequence(uint32(b)).State()[0]}
				do(g, b*resampleBlock, min((b+1)*resampleBlock, opt.Resamples))
			}
		})
	}
	wg.Wait()
}

// splitMix is SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): one
// addition between outputs, so consecutive draws overlap in the pipeline.
type splitMix struct{ state uint64 }

func (g *splitMix) Uint64() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (g *splitMix) Float64() float64 { return float64(g.Uint64()>>11) / (1 << 53) }

// below returns an integer in [0, n) without bias.
func (g *splitMix) below(n uint64) uint64 {
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

// fillIndices draws two indices from the halves of each word. A word of which
// one half might be rejected is dropped, which keeps the draws unbiased: both
// halves of a kept word are independent and passed the same test.
func (g *splitMix) fillIndices(idx []uint32, n uint32) {
	if n <= 1 {
		clear(idx)
		return
	}
	n64, threshold := uint64(n), -n%n
	k := 0
	for k+1 < len(idx) {
		w := g.Uint64()
		m0, m1 := (w&math.MaxUint32)*n64, (w>>32)*n64
		if uint32(m0) < threshold || uint32(m1) < threshold {
			continue
		}
		idx[k], idx[k+1] = uint32(m0>>32), uint32(m1>>32)
		k += 2
	}
	if k < len(idx) {
		idx[k] = uint32(g.below(n64))
	}
}
