package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/publish"
)

func (a *app) judgeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "judge COMMAND",
		Short: "calibrate a judge against labels of people; draw answers to label",
		Long: `A judge is a model that scores answers which no program can check. It decides
nothing until its verdicts were held against those of people.

` + exitCodeTable(),
		Example: `  cupel judge sample campaign.yaml --judge faithful --workload support -n 200 > labels.jsonl
  cupel judge calibrate campaign.yaml --bind faithful=http://127.0.0.1:8002/v1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.judgeCalibrateCmd(), a.judgeSampleCmd())
	return c
}

func (a *app) judgeCalibrateCmd() *cobra.Command {
	var name string
	var o runOptions
	c := &cobra.Command{
		Use:   "calibrate FILE",
		Short: "ask the campaign's judges about their labels, and say how they agree",
		Long: `Ask each judge of a campaign about the answers that people have labelled, and print
how they agree: kappa, bias, both with intervals, and errors of either kind. cupel run
does the same; here nothing else is run. Verdicts are kept in the store under the
judge's pin, rubric, template and labels: a change of any of them asks anew.

The exit code is 0 when every judge is calibrated and 3 when one is not.

` + exitCodeTable(),
		Example: `  cupel judge calibrate campaign.yaml
  cupel judge calibrate campaign.yaml --judge faithful --bind faithful=http://127.0.0.1:8002/v1`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.calibrate(c.Context(), args[0], name, o)
		},
	}
	bindFlag(c, &o.binds)
	c.Flags().StringVar(&name, "judge", "", "only this judge")
	c.Flags().StringArrayVar(&o.refresh, "refresh", nil, "run steps matching this `glob` although they are in the store (repeatable)")
	c.Flags().BoolVar(&o.offline, "offline", false, "send nothing; what is not in the store is an error")
	return c
}

func (a *app) calibrate(ctx context.Context, path, only string, o runOptions) error {
	c, err := a.open(path, o.binds)
	if err != nil {
		return err
	}
	names, err := labelled(c.loaded.Campaign, only)
	if err != nil {
		return fail(exitUsage, err)
	}
	if c.plan, err = calibrationPlan(c, names); err != nil {
		return fail(exitUsage, err)
	}
	if err := c.wiring.start(); err != nil {
		return fail(exitOutside, err)
	}
	defer c.wiring.close()
	s, err := a.store(c, store.ReadWrite)
	if err != nil {
		return err
	}
	defer s.Close()
	e := a.engine(c, s, o)
	if err := e.Check(c.plan); err != nil {
		return fail(exitUsage, err)
	}
	con := a.console()
	e.OnEvent = con.event
	out, err := e.Run(ctx, c.plan)
	con.close()
	if err != nil {
		return fail(exitOutside, err)
	}
	a.notef("%s; run %s\n", c.wiring.sent(), out.RunID)
	if err := runError(out); err != nil {
		return err
	}
	return a.printCalibrations(s, out, names)
}

// labelled are the judges that have labels.
func labelled(c *spec.Campaign, only string) (names []string, err error) {
	if only != "" {
		if _, ok := c.Judges[only]; !ok {
			return nil, fmt.Errorf("--judge %s: the campaign has no such judge", only)
		}
	}
	for _, name := range c.Endpoints() {
		if j, ok := c.Judges[name]; ok && j.Labels != nil && (only == "" || only == name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, step.WithHint(errors.New("there is no judge with labels"), "name a file of labelled answers as judges.NAME.labels; cupel judge sample draws answers to label")
	}
	return names, nil
}

// calibrationPlan is the part of a campaign's plan that calibrates judges.
func calibrationPlan(c *campaign, judges []string) (*plan.Plan, error) {
	keep := map[string]bool{}
	for _, name := range judges {
		keep[evidence.PinStep(name)], keep[evidence.LabelsStep(name)], keep[evidence.CalibrationStep(name)] = true, true, true
	}
	adders := c.wiring.adders()
	for i, add := range adders {
		adders[i] = func(c *spec.Campaign) []step.Step {
			return slices.DeleteFunc(add(c), func(s step.Step) bool { return !keep[s.Name] })
		}
	}
	return plan.Build(c.loaded.Campaign, adders...)
}

func (a *app) printCalibrations(s *store.Store, out *exec.Outcome, names []string) error {
	code, all := exitOK, map[string]judge.Calibration{}
	for _, name := range names {
		digest, ok := out.Output(evidence.CalibrationStep(name), evidence.OutCalibration)
		if !ok {
			return fail(exitOutside, fmt.Errorf("%s left no calibration", evidence.CalibrationStep(name)))
		}
		var c judge.Calibration
		if err := readDoc(s, digest, &c); err != nil {
			return fail(exitOutside, err)
		}
		if all[name] = c; !c.Calibrated {
			code = exitUndetermined
		}
		if !a.json {
			a.printCalibration(&c)
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	}
	return exit(code)
}

// mostDisagreements bounds the labels that are listed.
const mostDisagreements = 10

func (a *app) printCalibration(c *judge.Calibration) {
	for i, line := range publish.Calibrated(c) {
		a.printf("%s%s\n", strings.Repeat("  ", min(i, 1)), line)
	}
	listed := 0
	for _, r := range c.Rows {
		if r.Judged != nil && *r.Judged == r.Human {
			continue
		}
		if listed++; listed > mostDisagreements {
			continue
		}
		judged := "none"
		if r.Judged != nil {
			judged = fmt.Sprintf("%.2f", *r.Judged)
		}
		a.printf("  %s  human %.2f  judge %s  (%s)\n", r.Key, r.Human, judged, r.Reason)
	}
	if more := listed - mostDisagreements; more > 0 {
		a.printf("  and %d more on which they differ; --json has them all\n", more)
	}
}
