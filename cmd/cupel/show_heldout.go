package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/stages/llm"
)

const howToOpen = "name the step and give --suite FOLDER and --identity FILE"

// answersHeldOut reports whether content is answers to held-out items. Rows say
// so themselves, so that it does not matter how somebody came by them.
func answersHeldOut(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var row struct {
		HeldOut bool         `json:"held_out"`
		Request *step.Digest `json:"request"`
	}
	return json.Unmarshal(line, &row) == nil && row.HeldOut && row.Request != nil
}

// withheldRow is an answer without its texts.
type withheldRow struct {
	ID      string      `json:"id"`
	Sample  int         `json:"sample"`
	Repeat  int         `json:"repeat"`
	HeldOut bool        `json:"held_out"`
	Request step.Digest `json:"request"`
	Text    *string     `json:"text"` // null: withheld
	Finish  string      `json:"finish,omitempty"`
	Model   string      `json:"model,omitempty"`
	Usage   *llm.Usage  `json:"usage,omitempty"`
	Failure llm.Class   `json:"failure,omitempty"`
}

func (a *app) printWithheld(b []byte) error {
	enc := json.NewEncoder(a.stdout)
	return items.ReadRows(evidence.OutResponses, bytes.NewReader(b), func(r evidence.ResponseRow) error {
		out := withheldRow{ID: r.ID, Sample: r.Sample, Repeat: r.Repeat, HeldOut: r.HeldOut, Request: r.Request, Finish: r.Finish, Model: r.Model, Usage: r.Usage}
		if r.Failure != nil {
			out.Failure = r.Failure.Class
		}
		return enc.Encode(out)
	})
}

// showOutput prints an output of a step. Answers to held-out items are opened
// with the suite that they answer, so that its access log tells of it.
func (a *app) showOutput(s *store.Store, rec store.Record, d step.Digest, o showOptions) error {
	if o.suite == "" {
		return a.showObject(s, d)
	}
	b, err := readObject(s, d)
	if err != nil {
		return err
	}
	if !answersHeldOut(b) {
		return a.printObject(b)
	}
	set, err := openSet(o.suite)
	if err != nil {
		return err
	}
	if err := answersOf(s, rec, set); err != nil {
		return fail(exitUsage, err)
	}
	v := o.unlock.vault("cupel show")
	if _, err := v.open(set, "show "+rec.Name, set.Split.HeldOut.Count); err != nil {
		return itemsError(err)
	}
	return a.printObject(b)
}

// answersOf refuses a suite whose held-out items are not those of a step.
func answersOf(s *store.Store, rec store.Record, set *suite.Set) error {
	raw, err := s.Preimage(rec.Key)
	if err != nil {
		return err
	}
	var pre step.Preimage
	if err := json.Unmarshal(raw, &pre); err != nil {
		return fmt.Errorf("preimage of %s: %w", rec.Name, err)
	}
	if !set.HasHeldOut() || pre.Inputs["items"] != set.Split.HeldOut.SHA256 {
		return fmt.Errorf("%s does not hold the items that %s answers", set.Name, rec.Name)
	}
	return nil
}

// isHeldOut reports whether a comparison is about held-out items.
func isHeldOut(rec *evidence.Record, c evidence.Comparison) bool {
	return slices.ContainsFunc(rec.Evidence, func(e evidence.EvidenceFile) bool {
		return e.HeldOut && (e.Step == evidence.GenerateStep(c.Candidate, c.Workload, 1) || e.Step == evidence.GenerateStep(c.Baseline, c.Workload, 1))
	})
}

// withhold leaves ids, strata and scores.
func withhold(list []failing) []failing {
	for i := range list {
		list[i].Withheld = "the item is held out: texts and reasons are withheld; give the campaign file and --identity FILE"
	}
	return list
}

// openHeldOut opens the items of a workload for showing n of them; nil without
// an identity or a campaign that says where they are.
func (o showOptions) openHeldOut(workload string, n int) (func([]failing, string) error, error) {
	v := o.unlock.vault("cupel show")
	if v.locked() || o.campaign == nil {
		return nil, nil
	}
	q := o.campaign.Measure[workload].Quality
	if q == nil || q.Suite.HeldOut == nil {
		return nil, fmt.Errorf("workload %s takes no held-out part", workload)
	}
	set, err := heldOutSet(q)
	if err != nil {
		return nil, itemsError(err)
	}
	opening, err := v.open(set, "show failures", n)
	if err != nil {
		return nil, itemsError(err)
	}
	return func(list []failing, _ string) error {
		explain, err := newExplainer(q)
		if err != nil {
			return err
		}
		return itemsError(opening.Items(func(it items.Item) error {
			explain.reasons(list, &it)
			return ask(list, &it)
		}))
	}, nil
}

// failShown keeps the code of an error that has one: a locked suite is no failure
// of the store.
func failShown(err error) error {
	if errors.As(err, new(*exitError)) {
		return err
	}
	return fail(exitOutside, err)
}
