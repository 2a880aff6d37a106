package decide

import "github.com/cupel-dev/cupel/stages/evidence"

// Labels of candidates.
const (
	Challenger  = "challenger"   // passed: may be promoted once it is approved
	NoPromotion = "no-promotion" // undetermined or error: neither yes nor no
	Rejected    = "rejected"     // failed, or never got to be measured
)

var order = map[evidence.Verdict]int{
	evidence.Pass: 1, evidence.Undetermined: 2, evidence.Error: 3, evidence.Fail: 4,
}

// Worst is the worst of the verdicts; of none it is undetermined, so that
// nothing passes on an empty set. An unknown verdict counts as an error.
func Worst(verdicts ...evidence.Verdict) evidence.Verdict {
	worst := evidence.Verdict("")
	for _, v := range verdicts {
		if order[v] == 0 {
			v = evidence.Error
		}
		if order[v] > order[worst] {
			worst = v
		}
	}
	if worst == "" {
		return evidence.Undetermined
	}
	return worst
}

// LabelFor is the label that a verdict gives.
func LabelFor(v evidence.Verdict) string {
	switch v {
	case evidence.Pass:
		return Challenger
	case evidence.Fail:
		return Rejected
	}
	return NoPromotion
}
