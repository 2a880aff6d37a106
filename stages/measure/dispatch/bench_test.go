package dispatch

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
)

// BenchmarkOpenLag prints how late requests go out (Dispatched - Planned) in an
// open loop of three seconds: run it with -benchtime 1x. Answers take 50 ms, or
// stream for a second and keep the client's cores busy. It says as much about
// the machine's load as about the loop.
func BenchmarkOpenLag(b *testing.B) {
	for _, rate := range []float64{50, 200, 500, 2000} {
		b.Run(fmt.Sprintf("%v_per_s", rate), func(b *testing.B) { openLag(b, rate, answer(always(50*time.Millisecond))) })
	}
	b.Run("200_per_s_streaming", func(b *testing.B) { openLag(b, 200, streaming) })
}

func openLag(b *testing.B, rate float64, send Send) {
	const window = 3 * time.Second
	plan, err := arrival.Plan(spec.Arrivals{Process: "poisson", Duration: window.String()}, rate, 1, 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	var lags []time.Duration
	for b.Loop() {
		out := Open(b.Context(), plan.Offsets, window, false, send, func(r Result) {
			lags = append(lags, time.Duration(r.Dispatched-r.Planned))
		})
		b.ReportMetric(float64(out.Unsent), "unsent")
	}
	slices.Sort(lags)
	for _, p := range []int{50, 90, 99, 100} {
		at := max((p*len(lags)+99)/100-1, 0)
		b.ReportMetric(float64(lags[at].Microseconds()), fmt.Sprintf("us-p%d", p))
	}
}

// streaming is an answer of 100 events, 10 ms apart, each of which takes 20 us
// of a core.
func streaming(context.Context, int) llm.Response {
	for range 100 {
		time.Sleep(10 * time.Millisecond)
		for begun := time.Now(); time.Since(begun) < 20*time.Microsecond; {
		}
	}
	return llm.Response{}
}

// BenchmarkClosed is what the loop itself costs per request.
func BenchmarkClosed(b *testing.B) {
	for _, workers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("c%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			Closed(b.Context(), workers, b.N, func(context.Context, int) llm.Response { return llm.Response{} }, func(Result) {})
		})
	}
}
