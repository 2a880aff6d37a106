package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/suites"
)

func (a *app) suiteCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "the item sets inside this binary: list, show",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "the embedded suites",
		Example: "  cupel suite list\n  cupel suite list --json",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, err := suites.List()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			for _, s := range list {
				a.printf("%-12s version %-4s %5d items  %s\n", s.Name, s.Version, s.Count, s.SHA256)
			}
			return nil
		},
	}, &cobra.Command{
		Use:     "show NAME",
		Short:   "a suite's strata",
		Example: "  cupel suite show tiny\n  cupel suite show tiny --json",
		Args:    exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := suites.List()
			if err != nil {
				return err
			}
			for _, s := range list {
				if s.Name != args[0] {
					continue
				}
				if a.json {
					return a.printJSON(s)
				}
				a.printf("%s version %s, %d items, sha256 %s\n", s.Name, s.Version, s.Count, s.SHA256)
				for _, k := range slices.Sorted(maps.Keys(s.Strata)) {
					a.printf("  %-14s %d\n", k, s.Strata[k])
				}
				return nil
			}
			return fail(exitUsage, fmt.Errorf("no suite is called %q; see 'cupel suite list'", args[0]))
		},
	})
	return c
}
