package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/pipelines"
)

func (a *app) demoCmd() *cobra.Command {
	var o runOptions
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "the quickstart campaign on the engine inside this binary: nothing else needed",
		Long: `Write the quickstart campaign and its suite to a folder, start the small inference
engine inside this binary on a loopback port, run the campaign on it and print
the decision. The engine computes a real model of 3.2 million parameters in
F16, Q8_0, Q4_0 and Q2_K; it is there for this demonstration only.

Running it again is served from the store. The exit code is 0 when a decision
was reached, whatever it is; 'cupel gate' answers with the decision's own.

` + exitCodeTable(),
		Example: `  cupel demo
  cupel demo --dir /tmp/demo -q`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), dir, o) },
	}
	c.Flags().StringVar(&dir, "dir", "cupel-demo", "folder to work in")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "write the files and print the plan instead")
	c.Flags().StringArrayVar(&o.refresh, "refresh", nil, "run steps matching this `glob` although they are in the store (repeatable)")
	return c
}

func (a *app) demo(ctx context.Context, dir string, o runOptions) error {
	file := filepath.Join(dir, "pipelines", "quickstart.yaml")
	b, err := pipelines.Read("quickstart")
	if err != nil {
		return err
	}
	if _, err := writeNew(file, b); err != nil {
		return fail(exitOutside, err)
	}
	if _, err := copySuite("tiny", dir); err != nil {
		return fail(exitOutside, err)
	}
	loaded, err := spec.Load(file)
	if err != nil {
		return fail(exitUsage, err)
	}
	for _, name := range slices.Sorted(maps.Keys(loaded.Campaign.Candidates)) {
		o.binds = append(o.binds, name+"="+embeddedScheme+loaded.Campaign.Candidates[name].ServedName)
	}
	a.notef("campaign: %s\n", file)
	if o.dryRun {
		return a.printPlan(file, o)
	}
	if err := a.runCampaign(ctx, file, o, false); err != nil {
		return err
	}
	if !a.json {
		a.printf("\nEdit a scorer in %s and score again without any engine:\n  cupel run %s\nAsk like a release pipeline:\n  cupel gate %s --candidate q8_0; echo $?\n", file, file, file)
	}
	return nil
}
