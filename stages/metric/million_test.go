package metric

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkMillion derives a cell of a million requests of 16 events each. The
// bytes are what the derivation adds to the requests, at its peak and in all.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	rs := make([]Request, n)
	for i := range rs {
		rs[i] = stream(int64(i)/8, 20+rng.Int64N(400), 5, 16, func(r *Request) {
			for g := range r.Gaps {
				r.Gaps[g] += rng.Int64N(5e6)
				r.LastOutput += r.Gaps[g] - 5e6
			}
			r.End = r.LastOutput + rng.Int64N(1e6)
			r.Planned, r.AskedPromptTokens, r.CachedTokens = r.Dispatched-rng.Int64N(1e5), 100, tok(0)
		})
	}
	o := CellOptions{Protocol: CapacityV3, SLO: &SLO{TTFT: 300, TPOT: 20}}
	trials := []Trial{{Requests: rs, WallNS: 126e9, WindowNS: 125e9, InFlightNS: 1}}
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		if c := NewCell(o, trials); c.Completed != n {
			b.Fatal(c.Failures)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*1e9, "ns/request")
}
