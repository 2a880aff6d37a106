package stats

import (
	"math"
	"testing"
)

// scores writes out a table of counts [human][judge], each of its cells a score
// of 0 to 1 in equal steps.
func scores(table [][]int) (human, judged []float64) {
	last := float64(len(table) - 1)
	for h, row := range table {
		for j, n := range row {
			for range n {
				human, judged = append(human, float64(h)/last), append(judged, float64(j)/last)
			}
		}
	}
	return human, judged
}

// weightedKappa is the textbook form: observed and expected counts, weights
// (i-j)^2 / (k-1)^2.
func weightedKappa(table [][]int) float64 {
	k := len(table)
	rows, cols, n := make([]float64, k), make([]float64, k), 0.0
	for i, row := range table {
		for j, c := range row {
			rows[i], cols[j], n = rows[i]+float64(c), cols[j]+float64(c), n+float64(c)
		}
	}
	observed, expected := 0.0, 0.0
	for i, row := range table {
		for j, c := range row {
			w := float64((i-j)*(i-j)) / float64((k-1)*(k-1))
			observed += w * float64(c)
			expected += w * rows[i] * cols[j] / n
		}
	}
	return 1 - observed/expected
}

func TestAgree(t *testing.T) {
	for name, c := range map[string]struct {
		table [][]int
		kappa float64
		exact int
	}{
		"cohen 1960, by hand":   {[][]int{{15, 10}, {5, 20}}, 0.4, 35},
		"reference, n=10":       {[][]int{{3, 1}, {1, 5}}, 7.0 / 12, 8},
		"perfect":               {[][]int{{4, 0}, {0, 6}}, 1, 10},
		"always pass":           {[][]int{{0, 12}, {0, 24}}, 0, 24},
		"opposite":              {[][]int{{0, 5}, {5, 0}}, -1, 0},
		"four marks":            {[][]int{{9, 2, 0, 0}, {1, 7, 3, 0}, {0, 2, 8, 1}, {0, 0, 3, 6}}, math.NaN(), 30},
		"four marks, far apart": {[][]int{{9, 0, 0, 2}, {0, 7, 0, 3}, {1, 0, 8, 0}, {3, 1, 0, 6}}, math.NaN(), 30},
	} {
		t.Run(name, func(t *testing.T) {
			human, judged := scores(c.table)
			a, err := Agree(human, judged, 0.95)
			if err != nil || a.Kappa == nil {
				t.Fatalf("%+v, %v", a, err)
			}
			want := c.kappa
			if math.IsNaN(want) {
				want = weightedKappa(c.table)
			}
			if math.Abs(*a.Kappa-want) > 1e-12 || math.Abs(*a.Kappa-weightedKappa(c.table)) > 1e-12 || a.Exact.K != c.exact {
				t.Errorf("kappa %v, want %v; %d equal, want %d", *a.Kappa, want, a.Exact.K, c.exact)
			}
			if iv := a.KappaInterval; iv.Defined && (iv.Lo > *a.Kappa+1e-12 || iv.Hi < *a.Kappa-1e-12) {
				t.Errorf("kappa %v is outside %+v", *a.Kappa, iv)
			}
			again, _ := Agree(human, judged, 0.95)
			if again.KappaInterval != a.KappaInterval {
				t.Errorf("%+v and then %+v", a.KappaInterval, again.KappaInterval)
			}
			if (a.Sensitivity != nil) != (len(c.table) == 2) {
				t.Errorf("sensitivity %v of %d marks", a.Sensitivity, len(c.table))
			}
		})
	}
}

// TestAgreeInterval holds the bootstrap against the large-sample standard error
// of Fleiss, Cohen and Everitt (1969), computed by hand for [[15,10],[5,20]]:
// 0.1270, so 0.4 -+ 0.25. A percentile interval of 50 items is near that.
func TestAgreeInterval(t *testing.T) {
	human, judged := scores([][]int{{15, 10}, {5, 20}})
	a, err := Agree(human, judged, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if iv := a.KappaInterval; math.Abs(iv.Lo-0.15) > 0.03 || math.Abs(iv.Hi-0.65) > 0.03 {
		t.Errorf("%+v", iv)
	}
	if a.Bias != 0.1 || a.BiasInterval.Method != MethodTango {
		t.Errorf("bias %v %+v", a.Bias, a.BiasInterval)
	}
	if a.Sensitivity.K != 20 || a.Sensitivity.N != 25 || a.Specificity.K != 15 || a.Specificity.N != 25 {
		t.Errorf("%+v %+v", a.Sensitivity, a.Specificity)
	}
}

func TestAgreeWithoutInformation(t *testing.T) {
	for name, c := range map[string]struct{ human, judged []float64 }{
		"nothing":          {nil, nil},
		"one":              {[]float64{1}, []float64{1}},
		"all right":        {[]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}},
		"one is different": {[]float64{1, 1, 1, 1, 1, 1, 1, 0}, []float64{1, 1, 1, 1, 1, 1, 1, 0}},
	} {
		a, err := Agree(c.human, c.judged, 0.95)
		if err != nil || a.KappaInterval.Defined || a.KappaInterval.Reason == "" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	for _, bad := range []struct{ human, judged []float64 }{{[]float64{1}, nil}, {[]float64{math.NaN()}, []float64{0}}, {[]float64{0}, []float64{1.5}}} {
		if _, err := Agree(bad.human, bad.judged, 0.95); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// TestCorrectedDelta: a judge that is too kind to one side by 1/4 of its labels.
func TestCorrectedDelta(t *testing.T) {
	a, b := []float64{1, 0, 1, 0}, []float64{1, 1, 1, 0}
	human, right, kind := []float64{1, 0, 0, 1}, []float64{1, 0, 0, 1}, []float64{1, 1, 0, 1}
	d := CorrectedDelta(a, b, human, right, human, kind)
	// delta 0.25 with SE 0.25; the candidate's labels say -0.25 with SE 0.25.
	if d == nil || d.Value != 0 || math.Abs(d.SE-math.Sqrt(0.125)) > 1e-15 {
		t.Errorf("%+v", d)
	}
	if d := CorrectedDelta(a, b[:3], human, right, human, kind); d != nil {
		t.Errorf("%+v of unequal lengths", d)
	}
}
