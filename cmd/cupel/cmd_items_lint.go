package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

type itemsLintOptions struct {
	unlock
	campaign string
	leak     []string
	near     float64
}

func (a *app) itemsLintCmd() *cobra.Command {
	var o itemsLintOptions
	c := &cobra.Command{
		Use:   "lint SET",
		Short: "mistakes in items, and held-out items that leaked into prompts",
		Long: `Look for what would make a decision wrong: lines that are not items, duplicate
ids, scorers that do not exist or lack what they need, references that are empty
or that their own scorer does not score 1, identical choices, schemas that nothing
satisfies, inputs that stand there twice. Near-duplicates, and strata too small
for the guards of --campaign, are warnings.

--leak looks for held-out items in prompts, few-shot examples or a campaign: a
message of theirs as it is, or four fifths of its runs of five words. Where
nothing is held out, all items are looked for. Item ids are named, never texts.

Prints nothing when all is well. Exit code 1 when something is wrong.

` + exitCodeTable(),
		Example: `  cupel items lint build/items.jsonl --campaign pipelines/quickstart.yaml
  cupel items lint suites/support-1 --leak prompts/system.txt --leak campaign.yaml --identity ~/.age/eval`,
		Args: exactArgs("SET"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := noZero(c, o.near); err != nil {
				return err
			}
			return a.itemsLint(c, args[0], &o)
		},
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.campaign, "campaign", "", "campaign `file` whose guards decide what is too small")
	f.StringArrayVar(&o.leak, "leak", nil, "`file` in which no held-out item may stand (repeatable)")
	f.Float64Var(&o.near, "near", suite.DefaultNear, "Jaccard `similarity` of near-duplicates")
	return c
}

func (a *app) itemsLint(c *cobra.Command, name string, o *itemsLintOptions) error {
	open, err := o.openAll(c)
	if err != nil {
		return err
	}
	s, err := openSet(name)
	if err != nil {
		return err
	}
	if err := s.Chain(); err != nil {
		return itemsError(err)
	}
	if len(o.leak) > 0 && s.HasHeldOut() && open == nil {
		return itemsError(fmt.Errorf("--leak compares with held-out texts: %w", suite.ErrLocked))
	}
	if open == nil {
		a.lockedNote(s)
	}
	check := newSelfCheck()
	leaks := suite.NewLeaks()
	l := suite.Linter{Near: o.near, Score: check.findings}
	l.Seen = func(it *items.Item, sealed bool) {
		if len(o.leak) > 0 && sealed == s.HasHeldOut() {
			leaks.Add(it)
		}
	}
	if err := l.Run(s, open); err != nil {
		return itemsError(err)
	}
	if err := addLeaks(&l.Findings, leaks, o.leak); err != nil {
		return err
	}
	if err := addSmall(&l.Findings, s, o.campaign); err != nil {
		return err
	}
	return a.printFindings(&l.Findings)
}

func addLeaks(f *suite.Findings, leaks *suite.Leaks, files []string) error {
	for _, name := range files {
		t := suite.NewTexts()
		if err := t.AddFile(name); err != nil {
			return fail(exitUsage, step.WithHint(fmt.Errorf("--leak: %w", err), "name files with prompts, examples or a campaign"))
		}
		for _, l := range leaks.In(t) {
			how := fmt.Sprintf("%.0f %% of its word runs stand in %s", 100*l.Share, name)
			if l.Exact {
				how = "stands in " + name
			}
			f.Add(suite.Finding{Code: suite.CodeLeak, IDs: []string{l.ID}, Text: how})
		}
	}
	return nil
}

func addSmall(f *suite.Findings, s *suite.Set, campaign string) error {
	if f.Has(suite.CodeLine) {
		return nil // the counts would be wrong
	}
	warnings, err := tooSmall(s, campaign)
	for _, w := range warnings {
		f.Add(suite.Finding{Code: suite.CodeSize, Warning: true, Text: w})
	}
	return err
}

func (a *app) printFindings(f *suite.Findings) error {
	list := f.List()
	if a.json {
		if err := a.printJSON(map[string]any{"findings": list, "counts": f.Counts(), "wrong": f.Wrong}); err != nil {
			return err
		}
	} else {
		a.printFindingLines(f, list)
	}
	if f.Wrong > 0 {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) printFindingLines(f *suite.Findings, list []suite.Finding) {
	listed := map[string]int{}
	for i, x := range list {
		kind := "wrong"
		if x.Warning {
			kind = "warning"
		}
		where := ""
		if len(x.IDs) > 0 {
			where = strings.Join(x.IDs, ", ") + ": "
		}
		a.printf("%-7s  %s  %s%s\n", kind, x.Code, where, x.Text)
		listed[x.Code]++
		if more := f.Counts()[x.Code] - listed[x.Code]; more > 0 && (i+1 == len(list) || list[i+1].Code != x.Code) {
			a.printf("%-7s  %s  and %d more\n", kind, x.Code, more)
		}
	}
}
