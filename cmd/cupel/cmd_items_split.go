package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/items/suite"
)

func (a *app) itemsSplitCmd() *cobra.Command {
	var o suite.SplitOptions
	var parent string
	c := &cobra.Command{
		Use:   "split ITEMS DIR",
		Short: "divide items into development and held-out, the latter encrypted",
		Long: `Divide a .jsonl file by a keyed hash of the item id: the side of an item stays
the same when others are added. Clusters, and groups of near-duplicates, stay on
one side. The held-out part is encrypted with age; its ids and labels stay
readable.

With --parent the sides of a published version are kept, and salt, share and
recipients are its own unless given. A new item that is near to items of both
sides is left out and listed.

` + exitCodeTable(),
		Example: `  cupel items split build/items.jsonl support --salt our-2026 --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  cupel items split build/items.jsonl support-next --parent suites/support-1`,
		Args: exactArgs("ITEMS", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := noZero(c, o.Near); err != nil {
				return err
			}
			return a.itemsSplit(args[0], args[1], parent, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Salt, "salt", "", "`text` that keys the hash; the next version needs the same")
	f.Float64Var(&o.Share, "held-out", 0, "`share` that is held out (default 0.2, or the parent's)")
	f.StringArrayVar(&o.Recipients, "recipient", nil, "age public `key` that can open the held-out part (repeatable)")
	f.Float64Var(&o.Near, "near", 0, "Jaccard `similarity` from which items stay together (default 0.85, or the parent's)")
	f.StringVar(&parent, "parent", "", "the published `version` that this one refreshes")
	return c
}

// noZero refuses --near 0, which in a suite stands for the default. Looking for
// near-duplicates cannot be left out here: they would straddle the sides, or go
// unseen.
func noZero(c *cobra.Command, near float64) error {
	if c.Flags().Changed("near") && near == 0 {
		return fail(exitUsage, errors.New("--near 0: near-duplicates are always looked for here; want 0.5 to 1, 0.85 is usual"))
	}
	return nil
}

func (a *app) itemsSplit(name, dir, parent string, o suite.SplitOptions) (err error) {
	if parent != "" {
		if o.Parent, err = openSet(parent); err != nil {
			return err
		}
	} else if o.Share == 0 {
		o.Share = 0.2
	}
	from, err := openSet(name)
	if err != nil {
		return err
	}
	o.Report = from.Report()
	rep, err := suite.WriteSplit(from, dir, o)
	if err != nil {
		return itemsError(err)
	}
	if a.json {
		return a.printJSON(rep)
	}
	a.printf("development  %d item(s)\nheld-out     %d item(s), encrypted\n", rep.Development, rep.HeldOut)
	if rep.Groups > 0 {
		a.printf("%d group(s) of near-duplicates stay on one side each\n", rep.Groups)
	}
	if rep.Unchecked > 0 {
		a.printf("%d item(s) had more candidates than were compared; `cupel items build` drops near-duplicates first\n", rep.Unchecked)
	}
	if len(rep.LeftOut) > 0 {
		a.printf("left out, near to items of both sides: %s\n", strings.Join(rep.LeftOut, ", "))
	}
	a.printLabels(rep.Strata, rep.Sealed)
	a.notef("%s still holds every held-out text: delete it, or keep it where nobody tunes\n", name)
	return nil
}

// printLabels prints a table of items by label, value and part.
func (a *app) printLabels(dev, sealed suite.Counts) {
	all := suite.Counts{}
	for _, part := range []suite.Counts{dev, sealed} {
		for label, values := range part {
			for v := range values {
				all.Add(map[string]string{label: v})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "label\tvalue\tdevelopment\theld-out")
	for _, label := range slices.Sorted(maps.Keys(all)) {
		for _, v := range slices.Sorted(maps.Keys(all[label])) {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\n", label, v, dev[label][v], sealed[label][v])
		}
	}
	w.Flush()
}
