package prompts

import (
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

// BenchmarkBuild builds 1,000 prompts of 8,192 tokens, as before a cell.
func BenchmarkBuild(b *testing.B) {
	for _, builder := range []string{WordsV1, AnvilN} {
		b.Run(builder, func(b *testing.B) {
			c := Cell{Requests: 1000, Concurrency: 1, Trial: 1, Prompt: spec.CapacityPrompt{Builder: builder, Tokens: 8192, Cache: "unique", Canary: true}, Output: spec.CapacityOutput{Words: 256}}
			b.ReportAllocs()
			for b.Loop() {
				made, err := New(c)
				if err != nil {
					b.Fatal(err)
				}
				for i := range 1000 {
					if _, err := made.Build(i); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "us/prompt")
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	made, err := New(Cell{Trial: 1, Prompt: spec.CapacityPrompt{Tokens: 8192, Cache: "unique"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Digest(made, 1000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContext(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (ContextItem{Case: NativeCrosslink, Bucket: 131072, Position: 0.5, Seed: 17}).Build(4); err != nil {
			b.Fatal(err)
		}
	}
}
