package decide

import (
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Reason codes of this package, beside those of stats and metric.
const (
	noNoiseFloor = "no-noise-floor"
	noStratum    = "no-stratum"
	noCell       = "no-cell"
	drift        = "drift"
	unequalWork  = "unequal-work"
	otherTokens  = "other-tokens"
	partial      = "partial"
	attrition    = "attrition"
	allZero      = "all-zero"
	uncalibrated = "uncalibrated"
	survivorsOf  = "failed-requests"
	noEnergy     = "no-energy"
	notCounted   = "not-counted-here"
	incomparable = "not-comparable"
	withinQuant  = "within-quantisation"

	// Noted, and no reason.
	answersDiffer = "answers-differ"
)

// Reasons is the table of reason codes; documentation is printed from it.
var Reasons = []struct{ Code, Sentence string }{
	{noNoiseFloor, "no noise floor was measured on this workload"},
	{noStratum, "there are no items of this stratum"},
	{noCell, "this cell was not measured"},
	{drift, "the baseline differs from itself by more than noise, so something changed between its runs"},
	{unequalWork, "the answers differ in length, so the shorter ones look faster; give output.words, or compare times per token"},
	{otherTokens, "the same text has other tokens on the other side, so counts of tokens and times and rates per token are not in one unit; compare ttft_ms, e2e_ms or request_rate"},
	{partial, "the number is known of a part of the requests only, which were selected by what they are"},
	{attrition, "some items could not be paired, and the campaign states no policy for them"},
	{allZero, "both score 0 on every item, so nothing is compared; look at the answers, the scorer and the chat template"},
	{uncalibrated, "the judge that scored the items was not held against labels of people, or does not agree with them"},
	{survivorsOf, "some requests of the cell failed, so its numbers describe the survivors"},
	{noEnergy, "no energy was derived of this cell"},
	{notCounted, "the workload does not count this base"},
	{incomparable, "the energies of the two sides were not measured under the same conditions"},
	{withinQuant, "the rule would come out otherwise within what the counters resolve; measure a longer window"},
	{answersDiffer, "joules per token depend on the length of the answers: what comes before the first token is spread over other numbers of them"},
	{"absent", "the value is absent"},
}

var sentences = func() map[string]string {
	out := map[string]string{}
	for _, r := range stats.Reasons {
		out[string(r.Code)] = r.Sentence
	}
	for _, r := range metric.Reasons {
		out[r.Code] = r.Sentence
	}
	for _, r := range prior.Reasons {
		out[r.Code] = r.Sentence
	}
	for _, r := range Reasons {
		out[r.Code] = r.Sentence
	}
	return out
}()

// because is the code with its sentence, where it has one.
func because(code string) string {
	if s := sentences[code]; s != "" {
		return code + " (" + s + ")"
	}
	return code
}
