package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/store"
)

func (a *app) storeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "look after the store: check, stats, export, import",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.storeCheckCmd(), a.storeStatsCmd(), a.storeExportCmd(), a.storeImportCmd())
	return c
}

func (a *app) storeCheckCmd() *cobra.Command {
	var structure bool
	c := &cobra.Command{
		Use:   "check",
		Short: "find every damaged or missing object and record",
		Long: `Read every object and record of the store and report what is not what was
written. The store is opened read-only.

` + exitCodeTable(),
		Example: `  cupel store check
  cupel store check --store pipelines/.cupel --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.storeHere(store.ReadOnly)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.checkStore(s, !structure)
		},
	}
	c.Flags().BoolVar(&structure, "structure", false, "do not read the objects' content")
	return c
}

func (a *app) checkStore(s *store.Store, readData bool) error {
	problems, notes := 0, 0
	stats, err := s.Check(readData, func(p store.Problem) {
		if p.Kind == store.ProblemNote || p.Kind == store.ProblemMode {
			notes++
		} else {
			problems++
		}
		if a.json {
			_ = a.printJSONLine(map[string]string{"kind": p.Kind, "path": p.Path, "why": p.Why})
			return
		}
		a.printf("%-8s %s: %s\n", p.Kind, p.Path, p.Why)
	})
	if err != nil {
		return fail(exitOutside, err)
	}
	if a.json {
		if err := a.printJSONLine(map[string]any{"problems": problems, "notes": notes, "stats": stats}); err != nil {
			return err
		}
	} else {
		a.printf("%s: %s; %d problem(s), %d note(s)\n", s.Dir(), statsText(stats), problems, notes)
	}
	if problems > 0 {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) storeStatsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "how much the store holds",
		Example: `  cupel store stats
  cupel store stats --store .cupel --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.storeHere(store.ReadOnly)
			if err != nil {
				return err
			}
			defer s.Close()
			stats, err := s.Stats()
			if err != nil {
				return fail(exitOutside, err)
			}
			if a.json {
				return a.printJSON(stats)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: %s\n", s.Dir(), statsText(stats))
			return err
		},
	}
}

func statsText(t store.Stats) string {
	return fmt.Sprintf("%d objects (%d bytes), %d records, %d runs, %d journal segments, %d quarantined",
		t.Objects, t.ObjectBytes, t.Records, t.Runs, t.Journals, t.Quarantined)
}
