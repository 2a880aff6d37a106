package main

import (
	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

func (a *app) explainCmd() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "explain FILE STEP",
		Short: "why a step runs or is cached: the first input or parameter that differs",
		Long: `Compare what a step would be keyed by now with the nearest earlier record of the
same step, field by field. The store is opened read-only.

` + exitCodeTable(),
		Example: `  cupel explain pipelines/quickstart.yaml score/q4_0/quality/scores
  cupel explain campaign.yaml measure/fp8/support/generate --json`,
		Args: exactArgs("FILE", "STEP"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.open(args[0], o.binds)
			if err != nil {
				return err
			}
			s, err := a.store(c, store.ReadOnly)
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := a.engine(c, s, o).Explain(c.plan, args[1])
			if err != nil {
				return fail(exitUsage, step.WithHint(err, "cupel plan "+args[0]+" lists them"))
			}
			if a.json {
				return a.printJSON(list)
			}
			for _, ex := range list {
				a.printExplanation(ex)
			}
			return nil
		},
	}
	bindFlag(c, &o.binds)
	return c
}

func (a *app) printExplanation(ex exec.Explanation) {
	a.printf("%s: %s", ex.Step, ex.Forecast)
	if ex.Reason != "" {
		a.printf(" (%s)", ex.Reason)
	}
	a.printf("\n")
	if ex.Key != "" {
		a.printf("  key      %s\n", ex.Key)
	}
	if ex.Earlier == "" {
		return
	}
	if ex.Earlier == ex.Key {
		a.printf("  recorded %s\n", ex.When)
		for _, n := range ex.Notes {
			a.printf("  note     %s\n", n)
		}
		return
	}
	a.printf("  against  %s (recorded %s)\n", ex.Earlier, ex.When)
	for _, d := range ex.Changes {
		a.printf("  %s: %s -> %s\n", d.Path, orAbsent(d.Was), orAbsent(d.Is))
	}
}

func orAbsent(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}
