package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/stages/artifact"
	"github.com/cupel-dev/cupel/stages/foreign"
)

// scanMost bounds the entries of folders that list looks at.
const scanMost = 50_000

type listOptions struct {
	kind, model string
	limit       int
	all         bool
}

// unshown are kinds that hold no measurement; list shows them with --all.
var unshown = []artifact.Kind{artifact.Listing, artifact.OutOfScope, artifact.Rows, artifact.Specification, artifact.Narrative}

func (a *app) evidenceListCmd() *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:   "list [DIR]",
		Short: "the evidence below a folder, one line each",
		Long: `List what is evidence below DIR (default: the working directory), of cupel and of
other tools, recognised by content. At most 50,000 entries are looked at and
32 MiB of a file are read; symbolic links are not followed.

` + exitCodeTable(),
		Example: `  cupel evidence list findings
  cupel evidence list . --kind capacity --json`,
		Args: atMostOneDir,
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.evidenceList(dir, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.kind, "kind", "", "only this `kind`: capacity, quality, campaign, preflight, ...")
	f.StringVar(&o.model, "model", "", "only models whose name contains this `text`")
	f.IntVar(&o.limit, "limit", 0, "print at most this many (default all)")
	f.BoolVar(&o.all, "all", false, "also what is recognised and holds no measurement")
	return c
}

func atMostOneDir(c *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return fail(exitUsage, fmt.Errorf("%s takes at most one DIR, got %d arguments; see '%s -h'", c.CommandPath(), len(args), c.CommandPath()))
}

// evidenceIndex is the JSON form of list.
type evidenceIndex struct {
	Schema    string         `json:"schema"` // cupel/evidence-index/v1
	Artifacts []evidenceLine `json:"artifacts"`
	More      int            `json:"more,omitempty"` // left out by --limit
	Scanned   int            `json:"scanned_files"`
	Unknown   map[string]int `json:"not_evidence"` // why -> files
}

// evidenceLine is one measurement.
type evidenceLine struct {
	Path    string          `json:"path"`
	Part    string          `json:"part,omitempty"`
	Kind    artifact.Kind   `json:"kind"`
	Format  string          `json:"format"`
	Model   artifact.Text   `json:"model"`
	Clients artifact.Number `json:"concurrency"`
	TTFT    artifact.Number `json:"ttft_p50_ms"`
	TokS    artifact.Number `json:"throughput_tok_s"`
	Score   artifact.Number `json:"score_mean"`
	Items   artifact.Number `json:"items"`
	Reps    artifact.Number `json:"repetitions"`
	Invalid []string        `json:"invalid,omitempty"`
}

func (a *app) evidenceList(dir string, o listOptions) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", dir, diskfile.Cause(err)))
	}
	defer root.Close()
	idx, err := scanEvidence(root.FS(), o)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", dir, err))
	}
	if o.limit > 0 && len(idx.Artifacts) > o.limit {
		idx.More, idx.Artifacts = len(idx.Artifacts)-o.limit, idx.Artifacts[:o.limit]
	}
	if a.json {
		return a.printJSON(idx)
	}
	a.printEvidence(idx)
	return nil
}

// scanned is one file that was looked at.
type scanned struct {
	name string
	doc  *artifact.Document
	err  error
}

// scanEvidence reads every file below fsys that may be evidence.
func scanEvidence(fsys fs.FS, o listOptions) (*evidenceIndex, error) {
	idx := &evidenceIndex{Schema: "cupel/evidence-index/v1", Artifacts: []evidenceLine{}, Unknown: map[string]int{}}
	read := func() func(string) scanned {
		return func(name string) scanned {
			doc, err := readArtifact(fsys, name, artifact.Options{})
			return scanned{name, doc, err}
		}
	}
	err := foreign.Ordered(runtime.GOMAXPROCS(0), walkEvidence(fsys, idx), read, func(s scanned) error {
		idx.Scanned++
		if s.err != nil {
			idx.Unknown[reasonOf(s.err)]++
			return nil
		}
		for _, r := range s.doc.Records {
			if o.wants(r) {
				idx.Artifacts = append(idx.Artifacts, lineOf(s.name, s.doc, r))
			}
		}
		return nil
	})
	return idx, err
}

// reasonOf is a reason without what is particular to one file.
func reasonOf(err error) string {
	s := err.Error()
	for _, cut := range []string{": it has the fields", ": its schema is", " at byte ", "; ", " — "} {
		s, _, _ = strings.Cut(s, cut)
	}
	return s
}

// walkEvidence yields the names of files to look at. A symbolic link is not
// followed, and is counted.
func walkEvidence(fsys fs.FS, idx *evidenceIndex) func(yield func(string) error) error {
	return func(yield func(string) error) error {
		entries := 0
		return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			if entries++; entries > scanMost {
				return fmt.Errorf("more than %d entries; name a folder with fewer", scanMost)
			}
			switch {
			case err != nil && name == ".":
				return diskfile.Cause(err)
			case err != nil:
				return nil // a folder that may not be read
			case d.IsDir() && name != "." && strings.HasPrefix(path.Base(name), ".") || d.IsDir() && path.Base(name) == "node_modules":
				return fs.SkipDir
			case d.Type()&fs.ModeSymlink != 0, d.IsDir(), !slices.Contains([]string{".json", ".jsonl", ".eval", ".traj"}, path.Ext(name)):
				return nil
			}
			return yield(name)
		})
	}
}

func (o listOptions) wants(r *artifact.Record) bool {
	switch {
	case o.kind != "" && string(r.Kind) != o.kind:
		return false
	case o.kind == "" && !o.all && slices.Contains(unshown, r.Kind):
		return false
	case o.model != "":
		m := r.Identity.Model.Value
		return m != nil && strings.Contains(strings.ToLower(*m), strings.ToLower(o.model))
	}
	return true
}

func lineOf(name string, doc *artifact.Document, r *artifact.Record) evidenceLine {
	return evidenceLine{
		Path: name, Part: r.Part, Kind: r.Kind, Format: doc.Format, Model: r.Identity.Model, Clients: r.Workload.Concurrency,
		TTFT: r.Results.TTFTP50, TokS: r.Results.ThroughputTokS, Score: r.Results.Score, Items: r.Results.Items,
		Reps: r.Workload.Repetitions, Invalid: r.Invalid,
	}
}

func (a *app) printEvidence(idx *evidenceIndex) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tMODEL\tC\tTTFT_MS\tTOK_S\tSCORE\tITEMS\tREPS\tSTATE\tPATH")
	for _, l := range idx.Artifacts {
		state := "ok"
		if len(l.Invalid) > 0 {
			state = "invalid"
		}
		model := "-"
		if l.Model.Value != nil {
			model = *l.Model.Value
		}
		at := filepath.FromSlash(l.Path)
		if l.Part != "" {
			at += "#" + l.Part
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Kind, short(model, 40), column(l.Clients, "%.0f"), column(l.TTFT, "%.2f"), column(l.TokS, "%.2f"),
			column(l.Score, "%.4f"), column(l.Items, "%.0f"), column(l.Reps, "%.0f"), state, at)
	}
	w.Flush()
	if idx.More > 0 {
		a.notef("%d more; raise --limit\n", idx.More)
	}
	for _, why := range slices.Sorted(maps.Keys(idx.Unknown)) {
		a.notef("%d file(s) are no evidence: %s\n", idx.Unknown[why], why)
	}
	if idx.Scanned == 0 {
		a.notef("no .json, .jsonl or .eval file was found\n")
	}
}

func column(n artifact.Number, format string) string {
	if n.Value == nil {
		return "-"
	}
	return fmt.Sprintf(format, *n.Value)
}

func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

var errNoPart = errors.New("there is no such part")
