package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/schemas"
)

func (a *app) schemaCmd() *cobra.Command {
	var format, kind string
	c := &cobra.Command{
		Use:   "schema",
		Short: "the schema of campaigns or of evidence, as CUE or as JSON Schema",
		Example: `  cupel schema --format json-schema > campaign.schema.json
  cupel schema --type evidence`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if kind == "evidence" {
				return a.evidenceSchema(format)
			}
			if kind != "campaign" {
				return fail(exitUsage, fmt.Errorf("--type %q: want campaign or evidence", kind))
			}
			switch format {
			case "cue":
				text, err := schemas.Text()
				if err != nil {
					return err
				}
				a.printf("%s", text)
				return nil
			case "json-schema":
				b, err := spec.JSONSchema()
				if err != nil {
					return err
				}
				a.printf("%s\n", b)
				return nil
			}
			return fail(exitUsage, fmt.Errorf("--format %q: want cue or json-schema", format))
		},
	}
	c.Flags().StringVar(&format, "format", "cue", "cue or json-schema")
	c.Flags().StringVar(&kind, "type", "campaign", "campaign or evidence")
	return c
}

// evidenceSchema prints the schema of evidence records.
func (a *app) evidenceSchema(format string) error {
	switch format {
	case "cue":
		text, err := schemas.Files.ReadFile("evidence.cue")
		if err != nil {
			return err
		}
		a.printf("%s", text)
		return nil
	case "json-schema":
		b, err := spec.EvidenceJSONSchema()
		if err != nil {
			return err
		}
		a.printf("%s\n", b)
		return nil
	}
	return fail(exitUsage, fmt.Errorf("--format %q: want cue or json-schema", format))
}
