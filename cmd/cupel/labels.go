package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/approval"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// The labels that only people give. The machine proposes (stages/decide); an
// approved candidate is current, and what it replaces is what to go back to.
const (
	labelCurrent  = "current"
	labelRollback = "rollback"
)

// labels are those of all candidates: the machine's proposals, and what people
// have signed since. Of several approved candidates the one whose required
// approvals were complete last is current. Nothing here touches a serving system.
func labels(s *store.Store, d *evidence.Decision, baseline string, asked spec.Approvals, signers approval.Signers) map[string]string {
	out := map[string]string{baseline: labelCurrent}
	all, _ := approvals(s, signers, d.Evidence)
	var newest time.Time
	current := ""
	for _, c := range d.Candidates {
		out[c.Candidate] = c.Label
		if c.Verdict != evidence.Pass {
			continue
		}
		if at, ok := approvedAt(all, d, c.Candidate, max(asked.Required, 1)); ok && (current == "" || at.After(newest)) {
			current, newest = c.Candidate, at
		}
	}
	if current != "" {
		out[current], out[baseline] = labelCurrent, labelRollback
	}
	return out
}

// approvedAt is when the last of the approvals that count was given.
func approvedAt(all []approval.Given, d *evidence.Decision, candidate string, need int) (at time.Time, ok bool) {
	if len(approval.Standing(all, d.Evidence, candidate, time.Now())) < need {
		return at, false
	}
	for _, g := range all {
		if g.Candidate == candidate && g.Says == approval.Approve && g.Time.After(at) {
			at = g.Time
		}
	}
	return at, true
}

// labelLine is one line: "labels: f16 rollback, q8 current".
func labelLine(labels map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, name+" "+labels[name])
	}
	return "labels: " + strings.Join(out, ", ")
}
