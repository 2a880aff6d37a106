package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/compare"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
	"github.com/cupel-dev/cupel/stages/stats"
)

// thenNow compares one candidate's scores on one workload with its own.
type thenNow struct {
	Workload  string        `json:"workload"`
	Candidate string        `json:"candidate"`
	Stats     stats.Summary `json:"stats"` // a = then, b = now
	Moved     *bool         `json:"moved"` // by more than chance; nil = cannot be said
	Reason    string        `json:"reason,omitempty"`
}

// verdictThenNow is what the guards said and say of a candidate.
type verdictThenNow struct {
	Candidate string           `json:"candidate"`
	Then      evidence.Verdict `json:"then"`
	Now       evidence.Verdict `json:"now"`
}

// remeasured is the answer of replay --measure.
type remeasured struct {
	SpecHash step.Digest      `json:"spec_hash"`
	Store    string           `json:"store"` // of the new measurement
	Quality  []thenNow        `json:"quality"`
	Verdicts []verdictThenNow `json:"verdicts"`
	Then     step.Digest      `json:"then"` // evidence
	Now      step.Digest      `json:"now"`
	Exit     exitCode         `json:"exit"`

	then, now *evidence.Record
}

// replayMeasure runs the campaign anew in a store of its own.
func (a *app) replayMeasure(ctx context.Context, arg string, o replayOptions) error {
	p, err := a.recallPast(arg, o.binds)
	if err != nil {
		return err
	}
	defer p.s.Close()
	if o.into == "" {
		if o.into, err = a.unfinished(p); err != nil {
			return err
		}
	}
	if err := p.apart(o.into); err != nil {
		return err
	}
	to, closeIt, err := a.otherStore(o.into)
	if err != nil {
		return err
	}
	defer closeIt()
	if err := p.copyTo(to, store.Selection{Objects: p.files()}); err != nil {
		return fail(exitOutside, err)
	}
	out, err := a.runAgain(ctx, p, to, o)
	if err != nil {
		return err
	}
	ans, err := p.against(to, out)
	if err == nil {
		err = p.finish(to, out)
	}
	if err != nil {
		return fail(exitOutside, err)
	}
	if a.json {
		if err := a.printJSON(ans); err != nil {
			return err
		}
	} else {
		a.printRemeasured(ans)
	}
	return exit(ans.Exit)
}

// unfinished is the store beside the old one in which a measurement was begun and
// not ended, else the first name that is free: a replay that ended is not
// compared a second time as if it had been measured now.
func (a *app) unfinished(p *past) (string, error) {
	base := p.s.Dir() + "-replay-" + p.loaded.Digest.String()[:12]
	for n := 1; ; n++ {
		dir := base
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", base, n)
		}
		if !there(dir) {
			return dir, nil
		}
		s, err := a.openStore(dir, store.ReadOnly)
		if err != nil {
			return "", err
		}
		_, err = s.Ref(refName(p.loaded.Digest))
		s.Close()
		if errors.Is(err, store.ErrMissing) {
			return dir, nil
		}
	}
}

// finish remembers the decision of the second measurement in its own store.
func (p *past) finish(to *store.Store, out *exec.Outcome) error {
	digest, _ := out.Output(evidence.DecideStep, evidence.OutDecision)
	return remember(to, &campaign{loaded: p.loaded}, out, digest)
}

// runAgain is a run whose decision is compared and not published.
func (a *app) runAgain(ctx context.Context, p *past, to *store.Store, o replayOptions) (*exec.Outcome, error) {
	c := &campaign{loaded: p.loaded, wiring: p.wiring, plan: p.plan}
	c.wiring.vault = o.unlock.vault("cupel replay --measure")
	e := a.engine(c, to, runOptions{})
	if err := e.Check(c.plan); err != nil {
		return nil, fail(exitUsage, err)
	}
	if err := a.openHeldOut(c, to, e); err != nil {
		return nil, err
	}
	defer a.closeHeldOut(c, to)
	if err := c.wiring.start(); err != nil {
		return nil, fail(exitOutside, err)
	}
	defer c.wiring.close()
	con := a.console()
	e.OnEvent = con.event
	out, err := e.Run(ctx, c.plan)
	con.close()
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	a.notef("%s; run %s in %s\n", c.wiring.sent(), out.RunID, to.Dir())
	return out, runError(out)
}

// against holds the new outcome against the old decision.
func (p *past) against(to *store.Store, out *exec.Outcome) (*remeasured, error) {
	digest, ok := out.Output(evidence.DecideStep, evidence.OutDecision)
	if !ok {
		return nil, errors.New("the second run ended without a decision")
	}
	then, thenRec, err := readDecision(p.s, p.ref.Objects[0])
	if err != nil {
		return nil, err
	}
	now, nowRec, err := readDecision(to, digest)
	if err != nil {
		return nil, err
	}
	ans := &remeasured{SpecHash: p.loaded.Digest, Store: to.Dir(), Then: then.Evidence, Now: now.Evidence, then: thenRec, now: nowRec}
	for _, workload := range slices.Sorted(maps.Keys(p.loaded.Campaign.Measure)) {
		if p.loaded.Campaign.Measure[workload].Quality == nil {
			continue
		}
		for _, candidate := range slices.Sorted(maps.Keys(p.loaded.Campaign.Candidates)) {
			q, err := p.pairWithNow(to, out, candidate, workload)
			if err != nil {
				return nil, err
			}
			ans.Quality = append(ans.Quality, q)
		}
	}
	ans.verdicts(then, now)
	ans.Exit = ans.code()
	return ans, nil
}

// pairWithNow compares a candidate's scores of then and now by item.
func (p *past) pairWithNow(to *store.Store, out *exec.Outcome, candidate, workload string) (thenNow, error) {
	row := thenNow{Workload: workload, Candidate: candidate}
	name := evidence.ScoreStep(candidate, workload, 1)
	key, ok := p.byName[name]
	newScores, okNow := out.Output(name, evidence.OutScores)
	if !ok || !okNow {
		row.Reason = "there are no scores of both"
		return row, nil
	}
	oldScores, ok := p.records[key].Output(evidence.OutScores)
	if !ok {
		row.Reason = "there are no scores of then"
		return row, nil
	}
	a, err := p.s.Open(oldScores.Digest)
	if err != nil {
		return row, err
	}
	defer a.Close()
	b, err := to.Open(newScores)
	if err != nil {
		return row, err
	}
	defer b.Close()
	return p.judgeScores(row, a, b)
}

func (p *past) judgeScores(row thenNow, a, b io.Reader) (thenNow, error) {
	c := p.loaded.Campaign
	res, err := compare.Files(a, b, compare.FileOptions{
		Stats:   compare.Options(c, c.Measure[row.Workload].Quality.Stratify),
		Missing: c.Decide.Statistics.Missing, NameA: "then", NameB: "now",
	})
	if err != nil {
		return row, err
	}
	row.Stats = res.Stats.Overall
	switch lo, hi := row.Stats.Lo, row.Stats.Hi; {
	case lo == nil || hi == nil:
		row.Reason = string(row.Stats.Reason)
	case res.Attrition.Total > 0 && res.Attrition.Policy == "undetermined":
		row.Reason = fmt.Sprintf("%d item(s) without a pair or a score", res.Attrition.Total)
	default:
		moved := *lo > 0 || *hi < 0
		row.Moved = &moved
	}
	return row, nil
}

func (r *remeasured) verdicts(then, now *evidence.Decision) {
	is := map[string]evidence.Verdict{}
	for _, c := range now.Candidates {
		is[c.Candidate] = c.Verdict
	}
	for _, c := range then.Candidates {
		r.Verdicts = append(r.Verdicts, verdictThenNow{c.Candidate, c.Verdict, is[c.Candidate]})
	}
}

// code: a moved score or another verdict refutes, what cannot be said settles
// nothing.
func (r *remeasured) code() exitCode {
	code := exitOK
	for _, q := range r.Quality {
		switch {
		case q.Moved == nil:
			code = exitUndetermined
		case *q.Moved:
			return exitFailed
		}
	}
	for _, v := range r.Verdicts {
		if v.Then != v.Now {
			return exitFailed
		}
	}
	return code
}

func (a *app) printRemeasured(r *remeasured) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "quality\tcandidate\titems\tthen\tnow\tdifference\tinterval\tlost/won\t")
	for _, q := range r.Quality {
		s := q.Stats
		what := q.Reason
		if q.Moved != nil {
			what = map[bool]string{true: "moved", false: "within chance"}[*q.Moved]
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d/%d\t%s\n", q.Workload, q.Candidate, s.N, number(s.MeanA, "%.4f"), number(s.MeanB, "%.4f"),
			number(s.Delta, "%+.4f"), interval(s.Lo, s.Hi), s.Discordant.B, s.Discordant.C, what)
	}
	w.Flush()
	a.printLoadThenNow(r.then, r.now)
	p := a.colors()
	for _, v := range r.Verdicts {
		a.printf("%s: %s then, %s now\n", v.Candidate, verdictWord(p, v.Then), verdictWord(p, v.Now))
	}
	a.printf("evidence %s of %s then, %s of %s now (in %s)\n", r.Then.Short(), r.then.Date, r.Now.Short(), r.now.Date, r.Store)
}

func verdictWord(p painter, v evidence.Verdict) string {
	if v == "" {
		return "no verdict"
	}
	return painted(p, v, string(v))
}

// printLoadThenNow shows each serving cell twice. Times and energies are not judged
// here: they are measured once, and what counts as a difference is for guards to say.
func (a *app) printLoadThenNow(then, now *evidence.Record) {
	a.printThenNow(publish.LoadTables(then), publish.LoadTables(now), "%s\tcandidate\t\trequests\t", 2)
	a.printThenNow(publish.EnergyTables(then), publish.EnergyTables(now), "energy of %s\tcandidate\t\tbase\t", 3)
}

// printThenNow shows each row of two sets of tables twice; its first names tell
// which row it is.
func (a *app) printThenNow(then, now []publish.Table, head string, names int) {
	before := map[string]map[string][]string{}
	for _, t := range then {
		before[t.Workload] = map[string][]string{}
		for _, r := range t.Rows {
			before[t.Workload][strings.Join(r[:names], "\x00")] = r
		}
	}
	for _, t := range now {
		w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintf(w, "\n"+head, t.Workload)
		for _, h := range t.Heads {
			fmt.Fprintf(w, "%s\t", h)
		}
		fmt.Fprintln(w)
		for _, r := range t.Rows {
			if old := before[t.Workload][strings.Join(r[:names], "\x00")]; old != nil {
				printCells(w, old, "then")
			}
			printCells(w, r, "now")
		}
		w.Flush()
	}
}

func printCells(w io.Writer, row []string, when string) {
	fmt.Fprintf(w, "%s\t%s\t%s\t", row[0], row[1], when)
	for _, cell := range row[2:] {
		fmt.Fprintf(w, "%s\t", cell)
	}
	fmt.Fprintln(w)
}
