package stats

import (
	"strconv"
	"testing"
)

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

// BenchmarkBootstrapMillion is 10,000 resamples of 100,000 0/1 differences: a
// thousand million draws, were they drawn one by one.
func BenchmarkBootstrapMillion(b *testing.B) {
	d := ternary(100_000, 6000, 4500)
	for b.Loop() {
		if _, err := Bootstrap(d, BootstrapOptions{Resamples: 10_000, Generator: GeneratorFast}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompareStrata is a whole comparison of 2,000 items in 8 strata with
// all intervals, at the default of 10,000 resamples.
func BenchmarkCompareStrata(b *testing.B) {
	for _, bench := range []struct {
		name   string
		opt    Options
		binary bool
	}{
		{"auto/binary", Options{By: "task"}, true},
		{"auto/fractional", Options{By: "task"}, false},
		{"numpy/binary", Options{By: "task", Interval: MethodBootstrap}, true},
	} {
		pairs := tablePairs(2000, 120, 90)
		for i := range pairs {
			pairs[i].Strata = map[string]string{"task": strconv.Itoa(i % 8)}
			if !bench.binary {
				pairs[i].B = float64((i*7919)%1009) / 1009
			}
		}
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compare(pairs, bench.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
