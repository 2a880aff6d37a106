package stats

import "math"

// What [Auto] asks for before it trusts a variance estimated from the sample.
// Below it, a candidate that sits on the limit passes far too often.
const (
	MinItems       = 100
	MinDifferences = 10
	// EnoughClusters is where clustered intervals stop being warned about.
	EnoughClusters = 30
)

// MethodAuto names the interval of a set for which Auto finds none.
const MethodAuto = "auto"

// Evidence is what an interval is computed from, and no more. Counts are real
// numbers, so that a larger set in the same proportions can be imagined.
type Evidence struct {
	N, B, C  float64 // items; negative and positive differences
	Binary   bool    // all scores are 0 or 1
	Bounded  bool    // all scores lie in [0, 1], as those of Binary do
	Mean, SD float64
	// Clusters is 0 when items are independent. Moved counts clusters with a
	// non-zero sum, Effective is [Clustered].Effective, ClusterSE is CR1.
	Clusters, Moved, Effective, ClusterSE float64
}

// Scaled imagines n items in the proportions of e.
func (e Evidence) Scaled(n float64) Evidence {
	f := n / e.N
	e.N, e.B, e.C = n, e.B*f, e.C*f
	e.Clusters, e.Moved, e.Effective = e.Clusters*f, e.Moved*f, e.Effective*f
	e.ClusterSE /= math.Sqrt(f)
	return e
}

// Auto chooses and computes the interval that keeps its level on this
// evidence: Tango for 0/1 scores, t for fractional scores with at least
// MinItems items and MinDifferences non-zero differences, CR1 with t(C-1) when
// items are clustered and MinDifferences clusters moved, Tango at the
// effective number of items for clustered 0/1 scores below that. Otherwise it
// is undefined with the reason. The intervals that rest on a standard error are
// widened for losses that the sample may not show, when scores are bounded.
func Auto(e Evidence, confidence float64) Interval {
	switch {
	case badConfidence(confidence):
		return undefined(MethodAuto, ReasonBadConfidence)
	case e.N == 0:
		return undefined(MethodAuto, ReasonNoItems)
	case e.Clusters > 0:
		return autoClustered(e, confidence)
	case e.Binary:
		return Tango(e.N, e.B, e.C, confidence)
	case e.N < MinItems:
		return undefined(MethodAuto, ReasonTooFewItems)
	case e.B+e.C < MinDifferences:
		return undefined(MethodAuto, ReasonTooFewDifferences)
	}
	return e.bounded(e.t(confidence), e.SD/math.Sqrt(e.N), e.N, e.N-1, confidence)
}

func autoClustered(e Evidence, confidence float64) Interval {
	moved := e.Moved >= MinDifferences
	switch {
	case e.Clusters < 2:
		return undefined(MethodAuto, ReasonTooFewClusters)
	case e.Binary && !moved:
		return e.tangoClustered(confidence)
	case !e.Binary && e.N < MinItems:
		return undefined(MethodAuto, ReasonTooFewItems)
	case !moved:
		return undefined(MethodAuto, ReasonTooFewDifferences)
	}
	return e.bounded(e.clustered(confidence), e.ClusterSE, e.Effective, e.Clusters-1, confidence)
}

// tangoClustered is Tango's interval with all counts scaled to the effective
// number of items, the design effect of clusters that answer alike (after
// J. Rao and A. Scott, 1992, with the largest possible effect in place of the
// estimated one). With few clusters moved CR1 is near 0 and its interval a
// point, whatever the truth.
func (e Evidence) tangoClustered(confidence float64) Interval {
	scale := e.Effective / e.N
	iv := Tango(e.Effective, e.B*scale, e.C*scale, confidence)
	iv.Method = MethodTangoClustered
	return iv
}

func (e Evidence) t(confidence float64) Interval {
	return quantileInterval(MethodT, e.Mean, e.SD/math.Sqrt(e.N), e.N-1, confidence)
}

func (e Evidence) clustered(confidence float64) Interval {
	return quantileInterval(MethodClustered, e.Mean, e.ClusterSE, e.Clusters-1, confidence)
}

func quantileInterval(method string, mean, se, df, confidence float64) Interval {
	switch {
	case badConfidence(confidence):
		return undefined(method, ReasonBadConfidence)
	case df <= 0:
		return undefined(method, ReasonTooFewItems)
	case se == 0:
		return undefined(method, ReasonZeroVariance)
	}
	half := float64(TQuantile((1+confidence)/2, df) * se)
	return defined(method, mean-half, mean+half)
}
