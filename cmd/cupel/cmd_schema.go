package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/schemas"
)

func (a *app) schemaCmd() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "schema",
		Short: "the campaign schema, as CUE or as JSON Schema for editors",
		Example: `  cupel schema --format json-schema > campaign.schema.json
  cupel schema`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
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
	return c
}
