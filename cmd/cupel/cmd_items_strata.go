package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/decide"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

func (a *app) itemsStrataCmd() *cobra.Command {
	var campaign string
	c := &cobra.Command{
		Use:   "strata SET",
		Short: "items by label, and strata too small for a campaign's guards",
		Long: `Count the items of a set by label and value, held-out ones too: no identity is
needed. With --campaign, the guards of that campaign are looked at as if this set
were the suite of its quality workloads, and those that the items will probably
not decide are named with the number of items that they need.

` + exitCodeTable(),
		Example: `  cupel items strata suites/support-1
  cupel items strata build/items.jsonl --campaign pipelines/quickstart.yaml`,
		Args: exactArgs("SET"),
		RunE: func(_ *cobra.Command, args []string) error { return a.itemsStrata(args[0], campaign) },
	}
	c.Flags().StringVar(&campaign, "campaign", "", "campaign `file` whose guards decide what is too small")
	return c
}

func (a *app) itemsStrata(name, campaign string) error {
	s, err := openSet(name)
	if err != nil {
		return err
	}
	census, err := s.Census()
	if err != nil {
		return itemsError(err)
	}
	warnings, err := tooSmall(s, campaign)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			suite.Census
			Warnings []string `json:"warnings"`
		}{census, warnings})
	}
	a.printf("%d item(s)", census.Development+census.HeldOut)
	if s.HasHeldOut() {
		a.printf(": %d development, %d held-out", census.Development, census.HeldOut)
	}
	var sources []string
	for _, src := range slices.Sorted(maps.Keys(census.Sources)) {
		sources = append(sources, fmt.Sprintf("%s %d", src, census.Sources[src]))
	}
	a.printf("\nsources: %s\nscorers: %s\n", strings.Join(sources, ", "), strings.Join(census.Scorers, ", "))
	a.printLabels(census.DevelopmentLabels, census.HeldOutLabels)
	for _, w := range warnings {
		a.printf("too small: %s\n", w)
	}
	return nil
}

// tooSmall returns the warnings of a campaign's guards for a set in place of
// its own suites.
func tooSmall(s *suite.Set, campaign string) ([]string, error) {
	if campaign == "" {
		return []string{}, nil
	}
	l, err := spec.Load(campaign)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	counts := map[string]map[string]int{}
	for name, w := range l.Campaign.Measure {
		q := w.Quality
		if q == nil {
			continue
		}
		here, keep := map[string]int{}, items.NewSelector(q.Where, q.Limit, q.Stratify)
		err := s.Open(func(it items.Item) error {
			if keep.Keep(&it) {
				here[it.Stratum(q.Stratify)]++
			}
			return nil
		})
		if err != nil {
			return nil, itemsError(err)
		}
		counts[name] = here
	}
	return append([]string{}, decide.Warnings(l.Campaign, counts)...), nil
}
