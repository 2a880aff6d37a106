package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/stages/score"
)

func (a *app) itemsFreezeCmd() *cobra.Command {
	var o suite.FreezeOptions
	var parent string
	c := &cobra.Command{
		Use:   "freeze SET DIR",
		Short: "publish a set as a version that never changes",
		Long: `Write a .jsonl file or a split folder as DIR with suite.json: name, version,
parent, digests of all content, scorers with their versions, counts. A campaign
names DIR as its suite.

A version never changes: other content under the same name and version is
refused, in DIR and beside it. Freezing the same content again changes nothing.
DIR appears whole or not at all.

` + exitCodeTable(),
		Example: `  cupel items freeze support suites/support-1 --name support --version 1
  cupel items freeze support-next suites/support-2 --name support --version 2 --parent suites/support-1`,
		Args: exactArgs("SET", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			from, err := openSet(args[0])
			if err != nil {
				return err
			}
			if parent != "" {
				if o.Parent, err = openSet(parent); err != nil {
					return err
				}
			}
			if o.BuildReport == "" {
				o.BuildReport = from.Report()
			}
			o.Scorer = scorerID
			m, fresh, err := suite.Freeze(c.Context(), from, args[1], o)
			if err != nil {
				return itemsError(err)
			}
			if err := a.warnUnusable(from, args[0]); err != nil {
				return err
			}
			return a.printFrozen(m, fresh)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Name, "name", "", "`name` of the suite")
	f.StringVar(&o.Version, "version", "", "`version`, such as 1 or 2026-11")
	f.StringVar(&parent, "parent", "", "`folder` of the version that this one refreshes")
	f.StringVar(&o.BuildReport, "report", "", "build report `file` (default: build-report.json beside the items)")
	return c
}

// warnUnusable says how many items their own scorers cannot use: a version that
// is published with them keeps them.
func (a *app) warnUnusable(s *suite.Set, name string) error {
	check, bad, first := newSelfCheck(), 0, ""
	err := s.Open(func(it items.Item) error {
		if found := check.findings(&it); len(found) > 0 {
			if bad++; bad == 1 {
				first = it.ID + ": " + found[0].Text
			}
		}
		return nil
	})
	if err != nil {
		return itemsError(err)
	}
	if bad > 0 {
		fmt.Fprintf(a.stderr, "warning: scorers cannot use %d of the items as they are, the first is %s; `cupel items lint %s` lists them\n", bad, first, name)
	}
	return nil
}

func scorerID(name string) (string, bool) {
	s, ok := score.Lookup(name)
	return s.ID(), ok
}

func (a *app) printFrozen(m suite.Manifest, fresh bool) error {
	if a.json {
		return a.printJSON(map[string]any{"frozen": fresh, "suite": m})
	}
	what := "frozen"
	if !fresh {
		what = "frozen already, nothing written"
	}
	a.printf("%s version %s: %s\n", m.Name, m.Version, what)
	a.printf("  digest  %s\n  items   %d", m.Digest, m.Count)
	if m.Split != nil {
		a.printf(" development, %d held-out", m.Split.HeldOut.Count)
	}
	a.printf("\n")
	return nil
}
