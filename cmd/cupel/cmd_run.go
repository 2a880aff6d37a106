package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

// runOptions are the flags of `cupel run`; demo uses them as well.
type runOptions struct {
	unlock    unlock
	binds     []string
	only      string
	from      string
	refresh   []string
	offline   bool
	remeasure bool
	dryRun    bool
	serve     bool
	jobs      int
}

func (a *app) runCmd() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "run a campaign: pin, preflight, measure, score, compare, publish, decide",
		Long: `Run the steps of a campaign that are not in the store, and print the decision.

A step whose inputs are unchanged is served from the store: changing a scorer
asks for no answer again. A run that was stopped, in whatever way, continues
where it was. The exit code is that of the decision.

A workload with split: held-out reads encrypted items: give --identity, a file
outside the campaign. Each opening is appended to the suite's access.jsonl before
anything is read. What is in the store already needs no identity.

A campaign may have commands that start and stop its candidates. They are run only
with --serve, and only when something has to be measured; without it the endpoints
are used as they are. 'cupel plan' prints the commands. A candidate that is found
running is left running.

` + exitCodeTable(),
		Example: `  cupel run pipelines/quickstart.yaml --bind f16=http://127.0.0.1:8000/v1,model=tiny-f16
  cupel run campaign.yaml --from score --offline`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.dryRun {
				return a.printPlan(args[0], o)
			}
			return a.runCampaign(c.Context(), args[0], o, true)
		},
	}
	bindFlag(c, &o.binds)
	o.unlock.flags(c)
	f := c.Flags()
	f.StringVar(&o.only, "only", "", "run this `stage` alone")
	f.StringVar(&o.from, "from", "", "take everything before this `stage` from the store, without looking at the endpoints")
	f.StringArrayVar(&o.refresh, "refresh", nil, "run steps matching this `glob` although they are in the store (repeatable)")
	f.BoolVar(&o.offline, "offline", false, "send nothing; what is not in the store is an error")
	f.BoolVar(&o.remeasure, "remeasure", false, "measure again what is damaged in the store")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the plan instead")
	f.BoolVar(&o.serve, "serve", serveAllowed(), serveUsage)
	f.IntVar(&o.jobs, "jobs", 0, "scoring and comparing steps that run at once (default 2)")
	return c
}

// engine makes the executor for a campaign.
func (a *app) engine(c *campaign, s *store.Store, o runOptions) *exec.Engine {
	host, _ := os.Hostname()
	return &exec.Engine{
		Store: s, Runners: c.wiring.runners(), Jobs: o.jobs, Offline: o.offline, Remeasure: o.remeasure,
		Refresh: o.refresh, Only: o.only, From: o.from, Version: version, Host: host,
		Unseal: c.wiring.unseal,
	}
}

// runCampaign runs a campaign and prints its decision. verdictExit makes the
// exit code that of the decision.
func (a *app) runCampaign(ctx context.Context, path string, o runOptions, verdictExit bool) error {
	c, err := a.openServing(path, o.binds, o.serve)
	if err != nil {
		return err
	}
	for _, w := range futureResearch(c.loaded.Campaign) {
		fmt.Fprintf(a.stderr, "cupel: warning: %s\n", w)
	}
	s, err := a.store(c, store.ReadWrite)
	if err != nil {
		return err
	}
	defer s.Close()

	c.wiring.vault = o.unlock.vault("cupel run")
	e := a.engine(c, s, o)
	if err := e.Check(c.plan); err != nil {
		return fail(exitUsage, err)
	}
	if err := a.openHeldOut(c, s, e); err != nil {
		return err
	}
	defer a.closeHeldOut(c, s)
	if err := c.wiring.start(); err != nil {
		return fail(exitOutside, err)
	}
	defer c.wiring.close()
	release, err := a.openSessions(c, s, e, o)
	if err != nil {
		return fail(exitOutside, err)
	}
	defer release()
	con := a.console()
	e.OnEvent = con.event
	e.OnWait = func(name, who string) { con.line("%-44s waits for %s", name, who) }
	out, err := e.Run(ctx, c.plan)
	con.close()
	if err != nil {
		return fail(exitOutside, err)
	}
	a.notef("%s; run %s\n", c.wiring.sent(), out.RunID)
	a.warnUnseen(c.wiring, out)
	runErr := c.wiring.askForServe(out, runError(out))
	if runErr != nil || out.Count(exec.Left) > 0 {
		if why := undecided(out, o, runErr); why != "" {
			if err := void(s, c.loaded.Digest, why); err != nil {
				return fail(exitOutside, err)
			}
		}
		return leftOutside(out, runErr) // nil with --only: what was asked for is done
	}
	return leftOutside(out, a.conclude(c, s, out, verdictExit))
}

// undecided says why an earlier decision of the campaign no longer stands after
// a run that reached none: it measured anew, or was asked to and could not. A
// run that only failed to look at an endpoint leaves the decision as it was.
func undecided(out *exec.Outcome, o runOptions, runErr error) string {
	for _, r := range out.Results {
		if r.State == exec.Done && !r.Step.Pure && !r.Step.Observes {
			return fmt.Sprintf("run %s measured %s and reached no decision", out.RunID, r.Step.Name)
		}
		if r.State == exec.Failed && len(o.refresh) > 0 {
			return fmt.Sprintf("run %s was to measure again and could not: %s failed", out.RunID, r.Step.Name)
		}
	}
	return ""
}

// warnUnseen says, also with -q, which endpoints could not be looked at: what
// follows rests on what they were when they were last seen.
func (a *app) warnUnseen(w *wiring, out *exec.Outcome) {
	for _, r := range out.Results {
		if w.serve && w.started(r.Step.Where) {
			continue // nobody expects it to be up
		}
		if r.Step.Observes && r.State == exec.Cached && strings.HasPrefix(r.Reason, exec.AsObserved) {
			when, _, _ := strings.Cut(strings.TrimPrefix(r.Reason, exec.AsObserved), ";")
			fmt.Fprintf(a.stderr, "cupel: %s was not reachable; its pins are those of %s\n", r.Step.Where, when)
		}
	}
}

// runError is the first reason why a run has no decision.
func runError(out *exec.Outcome) error {
	failures := out.Failures()
	if out.Interrupted && (len(failures) == 0 || allCanceled(failures)) {
		return fail(exitInterrupted, errors.New("interrupted; run the same command again to continue"))
	}
	if len(failures) == 0 {
		return nil
	}
	code := exitUsage
	lines := make([]string, len(failures))
	for i, f := range failures {
		lines[i] = fmt.Sprintf("%s: %v", f.Step.Name, trimStep(f.Step.Name, f.Err))
		if !errors.Is(f.Err, suite.ErrLocked) { // an identity that is missing is no failure of the outside
			code = exitOutside
		}
	}
	more := ""
	if n := out.Count(exec.Blocked); n > 0 {
		more = fmt.Sprintf("\n%d step(s) wait for that; what was finished is kept, run again to continue", n)
	}
	return fail(code, errors.New(strings.Join(lines, "\ncupel: ")+more))
}

func allCanceled(failures []exec.Result) bool {
	for _, f := range failures {
		if !errors.Is(f.Err, context.Canceled) {
			return false
		}
	}
	return true
}

// trimStep drops a step's own name from the front of its error.
func trimStep(name string, err error) string {
	return strings.TrimPrefix(err.Error(), name+": ")
}

// conclude publishes the finding, remembers the decision for `gate`, and
// prints it.
func (a *app) conclude(c *campaign, s *store.Store, out *exec.Outcome, verdictExit bool) error {
	dir, err := publishFinding(c, s, out)
	if err != nil {
		return fail(exitOutside, err)
	}
	digest, ok := out.Output(evidence.DecideStep, evidence.OutDecision)
	if !ok {
		return fail(exitOutside, errors.New("the campaign ended without a decision"))
	}
	if err := remember(s, c, out, digest); err != nil {
		return fail(exitOutside, err)
	}
	d, rec, err := readDecision(s, digest)
	if err != nil {
		return fail(exitOutside, err)
	}
	if a.json {
		if err := a.printJSONLine(map[string]any{"decision": d, "finding": dir}); err != nil {
			return err
		}
	} else {
		a.printDecision(d, rec)
		a.printf("\nfinding: %s\n", dir)
	}
	if !verdictExit {
		return nil
	}
	code := verdictCode(d.Verdict)
	if n := c.loaded.Campaign.Decide.Approvals; code == exitOK && n != nil && n.Required > 0 {
		ans := gateAnswer{Decision: d}
		ans.approved(s, d.Candidates, *n, gateOptions{dir: c.loaded.Dir})
		a.notef("%s\n", strings.TrimPrefix(ans.Reason, "every guard passes; "))
		code = ans.Exit
	}
	return exit(code)
}

// verdictCode maps a verdict to the exit code of run and gate.
func verdictCode(v evidence.Verdict) exitCode {
	switch v {
	case evidence.Pass:
		return exitOK
	case evidence.Fail:
		return exitFailed
	}
	return exitUndetermined
}
