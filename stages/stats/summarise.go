package stats

import (
	"fmt"
	"math"
	"slices"
)

// sample is one set of pairs in id order, in columns.
type sample struct {
	stratum string
	a, b, d []float64
	cluster []string
}

func newSample(stratum string, pairs []Pair) sample {
	s := sample{stratum: stratum}
	for _, p := range pairs {
		s.a, s.b = append(s.a, p.A), append(s.b, p.B)
		s.cluster = append(s.cluster, p.Cluster)
	}
	s.d = differences(s.a, s.b)
	return s
}

func (s sample) summarise(opt Options) (Summary, error) {
	boot, err := Bootstrap(s.d, opt.bootstrap())
	if err != nil {
		return Summary{}, err
	}
	out, groups := s.describe(opt)
	out.Generator = boot.Algorithm
	if err := out.intervals(s, boot, groups, opt); err != nil {
		return Summary{}, err
	}
	out.settle(out.choose(), s.stratum, opt)
	return out, nil
}

// describe fills in all that needs no resampling. [Simulate] judges by it too.
func (s sample) describe(opt Options) (Summary, Clustered) {
	groups := ClusteredMean(s.d, s.cluster)
	out := Summary{
		N: len(s.d), Choice: opt.Interval, Confidence: opt.Confidence,
		Binary: binary(s.a) && binary(s.b), Warnings: []Warning{},
	}
	out.Bounded = !out.Binary && bounded(s.a) && bounded(s.b)
	out.Discordant.B, out.Discordant.C = discordant(s.d)
	out.means(s, groups)
	out.disagree()
	out.mcnemar()
	out.mde()
	return out, groups
}

// settle puts the interval in use and the doubts about it into the summary.
func (out *Summary) settle(iv Interval, stratum string, opt Options) {
	out.Lo, out.Hi = iv.Bounds()
	out.Method, out.Reason = iv.Method, iv.Reason
	out.warn(stratum, opt)
}

func (out *Summary) means(s sample, groups Clustered) {
	if out.N == 0 {
		return
	}
	ma, mb, delta := Mean(s.a), Mean(s.b), groups.Mean
	out.MeanA, out.MeanB, out.Delta = &ma, &mb, &delta
	if out.N > 1 {
		sd, se := groups.SD, groups.SE
		out.SD, out.SE = &sd, &se
	}
	if !groups.Grouped() {
		return
	}
	out.Clusters = &ClusterSet{N: groups.Clusters, Moved: groups.Moved, Effective: groups.Effective}
	out.SE = nil
	if groups.Clusters > 1 {
		cr1 := groups.CR1
		out.SE = &cr1
	}
	if deff, ok := groups.DesignEffect(); ok {
		out.Clusters.Deff = &deff
	}
}

func (out *Summary) disagree() {
	moved := out.Discordant.B + out.Discordant.C
	out.Disagreement.Rate = ratio(float64(moved), float64(out.N))
	out.Disagreement.Lo, out.Disagreement.Hi = Wilson(moved, out.N, out.Confidence).Bounds()
}

func (out *Summary) mcnemar() {
	switch {
	case out.N == 0:
		out.McNemar.Reason = ReasonNoItems
	case !out.Binary:
		out.McNemar.Reason = ReasonNotBinary
	default:
		t := McNemarTest(out.Discordant.B, out.Discordant.C)
		out.McNemar.Exact, out.McNemar.MidP = &t.Exact, &t.MidP
	}
}

// mde uses the disagreement rate for independent 0/1 scores and the standard
// error otherwise. Without any difference it is unknown, not 0.
func (out *Summary) mde() {
	moved := out.Discordant.B + out.Discordant.C
	switch {
	case out.N == 0:
		out.MDE80Reason = ReasonNoItems
		return
	case out.SE == nil:
		out.MDE80Reason = ReasonTooFewItems
		return
	case *out.SE == 0 || moved == 0:
		out.MDE80Reason = ReasonZeroVariance
		return
	}
	sd := *out.SE * math.Sqrt(float64(out.N))
	if out.Binary && out.Clusters == nil {
		sd = math.Sqrt(*out.Disagreement.Rate)
	}
	mde := MDE(sd, out.N, 1-out.Confidence, 0.8)
	out.MDE80 = &mde
}

func (out *Summary) intervals(s sample, boot Resampled, groups Clustered, opt Options) error {
	iv := &out.Intervals
	iv.Bootstrap = boot.Interval
	iv.BCa, _ = BCa(s.d, boot, opt.Confidence)
	iv.T = groups.Paired.T(opt.Confidence)
	iv.Tango = undefined(MethodTango, ReasonNotBinary)
	if out.Binary {
		iv.Tango = Tango(float64(out.N), float64(out.Discordant.B), float64(out.Discordant.C), opt.Confidence)
	}
	if !groups.Grouped() {
		iv.Clustered = undefined(MethodClustered, ReasonNoClusters)
		iv.ClusterBootstrap = undefined(MethodClusterBootstrap, ReasonNoClusters)
		return nil
	}
	iv.Clustered = groups.Interval(opt.Confidence)
	whole, err := groups.Bootstrap(opt.bootstrap())
	iv.ClusterBootstrap = whole.Interval
	return err
}

// choose picks the interval that guards use. With clusters the bootstrap
// resamples clusters and t uses clustered standard errors.
func (out *Summary) choose() Interval {
	grouped := out.Clusters != nil
	switch {
	case out.Choice == MethodBootstrap && grouped:
		return out.Intervals.ClusterBootstrap
	case out.Choice == MethodBootstrap:
		return out.Intervals.Bootstrap
	case out.Choice == MethodT && grouped:
		return out.Intervals.Clustered
	case out.Choice == MethodT:
		return out.Intervals.T
	case out.Choice == MethodTango:
		return out.Intervals.Tango
	case out.Choice == MethodBCa:
		return out.Intervals.BCa
	}
	return Auto(out.Evidence(), out.Confidence)
}

// warn adds the doubts about the interval in use. An undefined interval needs
// none: its guard is undetermined already.
func (out *Summary) warn(stratum string, opt Options) {
	if out.Lo == nil {
		return
	}
	add := func(code, format string, args ...any) {
		out.Warnings = append(out.Warnings, Warning{code, stratum, fmt.Sprintf(format, args...)})
	}
	moved := out.Discordant.B + out.Discordant.C
	asymptotic := out.Choice == MethodBootstrap || out.Choice == MethodT || out.Choice == MethodBCa
	if asymptotic && out.N < MinItems {
		add(WarnSmallSample, "the %s interval is too narrow below %d items; there are %d", out.Method, MinItems, out.N)
	}
	if asymptotic && moved < MinDifferences {
		add(WarnFewDifferences, "the %s interval is too narrow below %d non-zero differences; there are %d", out.Method, MinDifferences, moved)
	}
	if out.resampled() && opt.Resamples < 1000 {
		add(WarnFewResamples, "the limits come from %d resamples; use 1000 or more", opt.Resamples)
	}
	if out.Clusters == nil {
		return
	}
	if out.Method == MethodTango || out.Method == MethodBCa {
		add(WarnClustersIgnored, "%d items come in %d clusters, and the %s interval takes them as independent; use interval auto", out.N, out.Clusters.N, out.Method)
	}
	if out.Clusters.N < EnoughClusters && slices.Contains([]string{MethodClustered, MethodClusteredBounded, MethodClusterBootstrap}, out.Method) {
		add(WarnFewClusters, "the %s interval is too narrow below %d clusters; there are %d", out.Method, EnoughClusters, out.Clusters.N)
	}
}

func (out *Summary) resampled() bool {
	return out.Method == MethodBootstrap || out.Method == MethodBCa || out.Method == MethodClusterBootstrap
}
