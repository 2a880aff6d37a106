package stats

import "testing"

func ternary(n, b, c int) []float64 {
	d := make([]float64, n)
	for i := range b {
		d[i*7%n] = -1
	}
	for i := range c {
		d[(i*11+3)%n] = 1
	}
	return d
}

func fractional(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = float64((i*7919)%1009)/1009 - 0.5
	}
	return d
}

func BenchmarkBootstrap(b *testing.B) {
	for _, bench := range []struct {
		name, generator string
		d               []float64
	}{
		{"numpy/binary", GeneratorNumPy, ternary(2000, 120, 90)},
		{"numpy/fractional", GeneratorNumPy, fractional(2000)},
		{"fast/binary", GeneratorFast, ternary(2000, 120, 90)},
		{"fast/fractional", GeneratorFast, fractional(2000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Bootstrap(bench.d, BootstrapOptions{Resamples: 5000, Generator: bench.generator}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
