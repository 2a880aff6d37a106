package metric

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNearestRank(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct {
		xs   []float64
		p    Percentile
		want float64
	}{
		{ten, 500, 5}, {ten, 900, 9}, {ten, 950, 10}, {ten, 990, 10}, {ten, 10, 1}, {ten, 1000, 10},
		{[]float64{7}, 500, 7}, {[]float64{1, 2}, 500, 1}, {[]float64{1, 2, 3}, 500, 2},
		{seq(100), 990, 99}, {seq(100), 950, 95}, {seq(101), 990, 100},
		{seq(100), 70, 7}, {seq(1000), 999, 999}, {seq(1001), 999, 1000}, // 0.07*100 is 7.000000000000001 in floating point
	} {
		if got := NearestRank(c.xs, c.p); got != c.want {
			t.Errorf("p%d/1000 of %d values = %v, want %v", c.p, len(c.xs), got, c.want)
		}
	}
}

func TestNewDist(t *testing.T) {
	d := NewDist([]float64{4, 2, 8}, "ms", "")
	if *d.Mean != 14.0/3 || *d.Min != 2 || *d.Max != 8 || *d.P50 != 4 || *d.P99 != 8 || d.Label != DescriptiveOnly {
		t.Errorf("%+v", d)
	}
	if want := math.Sqrt(28.0 / 3); math.Abs(*d.StdDev-want) > 1e-14 { // ((4-14/3)^2+(2-14/3)^2+(8-14/3)^2)/2
		t.Errorf("stddev %v, want %v", *d.StdDev, want)
	}
	if d := NewDist([]float64{5}, "ms", ""); d.StdDev != nil || *d.P99 != 5 {
		t.Errorf("one value: %+v", d)
	}
	if d := NewDist([]float64{1e308, 1e308}, "ms", ""); *d.Mean != 1e308 {
		t.Errorf("a sum above the largest number: mean %v", *d.Mean)
	}
	if d := NewDist(nil, "ms", NoUsage); d.N != 0 || d.P50 != nil || d.Mean != nil || d.Reason != NoUsage || d.Label != "" {
		t.Errorf("no value: %+v", d)
	}
	if d := NewDist(seq(100), "ms", ""); d.Label != "" {
		t.Errorf("100 values are labelled %q", d.Label)
	}
	if d := NewDist([]float64{math.NaN(), math.Inf(1)}, "ms", ""); d.N != 0 || d.Reason != NotFinite {
		t.Errorf("not finite: %+v", d)
	}
}

func TestDistProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 1, 300).Draw(t, "xs")
		before := slices.Clone(xs)
		d := NewDist(xs, "ms", "")
		if !slices.Equal(xs, before) {
			t.Fatal("the argument was changed")
		}
		up := []float64{*d.Min, *d.P50, *d.P90, *d.P95, *d.P99, *d.P999, *d.Max}
		if !slices.IsSorted(up) || !slices.Contains(xs, *d.P95) || *d.Mean < *d.Min || *d.Mean > *d.Max {
			t.Fatalf("%v, mean %v", up, *d.Mean)
		}
		below := 0
		for _, x := range xs {
			if x <= *d.P95 {
				below++
			}
		}
		if 100*below < 95*len(xs) {
			t.Fatalf("only %d of %d values are at most p95", below, len(xs))
		}
	})
}

func TestStability(t *testing.T) {
	groups := [][]float64{{10, 12}, {20, 20, 26}, {99}} // population variances 1 and 8
	if sd := StdDevPooled(groups, "tok/s"); math.Abs(*sd.Value-math.Sqrt(4.5)) > 1e-14 {
		t.Errorf("stddev_pooled %v", *sd.Value)
	}
	cv := CV(groups)
	if want := 100 * math.Sqrt(4.5) / (187.0 / 6); math.Abs(*cv.Value-want) > 1e-12 || Stability(cv) != Variable {
		t.Errorf("cv %v (%s), want %v", *cv.Value, Stability(cv), want)
	}
	for _, c := range []struct {
		groups [][]float64
		want   string
		reason string
	}{
		{[][]float64{{100, 101}}, Stable, ""},
		{[][]float64{{100, 130}}, Unstable, ""},
		{[][]float64{{100}}, Unknown, OneRun},
		{nil, Unknown, OneRun},
		{[][]float64{{0, 0}}, Unknown, ZeroMean},
	} {
		if cv := CV(c.groups); Stability(cv) != c.want || cv.Reason != c.reason {
			t.Errorf("%v: %s %q, want %s %q", c.groups, Stability(cv), cv.Reason, c.want, c.reason)
		}
	}
}

func seq(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i + 1)
	}
	return xs
}
