package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

type modelsInventoryOptions struct {
	hub            hubOptions
	repo, revision string
	offline        bool
}

func (a *app) modelsInventoryCmd() *cobra.Command {
	var o modelsInventoryOptions
	c := &cobra.Command{
		Use:   "inventory DIR",
		Short: "list files that were downloaded otherwise, after checking them against the hub",
		Long: `Read every file of a folder, hold it against the hub's listing of a commit and
write cupel-inventory.json. A file that the commit does not have, or has with
other content, is exit code 1 and nothing is written. A folder may hold some of
the commit's files; the inventory says so.

With --offline nobody is asked, and the inventory says that it was not checked.

` + exitCodeTable(),
		Example: `  cupel models inventory models/qwen --repo Qwen/Qwen2.5-0.5B-Instruct --revision 7ae557604adf67be50417f59c2c2f167def9a775
  cupel models inventory models/own --repo org/own --revision 7ae557604adf67be50417f59c2c2f167def9a775 --offline`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error { return a.modelsInventory(c.Context(), args[0], o) },
	}
	f := c.Flags()
	o.hub.flags(c)
	f.StringVar(&o.repo, "repo", "", "`[OWNER/]REPO` that the files are from")
	f.StringVar(&o.revision, "revision", "", "`commit`, 40 hexadecimal digits")
	f.BoolVar(&o.offline, "offline", false, "ask nobody; the inventory is marked as not checked")
	return c
}

func (a *app) modelsInventory(ctx context.Context, dir string, o modelsInventoryOptions) error {
	if o.repo == "" {
		return fail(exitUsage, step.WithHint(errors.New("--repo is missing"), "give the [OWNER/]REPO that the files are from"))
	}
	h, err := o.hub.hub(a.fetcher(nil))
	if err != nil {
		return fail(exitUsage, err)
	}
	unlock, err := hub.Reading(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitUsage, err)
	}
	if err != nil {
		return modelsError(ctx, err)
	}
	defer unlock()
	v, found, err := o.take(ctx, a, h, dir)
	if err != nil {
		return modelsError(ctx, err)
	}
	if len(found) > 0 {
		return a.refuseInventory(dir, found)
	}
	if err := v.Save(dir); err != nil {
		return modelsError(ctx, err)
	}
	return a.printInventory(dir, v)
}

func (o modelsInventoryOptions) take(ctx context.Context, a *app, h *hub.Hub, dir string) (*inventory.Inventory, []inventory.Finding, error) {
	look := func(path string) {
		if a.verbose {
			a.notef("reading %s\n", path)
		}
	}
	if o.offline {
		v, err := hub.TakeUnchecked(ctx, dir, o.repo, o.revision, look)
		return v, nil, err
	}
	return h.Take(ctx, dir, o.repo, o.revision, look)
}

func (a *app) refuseInventory(dir string, found []inventory.Finding) error {
	if a.json {
		if err := a.printJSON(map[string]any{"folder": dir, "findings": found}); err != nil {
			return err
		}
		return exit(exitFailed)
	}
	a.printDifferences(found)
	a.notef("%s is not what the hub lists; no inventory was written\n", dir)
	return exit(exitFailed)
}
