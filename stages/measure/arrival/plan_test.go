package arrival

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

func mustPlan(t testing.TB, a spec.Arrivals, rate float64, seed int64, trial int) Schedule {
	t.Helper()
	s, err := Plan(a, rate, seed, trial, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func arrivals(process, duration string) spec.Arrivals {
	return spec.Arrivals{Process: process, Duration: duration}
}

// The digests hold on every architecture and for every later version of Go:
// they were computed on amd64 and arm64.
func TestGoldenPlans(t *testing.T) {
	for _, c := range []struct {
		name    string
		a       spec.Arrivals
		rate    float64
		seed    int64
		trial   int
		planned int
		digest  string
	}{
		{"constant", arrivals("constant", "20s"), 3, 0, 0, 60, "fb09e7fda2e34807dbd9c1a3f77169a554cf4ee7fb0a69ac35a81cb3eab231b0"},
		{"poisson", arrivals("poisson", "24h"), 10, 17, 0, 863611, "d5452b1be8ce97400a01e8c300aa6a82416c4458613f9928df5d8a4c4d97ce8a"},
		{"poisson, trial 1", arrivals("poisson", "24h"), 10, 17, 1, 864210, "a0dc20393e0dab64aecaa03df842c1fc4ff2ca0d865bb56226f96cb106125184"},
		{"gamma 0.25", spec.Arrivals{Process: "gamma", Duration: "12h", Burstiness: 0.25}, 20, -1, 0, 863563, "c28344f25527495f07039869619d9d6da216ec73f1ae4b4b50f8ff5a35fb47b7"},
		{"gamma 4", spec.Arrivals{Process: "gamma", Duration: "12h", Burstiness: 4}, 20, 1 << 40, 0, 864888, "054c814b3cc403ed73fac0e05c060f8f89b1baeadacde554d3b39617cfad33e9"},
		{"ramp", spec.Arrivals{Process: "ramp", Duration: "10m", To: 1000}, 0.1, 0, 0, 300030, "c4afda88005c501260901ed51981a62fee2d0c9c87b8d613c925755f4b4390a3"},
	} {
		s := mustPlan(t, c.a, c.rate, c.seed, c.trial)
		if got := s.Digest().String(); got != c.digest || len(s.Offsets) != c.planned {
			t.Errorf("%s: %d arrivals, digest %s, want %d, %s", c.name, len(s.Offsets), got, c.planned, c.digest)
		}
	}
}

func TestDigestIsOfOneNumberALine(t *testing.T) {
	s := Schedule{Offsets: []time.Duration{0, 1, time.Second}}
	if want := step.Digest(sha256.Sum256([]byte("0\n1\n1000000000\n"))); s.Digest() != want {
		t.Error("digest is not that of the offsets in decimal")
	}
}

func TestConstantIsExactlyIOverRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 5000).Draw(t, "rate")
		s, err := Plan(arrivals("constant", "100s"), rate, 1, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Ceil(100 * rate); math.Abs(float64(len(s.Offsets))-want) > 1 {
			t.Fatalf("%d arrivals, want %v", len(s.Offsets), want)
		}
		for i, o := range s.Offsets {
			if exact := float64(i) / rate * 1e9; math.Abs(float64(o)-exact) > 0.51+exact*1e-15 {
				t.Fatalf("arrival %d at %d ns, want %v", i, o, exact)
			}
		}
		if len(s.Offsets) > 2 {
			if _, cv := moments(s.Offsets); cv >= 0.05 {
				t.Fatalf("variation of the gaps is %v", cv)
			}
		}
	})
}

func moments(offsets []time.Duration) (mean, cv float64) {
	var sum, squares float64
	n := float64(len(offsets) - 1)
	for i := 1; i < len(offsets); i++ {
		g := (offsets[i] - offsets[i-1]).Seconds()
		sum += g
		squares += g * g
	}
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}

// ks is the Kolmogorov-Smirnov distance of the gaps, in mean gaps, from cdf.
func ks(offsets []time.Duration, rate float64, cdf func(float64) float64) float64 {
	var gaps []float64
	before := time.Duration(0)
	for _, o := range offsets {
		gaps = append(gaps, (o-before).Seconds()*rate)
		before = o
	}
	slices.Sort(gaps)
	d, n := 0.0, float64(len(gaps))
	for i, g := range gaps {
		f := cdf(g)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d * math.Sqrt(n)
}

// The distances stay below the 0.1 % point of the Kolmogorov distribution; the
// seeds are fixed, so a pass is a pass for good.
func TestGapsFollowTheirDistribution(t *testing.T) {
	exponential := func(x float64) float64 { return -math.Expm1(-x) }
	for _, c := range []struct {
		process string
		shape   float64
		cdf     func(float64) float64
	}{
		{"poisson", 0, exponential},
		{"gamma", 0, exponential},
		{"gamma", 1, exponential},
		{"gamma", 0.5, func(x float64) float64 { return math.Erf(math.Sqrt(x / 2)) }},
		{"gamma", 2, func(x float64) float64 { return 1 - math.Exp(-2*x)*(1+2*x) }},
		{"gamma", 3, func(x float64) float64 { return 1 - math.Exp(-3*x)*(1+3*x+4.5*x*x) }},
	} {
		for _, rate := range []float64{0.5, 20} {
			a := spec.Arrivals{Process: c.process, Burstiness: c.shape, Duration: fmt.Sprintf("%vs", 50_000/rate)}
			if rate == 0.5 {
				a.Duration = "20h"
			}
			s := mustPlan(t, a, rate, 5, 2)
			if d := ks(s.Offsets, rate, c.cdf); d > 1.95 {
				t.Errorf("%s %v at %v/s: distance %.2f over %d gaps, want at most 1.95", c.process, c.shape, rate, d, len(s.Offsets))
			}
			mean, cv := moments(s.Offsets)
			shape := c.shape
			if shape == 0 {
				shape = 1
			}
			if math.Abs(mean*rate-1) > 0.02 || math.Abs(cv*math.Sqrt(shape)-1) > 0.03 {
				t.Errorf("%s %v at %v/s: mean gap %v s, variation %v", c.process, c.shape, rate, mean, cv)
			}
		}
	}
}

// A wrong distribution is told apart: the test above can fail.
func TestDistanceFindsEvenGaps(t *testing.T) {
	s := mustPlan(t, arrivals("constant", "100s"), 50, 0, 0)
	if d := ks(s.Offsets, 50, func(x float64) float64 { return -math.Expm1(-x) }); d < 10 {
		t.Errorf("distance of even gaps is %v", d)
	}
}

func TestExtremeShapesKeepMeanAndVariation(t *testing.T) {
	for _, shape := range []float64{0.1, 1000} {
		a := spec.Arrivals{Process: "gamma", Burstiness: shape, Duration: "24h"}
		mean, cv := moments(mustPlan(t, a, 10, 3, 0).Offsets)
		if math.Abs(mean*10-1) > 0.02 || math.Abs(cv*math.Sqrt(shape)-1) > 0.02 {
			t.Errorf("shape %v: mean gap %v, variation %v", shape, mean, cv)
		}
	}
}

func TestTheNumberOfArrivalsIsNotForced(t *testing.T) {
	counts := map[int]bool{}
	sum := 0
	for trial := range 200 {
		n := len(mustPlan(t, arrivals("poisson", "100s"), 1, 9, trial).Offsets)
		counts[n] = true
		sum += n
	}
	if len(counts) < 20 || math.Abs(float64(sum)/200-100) > 3 {
		t.Errorf("%d distinct counts with mean %v, want a spread of about 10 around 100", len(counts), float64(sum)/200)
	}
}

func TestPlansAreSeeded(t *testing.T) {
	for _, process := range []string{"poisson", "gamma"} {
		seen := map[step.Digest]string{}
		for seed := int64(-2); seed < 3; seed++ {
			for trial := range 5 {
				a := arrivals(process, "10s")
				d := mustPlan(t, a, 20, seed, trial).Digest()
				if d != mustPlan(t, a, 20, seed, trial).Digest() {
					t.Fatalf("%s: two plans for one seed", process)
				}
				who := fmt.Sprintf("seed %d trial %d", seed, trial)
				if other, ok := seen[d]; ok {
					t.Errorf("%s: %s and %s have one plan", process, who, other)
				}
				seen[d] = who
			}
		}
	}
}

func TestRatesShareTheirDraws(t *testing.T) {
	slow := mustPlan(t, arrivals("poisson", "100s"), 5, 1, 1).Offsets
	fast := mustPlan(t, arrivals("poisson", "100s"), 10, 1, 1).Offsets
	for i, o := range slow {
		if d := o - 2*fast[i]; d < -2 || d > 2 {
			t.Fatalf("arrival %d at %v and %v", i, o, fast[i])
		}
	}
}

func TestRampInvertsItsRate(t *testing.T) {
	for _, c := range [][2]float64{{1, 9}, {9, 1}, {4, 4}, {0.001, 100}, {100, 0.001}} {
		s := mustPlan(t, spec.Arrivals{Process: "ramp", Duration: "60s", To: c[1]}, c[0], 0, 0)
		if want := math.Ceil(30 * (c[0] + c[1])); math.Abs(float64(len(s.Offsets))-want) > 1 {
			t.Errorf("ramp %v: %d arrivals, want %v", c, len(s.Offsets), want)
		}
		for i, o := range s.Offsets {
			x := o.Seconds()
			passed := c[0]*x + (c[1]-c[0])*x*x/120
			if math.Abs(passed-float64(i)) > 1e-6*(1+float64(i)) {
				t.Fatalf("ramp %v: at arrival %d the rate has integrated to %v", c, i, passed)
			}
		}
	}
}

func TestPlanIsAscendingAndInsideTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := spec.Arrivals{
			Process:    rapid.SampledFrom([]string{"constant", "poisson", "gamma", "ramp"}).Draw(t, "process"),
			Duration:   fmt.Sprintf("%dms", rapid.IntRange(1, 100_000).Draw(t, "window")),
			Burstiness: rapid.Float64Range(1e-3, 1000).Draw(t, "shape"),
			To:         rapid.Float64Range(1e-3, 1000).Draw(t, "to"),
		}
		s, err := Plan(a, rapid.Float64Range(1e-3, 1000).Draw(t, "rate"), rapid.Int64().Draw(t, "seed"), 0, nil)
		if err != nil {
			return // none falls into a short window, or a burst outgrew the bound
		}
		if !slices.IsSorted(s.Offsets) || s.Offsets[0] < 0 || s.Offsets[len(s.Offsets)-1] >= s.Window {
			t.Fatalf("offsets from %v to %v in a window of %v", s.Offsets[0], s.Offsets[len(s.Offsets)-1], s.Window)
		}
	})
}

func TestPlanRefuses(t *testing.T) {
	trace := []TraceRow{{At: 0}, {At: time.Second}}
	for _, c := range []struct {
		a    spec.Arrivals
		rate float64
		rows []TraceRow
		want string
	}{
		{arrivals("uniform", "1m"), 1, nil, `process "uniform": known are`},
		{arrivals("poisson", ""), 1, nil, "needs a duration"},
		{arrivals("poisson", "soon"), 1, nil, "write it like 90s"},
		{arrivals("poisson", "0s"), 1, nil, "at most 24h"},
		{arrivals("poisson", "25h"), 1, nil, "at most 24h"},
		{arrivals("poisson", "1m"), 0, nil, "no rate is given"},
		{arrivals("poisson", "1m"), -1, nil, "rate -1: allowed"},
		{arrivals("poisson", "1m"), math.NaN(), nil, "rate NaN: allowed"},
		{arrivals("poisson", "1m"), math.Inf(1), nil, "rate +Inf: allowed"},
		{arrivals("poisson", "1m"), 100_001, nil, "at most 100000 per second"},
		{arrivals("constant", "1m"), 100_000, nil, "6000000 are expected"},
		{arrivals("poisson", "1ns"), 1e-9, nil, "none falls into"},
		{arrivals("ramp", "1m"), 1, nil, "end of the ramp: no rate"},
		{spec.Arrivals{Process: "gamma", Duration: "1m", Burstiness: -1}, 1, nil, "burstiness -1"},
		{spec.Arrivals{Process: "gamma", Duration: "1m", Burstiness: math.NaN()}, 1, nil, "burstiness NaN"},
		{spec.Arrivals{Process: "gamma", Duration: "24h", Burstiness: 1e-7}, 11, nil, "more than 1000000 in"},
		{arrivals("trace", ""), 0, nil, "no rows to replay"},
		{spec.Arrivals{Process: "trace", Speed: -1}, 0, trace, "speed -1"},
		{arrivals("trace", "25h"), 0, trace, "at most 24h"},
		{arrivals("trace", ""), 0, []TraceRow{{At: 2}, {At: 1}}, "row 2 at 1ns is earlier"},
		{arrivals("trace", ""), 0, []TraceRow{{At: 0}, {At: MaxSpan}}, "at most 24h"},
	} {
		if _, err := Plan(c.a, c.rate, 1, 1, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v at %v: error %v, want one with %q", c.a, c.rate, err, c.want)
		}
	}
}

func TestReplay(t *testing.T) {
	rows := []TraceRow{{At: 0, Prompt: 1}, {At: time.Second, Prompt: 2}, {At: time.Second, Prompt: 3}, {At: 4 * time.Second, Prompt: 4}}
	for _, c := range []struct {
		speed    float64
		duration string
		want     []time.Duration
		window   time.Duration
	}{
		{0, "", []time.Duration{0, 1e9, 1e9, 4e9}, 5333333333},
		{2, "", []time.Duration{0, 5e8, 5e8, 2e9}, 2666666667},
		{0.5, "3s", []time.Duration{0, 2e9, 2e9}, 3e9},
		{1, "1s", []time.Duration{0}, 1e9},                                          // the end does not belong to the window
		{3, "1h", []time.Duration{0, 333333333, 333333333, 1333333333}, 1777777777}, // all of it
	} {
		s, err := Plan(spec.Arrivals{Process: "trace", Speed: c.speed, Duration: c.duration}, 0, 1, 1, rows)
		if err != nil || !slices.Equal(s.Offsets, c.want) || s.Window != c.window || !slices.Equal(s.Rows, rows[:len(c.want)]) {
			t.Errorf("speed %v of %q: %v in %v with %d rows, error %v; want %v in %v", c.speed, c.duration, s.Offsets, s.Window, len(s.Rows), err, c.want, c.window)
		}
	}
	one, err := Plan(spec.Arrivals{Process: "trace"}, 0, 1, 1, rows[:1])
	if err != nil || one.Window != time.Second {
		t.Errorf("one row: window %v, error %v", one.Window, err)
	}
}
