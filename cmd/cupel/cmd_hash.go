package main

import (
	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
)

func (a *app) hashCmd() *cobra.Command {
	var explain bool
	c := &cobra.Command{
		Use:   "hash FILE",
		Short: "the spec hash: the campaign with defaults filled in and files by content",
		Long: `Print the SHA-256 of the canonical campaign: defaults filled in, every referenced
file replaced by the digest of its content. The same decision has the same hash
in YAML, JSON and CUE, in every directory.

` + exitCodeTable(),
		Example: `  cupel hash pipelines/quickstart.yaml
  cupel hash campaign.cue --explain`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := spec.Load(args[0])
			if err != nil {
				return fail(exitUsage, err)
			}
			if a.json {
				return a.printJSON(map[string]any{"spec_hash": loaded.Digest, "campaign": loaded.Campaign.Campaign, "files": fileRows(loaded)})
			}
			a.printf("%s\n", loaded.Digest)
			if !explain {
				return nil
			}
			a.printf("\nfiles:\n")
			for _, f := range fileRows(loaded) {
				a.printf("  %s  %s (%d bytes)\n", f.Digest, f.Name, f.Size)
			}
			a.printf("\ncanonical campaign (%d bytes):\n%s\n", len(loaded.Canonical), loaded.Canonical)
			return nil
		},
	}
	c.Flags().BoolVar(&explain, "explain", false, "also print what is hashed")
	return c
}

type fileRow struct {
	Name   string `json:"file"`
	Digest string `json:"sha256"`
	Size   int64  `json:"size"`
}

func fileRows(l *spec.Loaded) []fileRow {
	rows := []fileRow{}
	for _, f := range l.Files {
		rows = append(rows, fileRow{f.Name, f.Digest.String(), f.Size})
	}
	return rows
}
