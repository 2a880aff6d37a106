package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/stages/artifact"
)

func (a *app) evidenceImportCmd() *cobra.Command {
	var to, as string
	var o artifact.Options
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "turn a file into evidence records, or into another tool's form",
		Long: `Write a file, or one part of it as FILE#PART, as evidence records: the form of
schemas/evidence.cue, in which every field has a value or the reason why it has
none. Without --to the records go to stdout; a file that is there is not replaced.

--as anvil writes anvil-serving's benchmark/v1, of one part; --as asiai writes
an asiai export v2, an engine for each part, with the energy of its base and rails.
Neither form can hold what cupel knows of weights, digests and doubts; what is lost
is told.

A SWE-bench report says neither which instances were selected nor which grader
wrote it: state them with --instance and --grader. An instance that the report did
not complete makes the import invalid, whatever a trajectory or a patch says.

` + exitCodeTable(),
		Example: `  cupel evidence import results.json --to evidence.json
  cupel evidence import findings/a/record.json#f16/chat/c=4 --as anvil`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkPinnedGrader(o); err != nil {
				return fail(exitUsage, err)
			}
			return a.evidenceImport(args[0], to, as, o)
		},
	}
	c.Flags().StringVar(&to, "to", "", "write to this `file`")
	c.Flags().StringArrayVar(&o.Selected, "instance", nil, "a selected `id` of a SWE-bench report (repeatable; default: those submitted)")
	c.Flags().StringVar(&o.Grader, "grader", "", "the pinned `revision` of the grader that wrote a SWE-bench report")
	c.Flags().StringVar(&as, "as", "cupel", "cupel, "+strings.Join(artifact.Converters(), " or "))
	return c
}

func (a *app) evidenceImport(arg, to, as string, o artifact.Options) error {
	if as != "cupel" && !slices.Contains(artifact.Converters(), as) {
		return fail(exitUsage, fmt.Errorf("--as %q: want cupel, %s", as, strings.Join(artifact.Converters(), " or ")))
	}
	doc, err := a.evidenceOf(arg, o)
	if err != nil {
		return err
	}
	content, lost, err := convert(doc, as)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", arg, err))
	}
	for _, s := range lost {
		a.notef("not in that form: %s\n", s)
	}
	for _, r := range doc.Records {
		for _, s := range r.Invalid {
			a.notef("invalid: %s\n", s)
		}
	}
	if to == "" {
		a.printf("%s", content)
		return nil
	}
	return a.writeEvidence(to, content, len(doc.Records))
}

// immutableID is an immutable id: a commit, or an image by digest.
var immutableID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}|.+@sha256:[0-9a-f]{64})$`)

func checkPinnedGrader(o artifact.Options) error {
	if o.Grader != "" && !immutableID.MatchString(o.Grader) {
		return fmt.Errorf("--grader %q: want a commit of 40 or 64 hex digits, or an image by digest; a tag moves", o.Grader)
	}
	return nil
}

func convert(doc *artifact.Document, as string) (content []byte, lost []string, err error) {
	if as != "cupel" {
		return artifact.Convert(as, doc.Records)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(doc)
	return b.Bytes(), nil, err
}

// writeEvidence never replaces a file: evidence is not edited.
func (a *app) writeEvidence(to string, content []byte, records int) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", to, diskfile.Cause(err)))
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fail(exitOutside, errors.Join(fmt.Errorf("%s: %w", to, diskfile.Cause(err)), os.Remove(to)))
	}
	if a.json {
		return a.printJSON(map[string]any{"file": to, "records": records})
	}
	a.printf("%s: %d record(s)\n", to, records)
	return nil
}
