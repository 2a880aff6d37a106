package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
)

// BenchmarkNoop is a run in which everything is cached: n steps, each verified
// down to the bytes of its output.
func BenchmarkNoop(b *testing.B) {
	for _, n := range []int{37, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := setup(b)
			steps := make([]step.Step, n)
			for i := range steps {
				steps[i] = mk(fmt.Sprintf("score/%05d", i), true)
			}
			p, err := plan.New(steps)
			if err != nil {
				b.Fatal(err)
			}
			f.e.Jobs = 16
			f.run(steps...)
			for b.Loop() {
				out, err := f.e.Run(context.Background(), p)
				if err != nil || out.Count(Cached) != n {
					b.Fatal(err, out.Count(Cached))
				}
			}
		})
	}
}
