package suite

import (
	"cmp"
	"slices"
)

// Finding is something about a set that a person should look at. Text quotes
// nothing of a held-out item.
type Finding struct {
	Code    string   `json:"code"`
	Warning bool     `json:"warning,omitempty"` // a doubt, not a mistake
	IDs     []string `json:"ids,omitempty"`
	Text    string   `json:"text"`
}

// Codes of findings.
const (
	CodeLine        = "line"              // a line that is not an item
	CodeScorer      = "scorer"            // unknown, or without what it needs
	CodeReference   = "empty-reference"   // nothing to compare with
	CodeSelf        = "own-answer-wrong"  // the reference does not score 1
	CodeChoices     = "identical-choices" // two options say the same
	CodeNoChoice    = "choice-missing"    // the right option is not offered
	CodeSchema      = "schema-impossible" // no value can satisfy it
	CodeUnreachable = "schema-part"       // a part that no value can reach
	CodeVacuous     = "schema-anything"   // everything satisfies it
	CodeConflict    = "conflict"          // one input, two references
	CodeDuplicate   = "duplicate"         // one input twice
	CodeNear        = "near-duplicate"
	CodeLeak        = "leak" // a held-out item stands in a prompt
	CodeSize        = "too-small"
	CodeLog         = "access-log"
)

// MaxFindings is how many findings of one code are listed.
const MaxFindings = 20

// Findings are collected by code; of each the first MaxFindings are kept.
type Findings struct {
	listed []Finding
	counts map[string]int
	Wrong  int // findings that are no warnings
}

// Add takes one finding.
func (f *Findings) Add(x Finding) {
	if f.counts == nil {
		f.counts = map[string]int{}
	}
	if f.counts[x.Code]++; f.counts[x.Code] <= MaxFindings {
		f.listed = append(f.listed, x)
	}
	if !x.Warning {
		f.Wrong++
	}
}

// Has reports whether there is a finding of this code.
func (f *Findings) Has(code string) bool { return f.counts[code] > 0 }

// List returns what was kept: mistakes first, then by code, in the order in
// which they were found.
func (f *Findings) List() []Finding {
	out := slices.Clone(f.listed)
	slices.SortStableFunc(out, func(a, b Finding) int {
		if a.Warning != b.Warning {
			if b.Warning {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Code, b.Code)
	})
	return out
}

// Counts are all findings by code, those that are not listed too.
func (f *Findings) Counts() map[string]int { return f.counts }
