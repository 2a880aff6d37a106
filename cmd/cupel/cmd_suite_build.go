package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/suites"
	"github.com/cupel-dev/cupel/suites/gen"
)

func (a *app) suiteExportCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME DIR",
		Short: "a copy of a shipped suite, to read or to start from",
		Long: `Write the files of a shipped suite to DIR, which must not be there yet. A campaign
that runs the copy has the same spec hash. To change it, copy its items.jsonl,
edit that, and freeze it under a name of its own with 'cupel items freeze'.

` + exitCodeTable(),
		Example: `  cupel suite export functional-gate suites/gate
  cupel suite export tiny /tmp/tiny --json`,
		Args: exactArgs("NAME", "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := openFolder(suites.Prefix + strings.TrimPrefix(args[0], suites.Prefix))
			if err != nil {
				return err
			}
			written, err := exportSuite(f, args[1])
			if err != nil {
				return itemsError(err)
			}
			if a.json {
				return a.printJSON(map[string]any{"dir": args[1], "written": written})
			}
			for _, name := range written {
				a.printf("%s\n", filepath.Join(args[1], name))
			}
			return nil
		},
	}
}

func exportSuite(f folder, dir string) (written []string, err error) {
	if err := suite.Free(dir); err != nil {
		return nil, err
	}
	err = suite.Publish(dir, func(tmp string) error {
		written, err = copyTree(f.FS, tmp, under(""))
		return err
	})
	return written, err
}

type suiteBuildOptions struct {
	tokens []int
	to     string
}

func (a *app) suiteBuildCmd() *cobra.Command {
	var o suiteBuildOptions
	c := &cobra.Command{
		Use:   "build NAME --to DIR",
		Short: "make a suite from its generator, also with longer contexts than ship",
		Long: `Make a suite anew from its generator and freeze it as DIR. The same version has
the same bytes everywhere, so that its digest can be compared with the one in the
suite's README.

` + lengthsText() + ` with the lengths that --tokens names (nominal: ` + fmt.Sprint(gen.BytesPerToken) + ` bytes
count as a token), as a version that is called after them.

` + exitCodeTable(),
		Example: `  cupel suite build needle --tokens 8192,32768 --to suites/needle-32k
  cupel suite build planning --to /tmp/planning --json`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.buildSuite(c.Context(), args[0], o) },
	}
	c.Flags().IntSliceVar(&o.tokens, "tokens", nil, "nominal context `lengths`, such as 8192,32768")
	c.Flags().StringVar(&o.to, "to", "", "`folder` to make")
	return c
}

func lengthsText() string {
	var with []string
	for _, name := range gen.Names() {
		if gen.Lengths(name) != nil {
			with = append(with, name)
		}
	}
	return "The suites " + strings.Join(with, " and ") + " can be made"
}

func (a *app) buildSuite(ctx context.Context, name string, o suiteBuildOptions) error {
	if o.to == "" {
		return fail(exitUsage, fmt.Errorf("--to is missing: name the folder to make"))
	}
	made, err := gen.Build(strings.TrimPrefix(name, suites.Prefix), gen.Options{Tokens: o.tokens})
	if err != nil {
		return fail(exitUsage, err)
	}
	m, fresh, err := freezeMade(ctx, made, o.to)
	if err != nil {
		return itemsError(err)
	}
	return a.printFrozen(m, fresh)
}

// freezeMade freezes what a generator made, with the README that ships.
func freezeMade(ctx context.Context, made gen.Suite, dir string) (m suite.Manifest, fresh bool, err error) {
	tmp, err := os.MkdirTemp("", "cupel-suite-")
	if err != nil {
		return m, false, err
	}
	defer os.RemoveAll(tmp)
	if err := writeMade(made, tmp); err != nil {
		return m, false, err
	}
	set, err := suite.Open(filepath.Join(tmp, suite.ItemsFile))
	if err != nil {
		return m, false, err
	}
	o := suite.FreezeOptions{Name: made.Name, Version: made.Version, Scorer: scorerID}
	if sub, err := suites.Sub(made.Name); err == nil {
		o.Readme, _ = fs.ReadFile(sub, suite.ReadmeFile) // one that does not ship yet has none
	}
	return suite.Freeze(ctx, set, dir, o)
}

func writeMade(made gen.Suite, dir string) error {
	var all bytes.Buffer
	for i := range made.Items {
		line, err := suite.Encode(&made.Items[i])
		if err != nil {
			return fmt.Errorf("item %s: %w", made.Items[i].ID, err)
		}
		all.Write(line)
	}
	files := map[string][]byte{suite.ItemsFile: all.Bytes()}
	for name, content := range made.Media {
		files[name] = content
	}
	for name, content := range files {
		if ok, err := writeNew(filepath.Join(dir, filepath.FromSlash(name)), content); err != nil || !ok {
			return fmt.Errorf("%s: %w", name, step.WithHint(err, "is there room in the temporary folder?"))
		}
	}
	return nil
}
