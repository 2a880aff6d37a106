package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/build"
	"github.com/cupel-dev/cupel/stages/items/scrub"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

type itemsBuildOptions struct {
	build    build.Options
	logs     []string
	expert   []string
	mapFile  string
	fields   []string // FIELD=PATH
	patterns []string // NAME=REGEXP
	labels   labelOptions
	scorer   string
	memory   int64 // MB
}

func (a *app) itemsBuildCmd() *cobra.Command {
	var o itemsBuildOptions
	c := &cobra.Command{
		Use:   "build DIR",
		Short: "make items from request logs and hand-written items",
		Long: `Make an item set from request logs (JSON lines; .gz and .zst are read) and item
files written by hand: sample across time, replace personal data and secrets by
typed placeholders, drop exact and near duplicates, label strata, add the
hand-written slice. The same logs and flags give the same bytes.

DIR then holds items.jsonl, build-report.json (counts, never values) and, where a
logged request has no reference yet, incomplete.jsonl: complete these lines and
build again with them as --expert.

A stratum is a CEL rule that gives a text, a field of the log line, or a column
of a label file (.csv with a column id, or .jsonl with id and strata). A rule may
name ` + strings.Join(labelVarNames(), ", ") + `.

Scrubbing finds what has a form: read the items before you share them.

` + exitCodeTable(),
		Example: `  cupel items build build --logs requests.jsonl.gz --expert hand.jsonl --sample 2000 --stratum 'length=size(input) > 2000 ? "long" : "short"'
  cupel items build build --logs requests.jsonl --field input=body.prompt --field time=ts --stratum-field task=route --countries de,fr`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error { return a.itemsBuild(c, args[0], &o) },
	}
	o.flags(c)
	return c
}

func (o *itemsBuildOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.logs, "logs", nil, "request log `file` (repeatable)")
	f.StringArrayVar(&o.expert, "expert", nil, "item `file` written by hand, never sampled or dropped (repeatable)")
	f.StringVar(&o.mapFile, "map", "", "`file` of lines field=path: where a log line has id, time, input, system, tools, schema, answer, cluster, label.NAME")
	f.StringArrayVar(&o.fields, "field", nil, "one line of the map, `field=path`, such as input=body.prompt or input=/body/prompt (repeatable)")
	f.IntVar(&o.build.Sample.N, "sample", 0, "log `lines` to draw, each week in proportion (0 = all)")
	f.Uint64Var(&o.build.Sample.Seed, "seed", 0, "seed of the sample")
	f.DurationVar(&o.build.Sample.Window, "window", 7*24*time.Hour, "length of a stratum of time")
	f.StringSliceVar(&o.build.Scrub.Off, "scrub-off", nil, "scrubbing `rules` that do not run")
	f.StringSliceVar(&o.build.Scrub.Countries, "countries", nil, "`countries` whose national ids are looked for (default all; none)")
	f.StringArrayVar(&o.patterns, "scrub-pattern", nil, "`NAME=REGEXP` becomes <NAME_1> (repeatable)")
	f.Float64Var(&o.build.Near, "near", suite.DefaultNear, "Jaccard `similarity` from which items are one, 0.5 to 1; 0: off")
	f.BoolVar(&o.build.KeepDigits, "keep-digits", false, "digits make items different: arithmetic, extraction of numbers")
	f.Float64Var(&o.build.MaxBroken, "max-broken", 0.05, "`share` of lines that may be broken")
	f.StringVar(&o.scorer, "scorer", "", "scorer `name` for logged items that have a reference and no scorer")
	f.Int64Var(&o.memory, "memory", 400, "`MB` to stay under")
	f.StringVar(&o.build.TempDir, "temp", "", "`folder` for temporary files (default the system's)")
	o.labels.flags(f)
}

func (a *app) itemsBuild(c *cobra.Command, dir string, o *itemsBuildOptions) error {
	labels, err := o.prepare()
	if err = errors.Join(err, suite.Free(dir)); err != nil {
		return fail(exitUsage, err)
	}
	var rep build.Report
	incomplete := 0
	err = suite.Publish(dir, func(tmp string) error {
		w, err := newItemWriter(tmp, o.scorer)
		if err != nil {
			return err
		}
		if rep, err = build.Run(c.Context(), o.build, w.write); err != nil {
			return errors.Join(err, w.abandon())
		}
		incomplete, rep.WithoutReference = w.incomplete, w.incomplete // --scorer completed some
		if err := w.close(); err != nil {
			return err
		}
		return suite.WriteJSON(filepath.Join(tmp, suite.ReportFile), rep)
	})
	if err != nil {
		return itemsError(err)
	}
	if n := labels.unused(); n > 0 {
		a.notef("%d id(s) of %s are not among the items\n", n, o.labels.file)
	}
	if a.json {
		return a.printJSON(rep)
	}
	a.printBuild(dir, rep, incomplete)
	return nil
}

func (o *itemsBuildOptions) prepare() (*labeller, error) {
	if len(o.logs)+len(o.expert) == 0 {
		return nil, step.WithHint(errors.New("there is nothing to build from"), "give --logs FILE, --expert FILE or both")
	}
	o.build.Logs, o.build.Expert = sources(o.logs), sources(o.expert)
	o.build.Memory = o.memory << 20
	switch {
	case o.build.Near < 0:
		return nil, fmt.Errorf("--near %v: want 0.5 to 1, or 0 to keep near-duplicates", o.build.Near)
	case o.build.Near == 0:
		o.build.Near = -1 // 0 is the default of a build
	}
	for _, s := range append(slices.Clone(o.logs), o.expert...) {
		if _, err := os.Stat(s); err != nil {
			return nil, err
		}
	}
	if o.scorer != "" {
		if _, ok := scorerID(o.scorer); !ok {
			return nil, fmt.Errorf("--scorer: there is no scorer %q", o.scorer)
		}
	}
	for _, p := range o.patterns {
		name, re, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("--scrub-pattern %q: want NAME=REGEXP", p)
		}
		o.build.Scrub.Custom = append(o.build.Scrub.Custom, scrub.Custom{Name: name, Pattern: re})
	}
	if err := o.fieldMap(); err != nil {
		return nil, err
	}
	labels, err := newLabeller(&o.labels, o.build.Map.Labels)
	if err == nil {
		o.build.Label = labels.label
	}
	return labels, err
}

// fieldMap joins --map, --field and --stratum-field.
func (o *itemsBuildOptions) fieldMap() (err error) {
	var all []string
	if o.mapFile != "" {
		if all, err = readLines(o.mapFile); err != nil {
			return err
		}
	}
	all = append(all, o.fields...)
	for _, f := range o.labels.fields {
		all = append(all, "label."+f)
	}
	o.build.Map, err = build.ParseMap(all)
	return err
}

// readLines returns the lines of a small file that are neither blank nor begin
// with #.
func readLines(name string) (out []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for lines.Scan() {
		if l := strings.TrimSpace(lines.Text()); l != "" && l[0] != '#' {
			out = append(out, l)
		}
	}
	return out, lines.Err()
}

func sources(names []string) (out []build.Source) {
	for _, name := range names {
		out = append(out, build.Source{Name: name, Open: func() (io.ReadCloser, error) { return openPlain(name) }})
	}
	return out
}

// openPlain opens a file, and decompresses it by its name.
func openPlain(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(name) {
	case ".gz":
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &compressed{z, f}, nil
	case ".zst":
		z, err := zstd.NewReader(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &compressed{z.IOReadCloser(), f}, nil
	}
	return f, nil
}

// compressed closes the decoder and the file below it.
type compressed struct {
	io.ReadCloser
	f *os.File
}

func (c *compressed) Close() error { return errors.Join(c.ReadCloser.Close(), c.f.Close()) }

// itemWriter writes complete items and those that lack a reference apart: a
// set that is read strictly has no room for the latter.
type itemWriter struct {
	items, todo *bufio.Writer
	files       []*os.File
	scorer      string
	complete    int
	incomplete  int
}

func newItemWriter(dir, scorer string) (*itemWriter, error) {
	w := &itemWriter{scorer: scorer}
	for _, to := range []struct {
		name string
		w    **bufio.Writer
	}{{suite.ItemsFile, &w.items}, {incompleteFile, &w.todo}} {
		f, err := os.Create(filepath.Join(dir, to.name))
		if err != nil {
			return nil, errors.Join(err, w.abandon())
		}
		w.files = append(w.files, f)
		*to.w = bufio.NewWriterSize(f, 1<<16)
	}
	return w, nil
}

const incompleteFile = "incomplete.jsonl"

func (w *itemWriter) write(it items.Item) error {
	referenced := it.Referenced()
	if len(it.Scorer) == 0 && w.scorer != "" && referenced {
		it.Scorer = items.Scorers{{Name: w.scorer}}
	}
	to, n := w.items, &w.complete
	if len(it.Scorer) == 0 || !referenced {
		to, n = w.todo, &w.incomplete
	}
	*n++
	b, err := suite.Encode(&it)
	if err == nil {
		_, err = to.Write(b)
	}
	return err
}

func (w *itemWriter) close() error {
	err := errors.Join(w.items.Flush(), w.todo.Flush())
	for _, f := range w.files {
		err = errors.Join(err, f.Sync())
	}
	err = errors.Join(err, w.abandon())
	if err == nil && w.incomplete == 0 {
		err = os.Remove(w.files[1].Name())
	}
	return err
}

func (w *itemWriter) abandon() (err error) {
	for _, f := range w.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (a *app) printBuild(dir string, r build.Report, incomplete int) {
	a.printf("read        %d request(s) of %d line(s)", r.Read, r.Lines)
	if r.Skipped > 0 {
		a.printf("; %d skipped", r.Skipped)
	}
	a.printf("\nsampled     %d\nduplicates  %d exact, %d near, dropped\n", r.Sampled, r.ExactDuplicates, r.NearDuplicates)
	var found []string
	for _, rule := range slices.Sorted(maps.Keys(r.Scrubbed)) {
		found = append(found, fmt.Sprintf("%s %d", rule, r.Scrubbed[rule]))
	}
	if found == nil {
		found = []string{"nothing found"}
	}
	a.printf("scrubbed    %s\n", strings.Join(found, ", "))
	for _, rule := range slices.Sorted(maps.Keys(r.ExpertMatches)) {
		a.printf("expert      %s %d, left as written\n", rule, r.ExpertMatches[rule])
	}
	a.printf("items       %d, of these %d written by hand\n", r.Items, r.Expert)
	if r.UnmappedAnswers > 0 {
		a.printf("answers     %d line(s) have a field \"answer\" that is not taken: if it is a reference and not what a model said, --field answer=answer\n", r.UnmappedAnswers)
	}
	if incomplete > 0 {
		a.printf("incomplete  %d of them without a reference or a scorer, in %s\n", incomplete, filepath.Join(dir, incompleteFile))
	}
}
