package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
)

type sampleOptions struct {
	judge, workload string
	n               int
	seed            uint64
}

func (a *app) judgeSampleCmd() *cobra.Command {
	var o sampleOptions
	c := &cobra.Command{
		Use:   "sample FILE",
		Short: "draw stored answers for people to label",
		Long: `Print answers of the newest generation of each candidate as lines of a labels file,
drawn by a seed, the candidates in turn. People replace each "label": null by "pass"
or "fail" (or by a number of points), without looking at "candidate"; the file is then
named as judges.NAME.labels. Two hundred labels are a good number, thirty the least.

` + exitCodeTable(),
		Example: `  cupel judge sample campaign.yaml -n 200 > labels.jsonl
  cupel judge sample campaign.yaml --judge faithful --workload support -n 200 --seed 1`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.sampleAnswers(args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.judge, "judge", "", "answers that this judge scores (default: the only judge)")
	f.StringVar(&o.workload, "workload", "", "answers to this workload (default: the only one that the judge scores)")
	f.IntVarP(&o.n, "number", "n", 200, "answers")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the drawing")
	return c
}

// drawn is an answer that may be labelled, with its place in the drawing.
type drawn struct {
	order step.Digest
	label judge.Label
}

func (a *app) sampleAnswers(path string, o sampleOptions) error {
	if o.n < 1 {
		return fail(exitUsage, fmt.Errorf("-n %d: give how many answers to draw, at least 1", o.n))
	}
	loaded, err := spec.Load(path)
	if err != nil {
		return fail(exitUsage, err)
	}
	workload, err := o.find(loaded.Campaign)
	if err != nil {
		return fail(exitUsage, err)
	}
	s, err := a.store(&campaign{loaded: loaded}, store.ReadOnly)
	if err != nil {
		return err
	}
	defer s.Close()
	pools := map[string][]drawn{}
	for _, cand := range slices.Sorted(maps.Keys(loaded.Campaign.Candidates)) {
		pool, err := o.pool(s, loaded.Campaign, cand, workload)
		if err != nil {
			return fail(exitOutside, err)
		}
		if len(pool) > 0 {
			pools[cand] = pool
		}
	}
	if len(pools) == 0 {
		return fail(exitUndetermined, step.WithHint(fmt.Errorf("no answers to workload %s are stored", workload), "run the campaign first: it generates answers also with a judge that is not calibrated"))
	}
	picked := o.draw(pools)
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	for _, l := range picked {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	a.notef("%d answer(s) of %d candidate(s); replace each \"label\": null\n", len(picked), len(pools))
	return nil
}

// find returns the workload whose answers are drawn.
func (o *sampleOptions) find(c *spec.Campaign) (string, error) {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if q := c.Measure[name].Quality; q != nil {
			if by, ok := judge.Of(c, q); ok && (o.judge == "" || by == o.judge) && (o.workload == "" || name == o.workload) {
				found = append(found, name)
			}
		}
	}
	switch {
	case len(found) == 0:
		return "", step.WithHint(errors.New("no such workload is scored by a judge"), "name the judge in the workload's scorers: judge: {by: NAME}")
	case len(found) > 1:
		return "", fmt.Errorf("several workloads are scored by a judge (%s); name one with --workload", listed(found))
	}
	if c.Measure[found[0]].Quality.Suite.HeldOut != nil {
		return "", step.WithHint(fmt.Errorf("workload %s runs held-out items, whose texts stay sealed", found[0]), "label answers to the development part")
	}
	return found[0], nil
}

// pool are the answers of a candidate's newest generation to items that the
// campaign has.
func (o *sampleOptions) pool(s *store.Store, c *spec.Campaign, cand, workload string) ([]drawn, error) {
	rec, ok := newest(s, evidence.GenerateStep(cand, workload, 1))
	if !ok {
		return nil, nil
	}
	out, ok := rec.Output(evidence.OutResponses)
	if !ok {
		return nil, nil
	}
	answers, err := s.Open(out.Digest)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	texts := map[string]evidence.ResponseRow{}
	err = items.ReadRows(evidence.OutResponses, answers, func(row evidence.ResponseRow) error {
		if row.Failure == nil && row.Sample == 0 && row.Repeat == 0 {
			texts[row.ID] = row
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f, err := openFile(c.Measure[workload].Quality.Suite.Items)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var pool []drawn
	err = items.ReadNamed(c.Measure[workload].Quality.Suite.Items.Name, f, func(it items.Item) error {
		row, ok := texts[it.ID]
		if ok && slices.ContainsFunc(it.Scorer, func(r items.ScorerRef) bool { return r.Name == items.JudgeScorer }) {
			pool = append(pool, drawn{step.Sum(fmt.Appendf(nil, "%d\x00%s", o.seed, it.ID)), judge.Label{
				ID: it.ID, Candidate: cand, System: it.System, Input: it.Input, Tools: it.Tools, Answer: it.Answer, Facts: it.Facts,
				Rubric: it.Rubric, Output: row.Text, ToolCalls: row.ToolCalls, Label: json.RawMessage("null"),
			}})
		}
		return nil
	})
	slices.SortFunc(pool, func(a, b drawn) int { return bytes.Compare(a.order[:], b.order[:]) })
	return pool, err
}

// draw takes the candidates in turn, each at the next item of the drawn order
// that no other was drawn for, as long as there are such.
func (o *sampleOptions) draw(pools map[string][]drawn) (out []judge.Label) {
	used := map[string]bool{}
	names := slices.Sorted(maps.Keys(pools))
	for fresh := true; ; {
		before := len(out)
		for _, cand := range names {
			i := slices.IndexFunc(pools[cand], func(d drawn) bool { return !fresh || !used[d.label.ID] })
			if i < 0 || len(out) == o.n {
				continue
			}
			used[pools[cand][i].label.ID] = true
			out = append(out, pools[cand][i].label)
			pools[cand] = slices.Delete(pools[cand], i, i+1)
		}
		if len(out) == before {
			if !fresh || len(out) == o.n {
				return out
			}
			fresh = false
		}
	}
}
