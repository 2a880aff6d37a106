package stats

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// drawTable draws n, b, c with b+c <= n.
func drawTable(t *rapid.T) (n, b, c int) {
	n = rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(1, 5000)).Draw(t, "n")
	b = rapid.IntRange(0, n).Draw(t, "b")
	return n, b, rapid.IntRange(0, n-b).Draw(t, "c")
}

func tangoOf(n, b, c int, confidence float64) Interval {
	return Tango(float64(n), float64(b), float64(c), confidence)
}

func TestTangoProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, b, c := drawTable(t)
		level := rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		iv, swapped := tangoOf(n, b, c, level), tangoOf(n, c, b, level)
		theta := float64(c-b) / float64(n)
		if !iv.Defined || iv.Lo < -1 || iv.Lo > theta || iv.Hi < theta || iv.Hi > 1 || iv.Lo >= iv.Hi {
			t.Fatalf("%+v around %v", iv, theta)
		}
		if swapped.Lo != -iv.Hi || swapped.Hi != -iv.Lo {
			t.Fatalf("swapped %+v, not the mirror of %+v", swapped, iv)
		}
		if wide := tangoOf(n, b, c, (1+level)/2); wide.Lo > iv.Lo || wide.Hi < iv.Hi {
			t.Fatalf("higher confidence %+v is inside %+v", wide, iv)
		}
	})
}

func TestRateAndTableIntervalsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		level := rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		p := float64(k) / float64(n)
		for _, f := range []func(int, int, float64) Interval{Wilson, ClopperPearson} {
			iv, wide, mirror := f(k, n, level), f(k, n, (1+level)/2), f(n-k, n, level)
			if !(iv.Lo >= -1e-15 && iv.Lo <= p && p <= iv.Hi && iv.Hi <= 1+1e-15) || wide.Lo > iv.Lo || wide.Hi < iv.Hi {
				t.Fatalf("%+v and wider %+v around %v", iv, wide, p)
			}
			if d := relative(1-mirror.Hi+1, iv.Lo+1); d > 1e-9 {
				t.Fatalf("%+v is not the mirror of %+v", mirror, iv)
			}
		}
		both := rapid.IntRange(0, n).Draw(t, "both")
		b, c := rapid.IntRange(0, n).Draw(t, "b"), rapid.IntRange(0, n).Draw(t, "c")
		iv, mirror := Table{both, b, c, k}.Newcombe(level), Table{both, c, b, k}.Newcombe(level)
		if both+b+c+k > 0 && (!iv.Defined || relative(2-mirror.Lo, 2+iv.Hi) > 1e-12) {
			t.Fatalf("newcombe %+v, swapped %+v", iv, mirror)
		}
	})
}

func TestUndefinedIntervalsSayWhy(t *testing.T) {
	one := []string{"a", "a", "a"}
	for i, c := range []struct {
		got  Interval
		want Reason
	}{
		{Tango(0, 0, 0, 0.95), ReasonNoItems},
		{Tango(10, 6, 5, 0.95), ReasonBadCounts},
		{Tango(10, -1, 5, 0.95), ReasonBadCounts},
		{Tango(10, 1, 1, 1), ReasonBadConfidence},
		{Table{}.Newcombe(0.95), ReasonNoItems},
		{Table{1, 1, 1, 1}.Newcombe(0), ReasonBadConfidence},
		{Wilson(0, 0, 0.95), ReasonNoItems},
		{Wilson(3, 2, 0.95), ReasonBadCounts},
		{ClopperPearson(1, 2, 2), ReasonBadConfidence},
		{PairedMean(nil).T(0.95), ReasonNoItems},
		{PairedMean([]float64{1}).T(0.95), ReasonTooFewItems},
		{PairedMean([]float64{0.1, 0.1, 0.1}).Z(0.95), ReasonZeroVariance},
		{PairedMean([]float64{0, 1}).Z(0), ReasonBadConfidence},
		{ClusteredMean([]float64{0, 1, 1}, one).Interval(0.95), ReasonTooFewClusters},
		{ClusteredMean(nil, nil).Interval(0.95), ReasonNoItems},
		{ClusteredMean([]float64{0, 0, 0}, []string{"a", "a", ""}).Interval(0.95), ReasonZeroVariance},
		{Auto(Evidence{}, 0.95), ReasonNoItems},
		{Auto(Evidence{N: 1}, 0), ReasonBadConfidence},
		{Auto(Evidence{N: 99, B: 40, SD: 1}, 0.95), ReasonTooFewItems},
		{Auto(Evidence{N: 100, B: 4, C: 5, SD: 1}, 0.95), ReasonTooFewDifferences},
		{Auto(Evidence{N: 100, B: 9, Binary: true, Clusters: 1}, 0.95), ReasonTooFewClusters},
		{Auto(Evidence{N: 200, B: 40, Clusters: 50, Moved: 9}, 0.95), ReasonTooFewDifferences},
		{Auto(Evidence{N: 90, B: 40, Clusters: 50, Moved: 30}, 0.95), ReasonTooFewItems},
	} {
		if c.got.Defined || c.got.Reason != c.want || c.got.Method == "" {
			t.Errorf("case %d: %+v, want %s", i, c.got, c.want)
		}
	}
}

func TestReasonsAndWarningsAreDocumented(t *testing.T) {
	for _, code := range []Reason{
		ReasonNoItems, ReasonTooFewItems, ReasonTooFewDifferences, ReasonZeroVariance, ReasonNotBinary,
		ReasonNoClusters, ReasonTooFewClusters, ReasonDegenerate, ReasonBadConfidence, ReasonBadCounts, ReasonNoInformation,
	} {
		found := 0
		for _, r := range Reasons {
			if r.Code == code && r.Sentence != "" {
				found++
			}
		}
		if found != 1 {
			t.Errorf("reason %s has %d rows", code, found)
		}
	}
}

func TestAutoChooses(t *testing.T) {
	for i, c := range []struct {
		e    Evidence
		want string
	}{
		{Evidence{N: 5, Binary: true}, MethodTango},
		{Evidence{N: 100, B: 5, C: 5, SD: 0.3}, MethodT},
		{Evidence{N: 40, B: 12, Binary: true, Clusters: 20, Moved: 10, Effective: 20, ClusterSE: 0.1}, MethodClusteredBounded},
		{Evidence{N: 100, B: 5, C: 5, SD: 0.3, Bounded: true}, MethodTBounded},
		{Evidence{N: 40, B: 2, Binary: true, Clusters: 20, Moved: 2, Effective: 20, ClusterSE: 0.01}, MethodTangoClustered},
		{Evidence{N: 100, B: 12, Clusters: 20, Moved: 10, Effective: 20, ClusterSE: 0.1}, MethodClustered},
	} {
		if got := Auto(c.e, 0.95); got.Method != c.want || !got.Defined {
			t.Errorf("case %d: %+v, want %s", i, got, c.want)
		}
	}
	// Four items per cluster that answer alike count as one.
	got, want := Auto(Evidence{N: 400, Binary: true, Clusters: 100, Effective: 100}, 0.95), Tango(100, 0, 0, 0.95)
	if got.Lo != want.Lo || got.Hi != want.Hi {
		t.Errorf("clusters without discordance: %+v, want %+v", got, want)
	}
}

func TestClusteredMean(t *testing.T) {
	// Four clusters of three items that answer alike: CR1 is the standard
	// error of four cluster means.
	means := []float64{0.5, -0.25, 0.75, 0}
	var d []float64
	var names []string
	for i, m := range means {
		d = append(d, m, m, m)
		names = append(names, fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(i))
	}
	c := ClusteredMean(d, names)
	nearTo(t, "CR1", c.CR1, PairedMean(means).SE, 1e-14)
	nearTo(t, "effective", c.Effective, 4, 1e-14)
	if c.Moved != 3 || c.Clusters != 4 || !c.Grouped() {
		t.Errorf("%+v", c)
	}
	// Singletons: the ordinary t interval.
	single := ClusteredMean(d, make([]string, len(d)))
	nearTo(t, "singletons", single.CR1, single.SE, 1e-14)
	if single.Grouped() {
		t.Error("singletons are grouped")
	}
	for _, generator := range []string{GeneratorNumPy, GeneratorFast} {
		r, err := c.Bootstrap(BootstrapOptions{Generator: generator, Resamples: 4000})
		if err != nil {
			t.Fatal(err)
		}
		item := mustBootstrap(t, d, BootstrapOptions{Generator: generator, Resamples: 4000})
		if wide := r.Interval.Hi - r.Interval.Lo; wide < 1.4*(item.Interval.Hi-item.Interval.Lo) {
			t.Errorf("%s: resampling clusters gives %+v, items %+v", generator, r.Interval, item.Interval)
		}
	}
}

func TestWiden(t *testing.T) {
	iv := defined(MethodT, -0.01, 0.02).Widen(3, 100)
	nearTo(t, "lo", iv.Lo, -0.04, 1e-15)
	nearTo(t, "hi", iv.Hi, 0.05, 1e-15)
	if got := undefined(MethodT, ReasonNoItems).Widen(3, 100); got.Defined || got.Lo != 0 {
		t.Errorf("%+v", got)
	}
}

func TestIntervalJSON(t *testing.T) {
	for text, want := range map[string]Interval{
		`{"lo":-0.5,"hi":0.25,"method":"t"}`:                           defined(MethodT, -0.5, 0.25),
		`{"lo":null,"hi":null,"method":"tango","reason":"not-binary"}`: undefined(MethodTango, ReasonNotBinary),
	} {
		var got Interval
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s reads as %+v, %v", text, got, err)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("%+v writes as %s, %v", want, back, err)
		}
	}
	for _, bad := range []string{`{"lo":1,"hi":null,"method":"t"}`, `[]`} {
		var got Interval
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
