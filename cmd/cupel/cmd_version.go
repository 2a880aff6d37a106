package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/store"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "version, store format and Go version",
		Example: "  cupel version\n  cupel version --json",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]any{"version": version, "store_format": store.Format, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			a.printf("cupel %s (store format %d, %s, %s/%s)\n", version, store.Format, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
