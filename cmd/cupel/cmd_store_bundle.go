package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/store"
)

func (a *app) storeExportCmd() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "export FILE|HASH",
		Short: "a decision with everything it rests on, as one tar file",
		Long: `Write the decision of a campaign, its evidence, every record and answer that it
rests on, its approvals, and which failing items were read, as a tar file. Everything
is verified while it is read. The same decision makes the same bytes.

Answers are in it, as in the store. Held-out items are not: they stay in the suite's
encrypted file. Run logs stay as well.

` + exitCodeTable(),
		Example: `  cupel store export pipelines/quickstart.yaml --out q.tar
  cupel store export 3f1c…e9 > q.tar`,
		Args: exactArgs("FILE or HASH"),
		RunE: func(_ *cobra.Command, args []string) error { return a.exportDecision(args[0], out) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "`file` to write, which must not exist (default: stdout)")
	return c
}

func (a *app) exportDecision(arg, out string) error {
	hash, s, err := a.gateStore(arg)
	if err != nil {
		return err
	}
	defer s.Close()
	d, _, err := recall(s, hash)
	if errors.Is(err, store.ErrMissing) {
		return fail(exitUndetermined, fmt.Errorf("there is no decision for spec %s; run the campaign first", hash.Short()))
	}
	if err != nil {
		return fail(exitOutside, err)
	}
	refs, notes := s.Refs()
	if len(notes) > 0 {
		return fail(exitOutside, notes[0])
	}
	sel := store.Selection{Refs: []string{refName(hash)}}
	for _, r := range refs {
		if strings.HasPrefix(r.Name, approvalRefs(d.Evidence)) || strings.HasPrefix(r.Name, openedRefs(d.Evidence)) {
			sel.Refs = append(sel.Refs, r.Name)
		}
	}
	var c store.Contents
	err = a.writeTo(out, func(w io.Writer) (err error) { c, err = s.Export(w, sel); return err })
	if err != nil {
		return err
	}
	a.notef("%s: %d records, %d objects, %d bytes of content\n", d.Campaign, len(c.Keys), len(c.Objects), contentBytes(c))
	if len(c.Left) > 0 {
		a.notef("left out: %d encrypted input(s), which no store holds\n", len(c.Left))
	}
	return nil
}

func contentBytes(c store.Contents) (n int64) {
	for _, o := range c.Objects {
		n += o.Size
	}
	return n
}

// writeTo writes to stdout or to a new file, of which nothing stays after an
// error.
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		if terminal(a.stdout) {
			return fail(exitUsage, errors.New("a tar file is nothing for a terminal; give --out FILE or redirect"))
		}
		return fail(exitOutside, write(a.stdout))
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fail(exitUsage, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(file) // what is not whole must not look so
	}
	return fail(exitOutside, err)
}

func (a *app) storeImportCmd() *cobra.Command {
	var most int64
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "take a decision from a tar file that export wrote",
		Long: `Read what 'cupel store export' wrote, from a file or from stdin (-), into the store:
each object is compared with its digest, each record with its key. What was measured
here stays what runs here use, and a newer decision here is not replaced.

A bundle is believed like a store: whoever made it could have written other answers.
Approvals are signed (cupel approve); so are statements (cupel verify).

` + exitCodeTable(),
		Example: `  cupel store import q.tar --store .cupel
  cupel store import - --max-bytes 1000000000`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.importDecision(args[0], most) },
	}
	c.Flags().Int64Var(&most, "max-bytes", 64<<30, "most `bytes` of content, uncompressed")
	return c
}

func (a *app) importDecision(file string, most int64) error {
	if most <= 0 {
		return fail(exitUsage, fmt.Errorf("--max-bytes %d: want 1 or more", most))
	}
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fail(exitUsage, err)
		}
		defer f.Close()
		in = f
	}
	dir := a.storeDir
	if dir == "" {
		dir = ".cupel"
	}
	s, err := a.openStore(dir, store.ReadWrite)
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := s.Import(in, most)
	if err != nil {
		return fail(importCode(err), fmt.Errorf("%s: %w", file, err))
	}
	if a.json {
		return a.printJSON(map[string]any{"refs": got.Refs, "records": len(got.Keys), "new_records": got.Records, "objects": len(got.Objects), "kept": got.Kept})
	}
	for _, name := range got.Kept {
		a.notef("%s here is as new or newer and stays\n", name)
	}
	for _, name := range got.Refs {
		if hash, ok := strings.CutPrefix(name, campaignRefs); ok {
			a.printf("%s\n", hash)
		}
	}
	a.notef("%d records, %d of them new, %d objects into %s\n", len(got.Keys), got.Records, len(got.Objects), s.Dir())
	return nil
}

// importCode: a disk that fails is the outside's, a bundle that is none is not.
func importCode(err error) exitCode {
	if errors.Is(err, store.ErrNoSpace) || errors.Is(err, store.ErrReadOnly) {
		return exitOutside
	}
	return exitFailed
}
