package prior

// Reason codes of absent priors and of claims that nothing was held against.
const (
	NoPrior      = "no-prior"
	NoSnapshot   = "no-snapshot"
	StalePrior   = "stale-prior"
	UnknownAge   = "unknown-age"
	Conflicting  = "conflicting-priors"
	OtherUnit    = "other-unit"
	NotMeasured  = "not-measured"
	ZeroClaim    = "zero-claim"
	unknownMeter = "no-such-metric"
)

// Reasons is the table of reason codes; documentation is printed from it.
var Reasons = []struct{ Code, Sentence string }{
	{NoPrior, "no source claims it of this candidate at this place"},
	{NoSnapshot, "no snapshot was kept of what the source said"},
	{StalePrior, "the source was stale when it was looked at, and nothing bears it out"},
	{UnknownAge, "the source does not say when it was published, so it counts as not current"},
	{Conflicting, "sources of one rank claim different values"},
	{OtherUnit, "the claim is in a unit that cannot be turned into the metric's"},
	{NotMeasured, "nothing in this campaign measured it"},
	{ZeroClaim, "the claimed value is 0, so there is no share of it"},
	{unknownMeter, "no metric of this campaign has that name"},
}
