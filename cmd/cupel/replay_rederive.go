package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// What a derived step came to when it was derived again.
const (
	replaySame      = "same"      // the same outputs
	replayDiffers   = "differs"   // the same key and other outputs: not deterministic, or not what was run
	replayOtherwise = "otherwise" // another key and other outputs: this version derives it differently
	replayNew       = "new"       // the decision had no such step
	replayLost      = "lost"      // this version has no such step
	replayNot       = "not done"
)

// replayRow is one derived step.
type replayRow struct {
	Step    string `json:"step"`
	Outcome string `json:"outcome"`
	Key     string `json:"key,omitempty"`
	Note    string `json:"note,omitempty"`
	inputs  bool   // it has the revision and the parameters of then, and other inputs
}

// rederive runs the plan in the other store, offline: what was measured is
// there, everything else is derived. Rows come with an error of some steps; no
// rows mean that nothing can be said.
func (a *app) rederive(ctx context.Context, p *past, to *store.Store) ([]replayRow, error) {
	e := a.engine(&campaign{loaded: p.loaded, wiring: p.wiring, plan: p.plan}, to, runOptions{offline: true})
	if err := e.Check(p.plan); err != nil {
		return nil, fail(exitUsage, err)
	}
	out, err := e.Run(ctx, p.plan)
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	if out.Interrupted {
		return nil, runError(out)
	}
	var rows []replayRow
	seen, revised := map[string]bool{}, false
	for _, r := range out.Results {
		seen[r.Step.Name] = true
		if r.Step.Pure || r.State == exec.Failed {
			row := p.compareStep(r)
			row, revised = settleInputs(row, revised)
			rows = append(rows, row)
		}
	}
	for _, k := range p.ref.Keys {
		if name := p.records[k].Name; p.pure(k) && !seen[name] {
			rows = append(rows, replayRow{Step: name, Outcome: replayLost})
		}
	}
	return rows, nil
}

// settleInputs tells inputs that are others because this version derived
// something before in another way from inputs that are not those which the
// decision rests on: those refute it.
func settleInputs(row replayRow, revised bool) (replayRow, bool) {
	switch {
	case row.Outcome == replayOtherwise && !row.inputs:
		return row, true
	case row.Outcome == replayOtherwise && !revised:
		row.Outcome = replayDiffers
	}
	return row, revised
}

// compareStep holds a step against what the decision rests on.
func (p *past) compareStep(r exec.Result) replayRow {
	row := replayRow{Step: r.Step.Name, Outcome: replaySame, Key: r.Key.String()}
	switch r.State {
	case exec.Failed:
		row.Outcome, row.Note = replayNot, trimStep(r.Step.Name, r.Err)
		return row
	case exec.Blocked, exec.Left:
		row.Outcome, row.Note = replayNot, r.Reason
		return row
	}
	key, ok := r.Key, true
	if _, there := p.records[key]; !there { // steps with equal inputs share one
		key, ok = p.byName[r.Step.Name]
	}
	if !ok {
		if r.State == exec.Skipped {
			return row // as it was then
		}
		row.Outcome = replayNew
		return row
	}
	var outs []store.Output
	if r.State != exec.Skipped {
		outs = r.Outputs
	}
	other := differing(p.records[key].Outputs, outs)
	switch {
	case other == "" && key == r.Key:
	case other == "":
		row.Note = "under another key: " + p.whyKey(key, r)
	case key == r.Key:
		row.Outcome, row.Note = replayDiffers, other
	default:
		row.Outcome, row.Note = replayOtherwise, other+"; "+p.whyKey(key, r)
		row.inputs = strings.HasSuffix(row.Note, otherInputs)
	}
	return row
}

// differing names the outputs of which the digests differ, "" = none.
func differing(then, now []store.Output) string {
	var names []string
	for _, o := range then {
		i := slices.IndexFunc(now, func(n store.Output) bool { return n.Name == o.Name })
		switch {
		case i < 0:
			names = append(names, o.Name+" is gone")
		case now[i].Digest != o.Digest:
			names = append(names, fmt.Sprintf("%s was %s and is %s", o.Name, o.Digest.Short(), now[i].Digest.Short()))
		}
	}
	for _, n := range now {
		if !slices.ContainsFunc(then, func(o store.Output) bool { return o.Name == n.Name }) {
			names = append(names, n.Name+" is new")
		}
	}
	return strings.Join(names, ", ")
}

// whyKey says what keeps two keys of a step apart.
func (p *past) whyKey(then step.Key, r exec.Result) string {
	rec := p.records[then]
	pre, err := p.preimage(then)
	switch {
	case err != nil:
		return "the preimage of then cannot be read"
	case pre.Revision != r.Step.Revision:
		return fmt.Sprintf("revision %d of %s was %d", r.Step.Revision, rec.Kind, pre.Revision)
	case !sameParams(pre, r.Step):
		return "its parameters are others"
	}
	return otherInputs
}

const otherInputs = "its inputs are not those that the decision rests on"

func sameParams(pre step.Preimage, s step.Step) bool {
	now, err := step.NewPreimage(s, nil)
	return err == nil && bytes.Equal(now.Params, pre.Params)
}

// printReplay shows what differs, with -v everything, and answers.
func (a *app) printReplay(p *past, rows []replayRow) error {
	count := map[string]int{}
	for _, r := range rows {
		count[r.Outcome]++
	}
	code := replayCode(count)
	if a.json {
		return a.replayJSON(p, rows, code)
	}
	for _, r := range rows {
		if r.Outcome != replaySame || r.Note != "" || a.verbose {
			a.printf("%-10s %-44s %s\n", r.Outcome, printable(r.Step), printable(r.Note))
		}
	}
	a.printf("spec %s: %d measured outputs taken from the store, %d steps derived again: %s\n", p.loaded.Digest.Short(), len(p.measured()), len(rows), counts(count))
	if row := slices.IndexFunc(rows, func(r replayRow) bool { return r.Step == evidence.DecideStep }); row >= 0 && rows[row].Outcome == replaySame {
		a.printf("decision: the same, byte for byte (%s)\n", p.ref.Objects[0].Short())
	}
	return exit(code)
}

func (a *app) replayJSON(p *past, rows []replayRow, code exitCode) error {
	err := a.printJSON(map[string]any{"spec_hash": p.loaded.Digest, "measured": len(p.measured()), "steps": rows, "exit": code})
	if err != nil {
		return err
	}
	return exit(code)
}

// replayCode: what differs under one key refutes, what was not done or is
// derived differently settles nothing.
func replayCode(count map[string]int) exitCode {
	switch {
	case count[replayDiffers] > 0:
		return exitFailed
	case count[replayNot]+count[replayOtherwise]+count[replayLost]+count[replayNew] > 0:
		return exitUndetermined
	}
	return exitOK
}

func counts(n map[string]int) string {
	var out []string
	for _, name := range []string{replaySame, replayDiffers, replayOtherwise, replayNew, replayLost, replayNot} {
		if n[name] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[name], name))
		}
	}
	return strings.Join(out, ", ")
}
