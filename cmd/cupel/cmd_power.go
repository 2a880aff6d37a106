package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/metric"
)

type powerOptions struct {
	margin, disagreement, truth float64
	power, confidence           float64
	strata                      int
	items                       []int
	method                      string
	simulate, quick             bool
	runs                        int
	seed                        uint64
	given                       func(flag string) bool
}

func (a *app) powerCmd() *cobra.Command {
	var o powerOptions
	c := &cobra.Command{
		Use:   "power [CAMPAIGN]",
		Short: "how many items a guard needs, before any GPU time",
		Long: `Say how many items it takes until a guard such as lo > -0.02 passes a candidate
that is truly equal, and what a given number of items can see (MDE: the smallest
true difference that is found with the power asked for).

With a campaign: for each guard and stratum the items there, the items needed at
the disagreement measured by the newest comparison in the store (10 % when there
is none, or what --disagreement says), and whether the guard can be decided. When
one cannot, the exit code is 3.

Methods: normal (the formula), exact (the exact McNemar test of a difference as
large as the margin), gate (the gate's own interval for 0/1 scores, enumerated).

--simulate puts candidates on the limit and prints how often the gate opens; the
exit code is 1 when interval auto passes more than it may (docs/gate.md).

` + exitCodeTable(),
		Example: `  cupel power --margin 0.02 --disagreement 0.1 --strata 6 --items 500,2000
  cupel power pipelines/quickstart.yaml --method gate`,
		Args: atMostOne("CAMPAIGN"),
		RunE: func(c *cobra.Command, args []string) error {
			o.given = func(flag string) bool { return c.Flags().Changed(flag) }
			if err := o.check(len(args) > 0); err != nil {
				return fail(exitUsage, err)
			}
			switch {
			case o.simulate:
				return a.simulate(o)
			case len(args) > 0:
				return a.campaignPower(args[0], o)
			}
			return a.designPower(o)
		},
	}
	f := c.Flags()
	f.Float64Var(&o.margin, "margin", 0.02, "the loss that is still accepted: the guard is lo > -margin")
	f.Float64Var(&o.disagreement, "disagreement", 0.1, "share of items whose scores differ")
	f.Float64Var(&o.truth, "true", 0, "true `difference` of the candidate, negative when it is worse")
	f.Float64Var(&o.power, "power", 0.8, "probability with which the guard should pass")
	f.Float64Var(&o.confidence, "confidence", 0.95, "confidence level of the interval")
	f.IntVar(&o.strata, "strata", 1, "number of strata that must all pass")
	f.IntSliceVar(&o.items, "items", nil, "also what these `numbers` of items can see (default 500,1000,2000,5000)")
	f.StringVar(&o.method, "method", "normal", "normal, exact or gate; for a campaign")
	f.BoolVar(&o.simulate, "simulate", false, "count how often the gate opens for candidates on its limit")
	f.BoolVar(&o.quick, "quick", false, "with --simulate: up to 200 items, fewer draws")
	f.IntVar(&o.runs, "runs", 5000, "with --simulate: comparisons to draw where they cannot be enumerated")
	f.Uint64Var(&o.seed, "seed", 0, "with --simulate: seed of the draws")
	return c
}

// check refuses numbers for which no sample size exists, and flags that would
// be silently without effect.
func (o powerOptions) check(campaign bool) error {
	switch {
	case !(o.margin > 0 && o.margin < 1):
		return fmt.Errorf("--margin %v: want more than 0 and less than 1, such as 0.02 for 2 points", o.margin)
	case !(o.disagreement > 0 && o.disagreement <= 1):
		return fmt.Errorf("--disagreement %v: want more than 0 and at most 1, such as 0.1", o.disagreement)
	case !(o.power >= 0.5 && o.power <= 0.999):
		return fmt.Errorf("--power %v: want 0.5 to 0.999", o.power)
	case !(o.confidence >= 0.5 && o.confidence <= 0.9999):
		return fmt.Errorf("--confidence %v: want 0.5 to 0.9999", o.confidence)
	case !(o.truth > -1 && o.truth < 1):
		return fmt.Errorf("--true %v: want a difference between -1 and 1", o.truth)
	case !o.simulate && (!campaign || o.given("disagreement")) && math.Abs(o.truth) > o.disagreement:
		return fmt.Errorf("--true %v: a difference cannot be larger than the share of items that differ, --disagreement %v", o.truth, o.disagreement)
	case o.strata < 1 || o.strata > 10000:
		return fmt.Errorf("--strata %d: want 1 to 10,000", o.strata)
	case !slices.Contains(powerMethods, o.method):
		return fmt.Errorf("--method %q: want %s", o.method, strings.Join(powerMethods, ", "))
	case slices.ContainsFunc(o.items, func(n int) bool { return n < 2 || n > mostItems }):
		return fmt.Errorf("--items %v: want numbers from 2 to %s", o.items, metric.Thousands(mostItems))
	case o.runs < 100 || o.runs > 10_000_000:
		return fmt.Errorf("--runs %d: want 100 to 10,000,000", o.runs)
	case o.simulate && campaign:
		return errors.New("--simulate is about the gate, not about a campaign; leave one of them out")
	}
	return o.checkUseless(campaign)
}

func (o powerOptions) checkUseless(campaign bool) error {
	useless := map[string]string{}
	if campaign {
		for _, flag := range []string{"margin", "strata", "items"} {
			useless[flag] = "a campaign says it itself"
		}
	} else {
		useless["method"] = "without a campaign all methods are printed"
	}
	if o.simulate {
		for _, flag := range []string{"true", "power", "strata", "method"} {
			useless[flag] = "--simulate does not use it"
		}
	} else {
		for _, flag := range []string{"quick", "runs", "seed"} {
			useless[flag] = "it belongs to --simulate"
		}
	}
	for _, flag := range []string{"margin", "strata", "items", "method", "true", "power", "quick", "runs", "seed"} {
		if why, is := useless[flag]; is && o.given(flag) {
			return fmt.Errorf("--%s has no effect here: %s", flag, why)
		}
	}
	return nil
}
