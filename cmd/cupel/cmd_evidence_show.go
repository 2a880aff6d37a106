package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
)

func (a *app) evidenceShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "what a file is evidence of: every field, with its value or why it is unknown",
		Long: `Show a file, or one part of it as FILE#PART, as an evidence record. With --json
the record is in the form of schemas/evidence.cue.

` + exitCodeTable(),
		Example: `  cupel evidence show findings/2026-11-30-quickstart
  cupel evidence show results.json#gsm8k --json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := a.evidenceOf(args[0], artifact.Options{})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(doc)
			}
			for i, r := range doc.Records {
				if i > 0 {
					a.printf("\n")
				}
				a.printRecord(r)
			}
			return nil
		},
	}
}

// evidenceOf reads FILE or FILE#PART with its prompts rebuilt.
func (a *app) evidenceOf(arg string, o artifact.Options) (*artifact.Document, error) {
	path, part := partOf(arg)
	o.Prompts = true
	doc, err := readEvidence(path, o)
	if err != nil {
		return nil, err
	}
	if part == "" {
		return doc, nil
	}
	var names []string
	for _, r := range doc.Records {
		if r.Part == part {
			return &artifact.Document{Format: doc.Format, Records: []*artifact.Record{r}}, nil
		}
		names = append(names, r.Part)
	}
	return nil, fail(exitUsage, step.WithHint(fmt.Errorf("%s: %w as %s", path, errNoPart, part), "it has "+short(strings.Join(names, ", "), 300)))
}

func (a *app) printRecord(r *artifact.Record) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "kind\t%s\n", r.Kind)
	if r.Part != "" {
		fmt.Fprintf(w, "part\t%s\n", r.Part)
	}
	fmt.Fprintf(w, "format\t%s\nsha256\t%s\n", r.Source.Format, r.Source.SHA256)
	unknown := map[string][]string{}
	var reasons []string
	for _, f := range r.Fields() {
		if f.Value != nil {
			fmt.Fprintf(w, "%s\t%s\n", f.Name, f.Show())
			continue
		}
		if unknown[f.Unknown] == nil {
			reasons = append(reasons, f.Unknown)
		}
		unknown[f.Unknown] = append(unknown[f.Unknown], f.Name)
	}
	w.Flush()
	for _, why := range reasons {
		a.printf("unknown (%s): %s\n", why, strings.Join(unknown[why], ", "))
	}
	for _, s := range r.Invalid {
		a.printf("invalid: %s\n", s)
	}
	for _, s := range r.Notes {
		a.printf("note: %s\n", s)
	}
}
