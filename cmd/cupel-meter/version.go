package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

func (m *meter) versionCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "version, schemas, and whether NVML can be loaded",
		Example: "  cupel-meter version\n  cupel-meter version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return m.printJSON(map[string]any{"version": version, "schema": hardware.Schema, "trace": trace.Schema, "probe": trace.ProbeSchema, "nvml": canLoad, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			with := "without NVML"
			if canLoad {
				with = "with NVML"
			}
			_, err := fmt.Fprintf(m.stdout, "cupel-meter %s (%s, %s, %s, %s/%s)\n", version, hardware.Schema, with, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return step.Mark(errOutside, err)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// printJSON writes one indented document.
func (m *meter) printJSON(v any) error {
	enc := json.NewEncoder(m.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return step.Mark(errOutside, enc.Encode(v))
}
