package stats

// A Reason says why a value is absent.
type Reason string

// The reason codes of this package; [Reasons] explains each in a sentence.
const (
	ReasonNoItems           Reason = "no-items"
	ReasonTooFewItems       Reason = "too-few-items"
	ReasonTooFewDifferences Reason = "too-few-differences"
	ReasonZeroVariance      Reason = "zero-variance"
	ReasonNotBinary         Reason = "not-binary"
	ReasonNoClusters        Reason = "no-clusters"
	ReasonTooFewClusters    Reason = "too-few-clusters"
	ReasonDegenerate        Reason = "degenerate-resamples"
	ReasonBadConfidence     Reason = "bad-confidence"
	ReasonBadCounts         Reason = "bad-counts"
	ReasonNoInformation     Reason = "judge-uninformative"
)

// Reasons is the table of reason codes; documentation is printed from it.
var Reasons = []struct {
	Code     Reason
	Sentence string
}{
	{ReasonNoItems, "there are no paired items"},
	{ReasonTooFewItems, "there are fewer items than this interval needs to keep its level"},
	{ReasonTooFewDifferences, "there are fewer items with a non-zero difference than this interval needs to keep its level"},
	{ReasonZeroVariance, "all differences are equal, so the standard error is 0 and the interval would be a point"},
	{ReasonNotBinary, "the method is defined for 0/1 scores only"},
	{ReasonNoClusters, "no cluster holds more than one item"},
	{ReasonTooFewClusters, "there are fewer than two clusters"},
	{ReasonDegenerate, "all resampled means lie on one side of the estimate"},
	{ReasonBadConfidence, "the confidence level is not between 0 and 1"},
	{ReasonBadCounts, "the counts are negative or exceed the number of items"},
	{ReasonNoInformation, "the judge's sensitivity and specificity add up to 1 or less, or one class has no human labels"},
}

// A Warning is a doubt about a number that was computed. The gate treats a
// warning that the campaign does not waive as undetermined.
type Warning struct {
	Code string `json:"code"`
	// Stratum is empty for the overall set.
	Stratum string `json:"stratum,omitempty"`
	Message string `json:"message"`
}

// The warning codes of this package.
const (
	WarnSmallSample      = "small-sample"
	WarnFewDifferences   = "few-differences"
	WarnFewClusters      = "few-clusters"
	WarnClustersIgnored  = "clusters-ignored"
	WarnFewResamples     = "few-resamples"
	WarnUnlabelledItems  = "unlabelled-items"
	WarnWeightsDontMatch = "weights-do-not-match"
)

// Warnings is the table of warning codes; documentation is printed from it.
var Warnings = []struct{ Code, Sentence string }{
	{WarnSmallSample, "the chosen interval is too narrow for this few items"},
	{WarnFewDifferences, "the chosen interval is too narrow for this few non-zero differences"},
	{WarnFewClusters, "clustered standard errors are too small for this few clusters"},
	{WarnClustersIgnored, "items are clustered, but the chosen interval takes them as independent"},
	{WarnFewResamples, "the percentiles of this few resamples are unstable"},
	{WarnUnlabelledItems, "some items do not carry the label that strata are made by"},
	{WarnWeightsDontMatch, "the weights and the strata are not the same set, so no weighted mean is given"},
}
