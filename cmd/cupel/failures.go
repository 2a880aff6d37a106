package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// failing is an item that a candidate lost against the baseline.
type failing struct {
	Candidate string        `json:"candidate"`
	Workload  string        `json:"workload"`
	Flip      evidence.Flip `json:"item"`
	Input     string        `json:"input,omitempty"`
	Withheld  string        `json:"withheld,omitempty"` // why there are no texts
	Baseline  *string       `json:"baseline"`           // null = withheld
	Answer    *string       `json:"answer"`
	Diff      string        `json:"diff,omitempty"` // words of both answers: [-only the baseline's-] {+only the candidate's+}
}

// showFailures prints lost items with both answers, and notes that they were
// opened.
func (a *app) showFailures(s *store.Store, digest step.Digest, rec *evidence.Record, o showOptions) error {
	if err := o.matches(rec.Comparisons); err != nil {
		return fail(exitUsage, err)
	}
	list := []failing{}
	for _, c := range rec.Comparisons {
		if o.candidate != "" && c.Candidate != o.candidate {
			continue
		}
		lost, err := lostItems(s, rec, c, o)
		if err != nil {
			return failShown(err)
		}
		list = append(list, lost...)
	}
	if err := a.note(s, digest, list, o); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	for i := range list {
		a.printFailing(&list[i], o.full)
	}
	a.notef("%d item(s)%s\n", len(list), unscored(rec, o))
	return nil
}

// unscored says which items are no failures to show, and count all the same:
// those without a score on a side.
func unscored(rec *evidence.Record, o showOptions) string {
	said := ""
	for _, c := range rec.Comparisons {
		if n := c.Attrition.Total; n > 0 && (o.candidate == "" || c.Candidate == o.candidate) {
			said += fmt.Sprintf("; %d item(s) of %s have no score on a side (see `cupel show %s` and `cupel show %s`)", n, c.Workload,
				evidence.ScoreStep(c.Baseline, c.Workload, 1), evidence.ScoreStep(c.Candidate, c.Workload, 1))
		}
	}
	return said
}

// matches refuses a candidate or a stratum that the record does not have: no
// failing items would be good news.
func (o showOptions) matches(all []evidence.Comparison) error {
	var candidates, strata []string
	for _, c := range all {
		candidates = append(candidates, c.Candidate)
		if o.candidate == "" || c.Candidate == o.candidate {
			strata = slices.AppendSeq(strata, maps.Keys(c.Stats.Strata))
		}
	}
	if o.candidate != "" && !slices.Contains(candidates, o.candidate) {
		return fmt.Errorf("--candidate %s: no such candidate was compared; there are %s", o.candidate, listed(candidates))
	}
	if o.stratum != "" && o.stratum != "all" && o.stratum != "worst" && !slices.Contains(strata, o.stratum) {
		return fmt.Errorf("--stratum %s: no such stratum; there are %s", o.stratum, listed(append(strata, "all", "worst")))
	}
	return nil
}

// listed names each once, in order.
func listed(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// lostItems are up to o.failures items of a comparison, the worst first.
func lostItems(s *store.Store, rec *evidence.Record, c evidence.Comparison, o showOptions) ([]failing, error) {
	stratum := o.stratum
	if stratum == "worst" {
		stratum = worstStratum(c)
	}
	var out []failing
	for _, f := range c.Flips {
		if f.B >= f.A || len(out) >= o.failures || stratum != "all" && stratum != "" && f.Stratum != stratum {
			continue
		}
		out = append(out, failing{Candidate: c.Candidate, Workload: c.Workload, Flip: f})
	}
	if len(out) == 0 {
		return out, nil
	}
	ask := o.questions
	if isHeldOut(rec, c) {
		open, err := o.openHeldOut(c.Workload, len(out))
		if err != nil || open == nil {
			return withhold(out), err
		}
		ask = open
	}
	base, err := answers(s, rec, evidence.GenerateStep(c.Baseline, c.Workload, 1))
	if err != nil {
		return nil, err
	}
	cand, err := answers(s, rec, evidence.GenerateStep(c.Candidate, c.Workload, 1))
	if err != nil {
		return nil, err
	}
	for i := range out {
		x, y := base[out[i].Flip.ID], cand[out[i].Flip.ID]
		out[i].Baseline, out[i].Answer, out[i].Diff = &x, &y, wordDiff(x, y)
	}
	return out, ask(out, c.Workload)
}

// questions adds what was asked, where the campaign's items are at hand.
func (o showOptions) questions(list []failing, workload string) error {
	if o.campaign == nil || o.campaign.Measure[workload].Quality == nil {
		return nil
	}
	file := o.campaign.Measure[workload].Quality.Suite.Items
	f, err := openFile(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return items.ReadNamed(file.Path, f, func(it items.Item) error { return ask(list, &it) })
}

// ask adds what an item asks to those of the list that it is.
func ask(list []failing, it *items.Item) error {
	for i := range list {
		if list[i].Flip.ID == it.ID {
			list[i].Input = it.Input[len(it.Input)-1].Content
		}
	}
	return nil
}

func (a *app) printFailing(f *failing, full bool) {
	p := a.colors()
	a.printf("%s  %s  %s  %s\n", p.bold(f.Flip.ID), f.Candidate, f.Workload, f.Flip.Stratum)
	if f.Withheld != "" {
		a.printf("  baseline  %.2f\n  candidate %.2f\n  %s\n", f.Flip.A, f.Flip.B, f.Withheld)
		return
	}
	if f.Input != "" {
		a.printf("  question       %s\n", quote(f.Input, full))
	}
	a.printf("  baseline  %.2f  %s  (%s)\n", f.Flip.A, quote(*f.Baseline, full), f.Flip.ReasonA)
	a.printf("  candidate %.2f  %s  (%s)\n", f.Flip.B, quote(*f.Answer, full), f.Flip.ReasonB)
	if f.Diff != "" {
		a.printf("  difference     %s\n", quote(f.Diff, full))
	}
}

// note keeps in the store which failing items were opened, per candidate and
// workload: an approval may require it. The store was opened for reading.
func (a *app) note(s *store.Store, digest step.Digest, list []failing, o showOptions) error {
	list = slices.DeleteFunc(slices.Clone(list), func(f failing) bool { return f.Withheld != "" }) // not opened
	if o.noRecord || len(list) == 0 || digest.IsZero() {
		return nil
	}
	w, err := a.openStore(s.Dir(), store.ReadWrite)
	if err != nil {
		a.notef("not noted as opened: %v\n", err)
		return nil
	}
	defer w.Close()
	opened := map[string][]string{}
	for _, f := range list {
		name := openedRef(digest, f.Candidate, f.Workload)
		opened[name] = append(opened[name], f.Flip.ID)
	}
	for name, ids := range opened {
		if err := addOpened(w, name, ids); err != nil {
			a.notef("not noted as opened: %v\n", err)
		}
	}
	return nil
}

// openedRef names the note of what was opened of one comparison.
func openedRef(evidence step.Digest, candidate, workload string) string {
	return openedRefs(evidence) + candidate + "/" + workload
}

// openedRefs is where the notes about some evidence are.
func openedRefs(evidence step.Digest) string { return "opened/" + evidence.String() + "/" }

// addOpened adds ids to a note. Two that are written at the same moment may
// lose one of them: then less is taken for read than was, never more.
func addOpened(s *store.Store, name string, ids []string) error {
	if r, err := s.Ref(name); err == nil && len(r.Objects) == 1 {
		if b, err := s.Read(r.Objects[0]); err == nil {
			var before []string
			if json.Unmarshal(b, &before) == nil {
				ids = append(before, ids...)
			}
		}
	}
	slices.Sort(ids)
	b, err := json.Marshal(slices.Compact(ids))
	if err != nil {
		return err
	}
	d, err := s.PutBytes(b)
	if err != nil {
		return err
	}
	return s.SetRef(name, store.Ref{Objects: []step.Digest{d}, Note: "failing items that were opened"})
}

// worstStratum is the one with the lowest difference.
func worstStratum(c evidence.Comparison) string {
	worst, at := "", 0.0
	for name, s := range c.Stats.Strata {
		if s.Delta != nil && (worst == "" || *s.Delta < at || *s.Delta == at && name < worst) {
			worst, at = name, *s.Delta
		}
	}
	return worst
}

// answers reads the first answer to each item of a generation in the record.
func answers(s *store.Store, rec *evidence.Record, stepName string) (map[string]string, error) {
	i := slices.IndexFunc(rec.Evidence, func(e evidence.EvidenceFile) bool {
		return e.Step == stepName && e.Output == evidence.OutResponses
	})
	if i < 0 {
		return nil, fmt.Errorf("the record names no answers of %s", stepName)
	}
	rc, err := s.Open(rec.Evidence[i].Digest)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	out := map[string]string{}
	dec := json.NewDecoder(rc)
	for {
		var row evidence.ResponseRow
		err := dec.Decode(&row)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", stepName, err)
		}
		if _, seen := out[row.ID]; !seen {
			out[row.ID] = row.Text
		}
	}
}

// quote shows a text on one line, its first 160 characters unless full.
func quote(s string, full bool) string {
	r := []rune(s)
	if len(r) > 160 && !full {
		return fmt.Sprintf("%q…", string(r[:160]))
	}
	return fmt.Sprintf("%q", s)
}
