package main

import "github.com/spf13/cobra"

func (a *app) pinCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "pin",
		Short: "immutable identities: image",
		Long: `Find the immutable identity of what a campaign names.

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.pinImageCmd())
	return c
}
