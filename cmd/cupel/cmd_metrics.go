package main

import (
	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/metric"
)

func (a *app) metricsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "the metric dictionary: every formula, unit, and when there is no value",
		Example: `  cupel metrics
  cupel metrics --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(metric.Dictionary)
			}
			a.printf("%s", metric.Markdown())
			return nil
		},
	}
}
