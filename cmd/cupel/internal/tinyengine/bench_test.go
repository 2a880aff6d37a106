package tinyengine

import (
	"context"
	"testing"
)

// BenchmarkPrefill reports prompt tokens per second on one core for a prompt of
// about 100 tokens.
func BenchmarkPrefill(b *testing.B) {
	const text = "Record A: city=Berlin | total=931.80 | email=finn85@corp.com | status=closed\n" +
		"Record B: email=tara75@mail.com | total=485.04 | city=Porto | status=refunded\nGive the status of record B."
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			m := loadEmbedded(b, name)
			tokens := 0
			for b.Loop() {
				r, err := m.Generate(context.Background(), user(text), Options{MaxTokens: 1})
				if err != nil {
					b.Fatal(err)
				}
				tokens += r.PromptTokens
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}

// BenchmarkDecode reports tokens per second on one core behind a prompt of 36.
func BenchmarkDecode(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			m := loadEmbedded(b, name)
			ids, err := m.render(user("Loop these 5 words without stopping:\nalpha tulip mango zulu kelp"))
			if err != nil {
				b.Fatal(err)
			}
			s := newSequence(m)
			tokens := 0
			for b.Loop() {
				if s.n == 0 || s.n >= 128 {
					s.n = 0
					if _, err := s.extend(context.Background(), ids); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.extend(context.Background(), []int32{ids[3]}); err != nil {
					b.Fatal(err)
				}
				tokens++
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}
