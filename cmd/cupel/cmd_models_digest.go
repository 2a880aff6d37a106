package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

func (a *app) modelsDigestCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "digest FILE|DIR",
		Short: "the digest that model.sha256 of a campaign may hold",
		Long: `Read a weights file, or every file of a folder, and print the digest for
model.sha256: the SHA-256 of the file, or of the list of the folder's files as
docs/models.md defines it. It depends on names, sizes and contents, and on no
time and no place. A folder that has an inventory must be what it says; one
into which a pull has not ended is refused.

` + exitCodeTable(),
		Example: `  cupel models digest models/tiny-q8_0.gguf
  cupel models digest models/qwen --json`,
		Args: exactArgs("FILE|DIR"),
		RunE: func(c *cobra.Command, args []string) error { return a.modelsDigest(c.Context(), args[0]) },
	}
}

func (a *app) modelsDigest(ctx context.Context, name string) error {
	st, err := os.Stat(name)
	if err != nil {
		return fail(exitUsage, err)
	}
	kind, digest := "file", step.Digest{}
	if st.IsDir() {
		kind = "folder"
		digest, err = digestFolder(ctx, name)
	} else {
		digest, err = inventory.DigestFile(ctx, name)
	}
	if err != nil {
		return modelsError(ctx, err)
	}
	if a.json {
		return a.printJSON(map[string]any{"path": name, "kind": kind, "sha256": digest})
	}
	a.printf("%s\n", digest)
	return nil
}

func digestFolder(ctx context.Context, dir string) (step.Digest, error) {
	unlock, err := hub.Reading(dir)
	if err != nil {
		return step.Digest{}, err
	}
	defer unlock()
	v, err := inventory.Load(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return step.Digest{}, err
	}
	if v == nil {
		if err := inventory.CheckFinished(dir); err != nil {
			return step.Digest{}, err
		}
	}
	files, err := inventory.Read(ctx, dir, func(string) {})
	if err != nil {
		return step.Digest{}, err
	}
	d, err := inventory.DigestOf(files)
	if err == nil && v != nil && v.Digest != d {
		err = step.Mark(hub.ErrConflict, step.WithHint(fmt.Errorf("%s has digest %s, its inventory says %s", dir, d.Short(), v.Digest.Short()), "`cupel models verify` names the files"))
	}
	return d, err
}
