package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// page is what both renderings of a finding say, in words and numbers ready
// to be written. It is made from the record and the decision alone. Texts and
// answers of items are not in it, and neither are the reasons of scores, which
// quote both.
type page struct {
	Campaign, Question, Reward, Kind, Owner, Date string
	Baseline                                      string
	SpecHash, Evidence                            step.Digest

	Verdict  mark
	Headline string
	Cards    []card
	Next     []string

	Research *researchView // nil = the campaign lists none

	Quality  []qualityView
	Tradeoff []tradeoffView
	Noise    []noiseView
	Load     []loadView
	Energy   []energyView
	Starts   []startRow
	Pins     pinView
	Unknown  []unknownView
	Caveats  []caveat
	Files    []evidence.EvidenceFile
	Binds    []string // --bind arguments with example addresses
}

// builder of a page: the two documents and what is looked up often.
type pageMaker struct {
	rec   *evidence.Record
	dec   *evidence.Decision
	names []string // the baseline first, then the others by name
}

func newPage(rec *evidence.Record, dec *evidence.Decision) page {
	m := pageMaker{rec: rec, dec: dec, names: candidateNames(rec)}
	return page{
		Campaign: rec.Campaign, Question: rec.Question, Reward: rec.Reward, Kind: rec.Kind,
		Owner: rec.Owner, Date: rec.Date, Baseline: rec.Baseline,
		SpecHash: rec.SpecHash, Evidence: dec.Evidence,
		Verdict: markOf(dec.Verdict), Headline: headline(dec), Cards: m.cards(), Next: dec.Next,
		Research: m.research(),
		Quality:  m.quality(), Tradeoff: m.tradeoffs(), Noise: m.noise(), Load: m.load(), Energy: m.energies(), Starts: m.starts(), Pins: m.pins(),
		Unknown: m.unknown(), Caveats: m.caveats(), Files: rec.Evidence, Binds: m.binds(),
	}
}

func candidateNames(rec *evidence.Record) []string {
	var names []string
	for name := range rec.Candidates {
		if name != rec.Baseline {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if _, ok := rec.Candidates[rec.Baseline]; ok {
		names = append([]string{rec.Baseline}, names...)
	}
	return names
}

// binds are examples: where candidates ran is not part of a finding.
func (m pageMaker) binds() []string {
	out := make([]string, len(m.names))
	for i, name := range m.names {
		out[i] = fmt.Sprintf("%s=http://127.0.0.1:%d/v1", name, 8000+i)
	}
	return out
}

// mark is a verdict as it is shown: never by colour alone.
type mark struct {
	Verdict string // pass | undetermined | error | fail | none, also the class of the style
	Word    string
}

func markOf(v evidence.Verdict) mark {
	switch v {
	case evidence.Pass:
		return mark{"pass", "pass"}
	case evidence.Undetermined:
		return mark{"undetermined", "undetermined"}
	case evidence.Error:
		return mark{"error", "error"}
	case evidence.Fail:
		return mark{"fail", "fail"}
	}
	return mark{"none", "none"}
}

// worse orders verdicts from best to worst.
func worse(a, b evidence.Verdict) evidence.Verdict {
	order := []evidence.Verdict{"", evidence.Pass, evidence.Undetermined, evidence.Error, evidence.Fail}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// headline says in one sentence what became of the candidates.
func headline(d *evidence.Decision) string {
	by := map[evidence.Verdict][]string{}
	for _, c := range d.Candidates {
		by[c.Verdict] = append(by[c.Verdict], c.Candidate)
	}
	var parts []string
	for _, v := range []struct {
		verdict   evidence.Verdict
		one, many string
	}{
		{evidence.Pass, "passes every guard", "pass every guard"},
		{evidence.Undetermined, "cannot be decided yet", "cannot be decided yet"},
		{evidence.Error, "could not be evaluated", "could not be evaluated"},
		{evidence.Fail, "is rejected", "are rejected"},
	} {
		if names := by[v.verdict]; len(names) == 1 {
			parts = append(parts, names[0]+" "+v.one)
		} else if len(names) > 1 {
			parts = append(parts, listing(names)+" "+v.many)
		}
	}
	if len(parts) == 0 {
		return "There is no candidate beside the baseline, so nothing was decided."
	}
	return strings.Join(parts, "; ") + "."
}

// listing joins names: a, b and c.
func listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
