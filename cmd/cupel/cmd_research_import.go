package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/prior/table"
	"github.com/cupel-dev/cupel/stages/research/fetch"
	"github.com/cupel-dev/cupel/stages/research/library"
)

// sourceKinds are those of a campaign's sources.
var sourceKinds = []string{"model-card", "engine-cookbook", "vendor-post", "paper", "community", "advisory", "import"}

type importOptions struct {
	library.Import
	fetch, to, format string
	maps, sets        []string
}

func (a *app) researchImportCmd() *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "read benchmark tables of JSON, CSV, Markdown or saved HTML",
		Long: `Read benchmark tables into typed rows and keep the file beside them, byte for byte,
in a folder that belongs into git. Headers are mapped by the table of aliases in
docs/research.md; --map COLUMN=FIELD says what a header does not, --set FIELD=VALUE
what no column says. What cannot be read is listed with line and reason.

The same import again changes nothing; a file that changed is another version, and
the one before stays. With --fetch URL the page is got over https, once, now: a run
never fetches.

` + exitCodeTable(),
		Example: `  cupel research import card.md --source https://example.org/model --kind model-card --observed-on 2026-11-20
  cupel research import --fetch https://example.org/bench.csv --kind community --id bench --map tg=decode_tok_s --set hardware=H100`,
		Args: func(c *cobra.Command, args []string) error {
			if fetched, _ := c.Flags().GetString("fetch"); fetched == "" {
				return minimumArgs("FILE")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.importTables(c.Context(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.URL, "source", "", "`URL` of what was saved")
	f.StringVar(&o.Kind, "kind", "", strings.Join(sourceKinds, " | "))
	f.StringVar(&o.ObservedOn, "observed-on", "", "`day` on which it was saved, YYYY-MM-DD (default with --fetch: today)")
	f.StringVar(&o.PublishedOn, "published-on", "", "`day` on which it was published, where it says so")
	f.StringVar(&o.Publisher, "publisher", "", "who says it")
	f.BoolVar(&o.OwnsFact, "owns-fact", false, "the publisher made or measured what it speaks of")
	f.StringVar(&o.to, "to", researchDir, "`folder` in which sources are kept")
	f.StringVar(&o.ID, "id", "", "`name` of the source (default: of the file)")
	f.StringVar(&o.format, "format", "", "json | jsonl | csv | markdown | html (default: by the file's name)")
	f.StringArrayVar(&o.maps, "map", nil, "what a column is, `column=field` (repeatable); metric:NAME for a metric that cupel lacks, ignore for none")
	f.StringArrayVar(&o.sets, "set", nil, "what no column says, `field=value` (repeatable)")
	f.StringVar(&o.fetch, "fetch", "", "get this `URL` over https instead of reading a file")
	return c
}

// importedTable is the answer for one file.
type importedTable struct {
	File     string          `json:"file"`
	Source   string          `json:"source"`
	State    string          `json:"state"` // new | version | unchanged
	Rows     int             `json:"rows"`
	Entries  int             `json:"entries"`
	Versions int             `json:"versions"`
	Aside    []string        `json:"aside,omitempty"` // columns that are no field: kept with the rows
	Skipped  []table.Problem `json:"skipped"`
}

func (a *app) importTables(ctx context.Context, files []string, o importOptions) error {
	if err := o.check(files); err != nil {
		return err
	}
	answers, worst := []importedTable{}, error(nil)
	names := files
	if o.fetch != "" {
		names = []string{o.fetch}
	}
	for _, name := range names {
		in, err := o.load(ctx, name)
		if err == nil {
			var ans importedTable
			if ans, err = a.keepTable(o.to, name, in); err == nil {
				answers = append(answers, ans)
				continue
			}
		}
		if worst != nil {
			a.printError(worst)
		}
		worst = err
	}
	if a.json {
		if err := a.printJSON(answers); err != nil {
			return err
		}
	}
	return worst
}

func (o *importOptions) check(files []string) error {
	if o.fetch != "" {
		if len(files) > 0 {
			return fail(exitUsage, errors.New("--fetch gets one URL and takes no files"))
		}
		if o.URL == "" {
			o.URL = o.fetch
		}
		if o.ObservedOn == "" {
			o.ObservedOn = todayText()
		}
	}
	switch u, err := url.Parse(o.URL); {
	case o.URL == "":
		return fail(exitUsage, step.WithHint(errors.New("--source is missing"), "a number without its source is worth nothing: --source URL"))
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fail(exitUsage, fmt.Errorf("--source %q: want an http or https URL", o.URL))
	case u.User != nil:
		return fail(exitUsage, fmt.Errorf("--source %s: it holds credentials, which would be kept", u.Redacted()))
	}
	if !slices.Contains(sourceKinds, o.Kind) {
		return fail(exitUsage, fmt.Errorf("--kind %q: want %s", o.Kind, strings.Join(sourceKinds, ", ")))
	}
	if err := o.days(); err != nil {
		return err
	}
	if o.ID != "" && len(files) > 1 {
		return fail(exitUsage, errors.New("--id names one source, and several files were given"))
	}
	if o.format != "" && table.Formats[o.format] == nil {
		return fail(exitUsage, fmt.Errorf("--format %q: want json, jsonl, csv, markdown or html", o.format))
	}
	var err error
	if o.Map, err = pairs("--map", o.maps); err != nil {
		return err
	}
	o.Set, err = pairs("--set", o.sets)
	return err
}

// days wants published <= observed <= today.
func (o *importOptions) days() error {
	if o.ObservedOn == "" {
		return fail(exitUsage, step.WithHint(errors.New("--observed-on is missing"), "the day on which the file was saved, YYYY-MM-DD"))
	}
	if err := dayFlag("--observed-on", o.ObservedOn); err != nil {
		return err
	}
	if o.ObservedOn > todayText() {
		return fail(exitUsage, fmt.Errorf("--observed-on %s lies in the future", o.ObservedOn))
	}
	if o.PublishedOn == "" {
		return nil
	}
	if err := dayFlag("--published-on", o.PublishedOn); err != nil {
		return err
	}
	if o.PublishedOn > o.ObservedOn {
		return fail(exitUsage, step.WithHint(fmt.Errorf("--published-on %s lies after --observed-on %s", o.PublishedOn, o.ObservedOn), "nobody read it before it was published: correct one of the two days"))
	}
	return nil
}

// pairs reads NAME=VALUE; the last = divides, because headers hold some.
func pairs(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range list {
		i := strings.LastIndexByte(s, '=')
		if flag == "--set" {
			i = strings.IndexByte(s, '=')
		}
		if i < 1 || strings.TrimSpace(s[i+1:]) == "" {
			return nil, fail(exitUsage, fmt.Errorf("%s %q: want NAME=VALUE", flag, s))
		}
		name := strings.TrimSpace(s[:i])
		if _, twice := out[name]; twice {
			return nil, fail(exitUsage, fmt.Errorf("%s: %q is given twice", flag, name))
		}
		out[name] = strings.TrimSpace(s[i+1:])
	}
	return out, nil
}

// load reads a file, or fetches a page.
func (o importOptions) load(ctx context.Context, name string) (library.Import, error) {
	in := o.Import
	if o.fetch != "" {
		p, err := fetch.Client{}.Get(ctx, o.fetch)
		if err != nil {
			return in, fetchError(err)
		}
		in.Bytes, in.FinalURL, in.ContentType = p.Bytes, p.FinalURL, p.ContentType
		return o.named(in, urlPath(p.FinalURL), formatOfType(p.ContentType))
	}
	b, err := readImport(name)
	if err != nil {
		return in, fail(exitUsage, err)
	}
	in.Bytes = b
	return o.named(in, name, "")
}

func fetchError(err error) error {
	err = legible{err}
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, errors.New("interrupted; nothing was kept"))
	case errors.Is(err, step.ErrOutside):
		return fail(exitOutside, err)
	}
	return fail(exitUsage, err)
}

// named fills in format, ending and id from the name.
func (o importOptions) named(in library.Import, name, format string) (library.Import, error) {
	in.Ext = strings.ToLower(path.Ext(filepath.ToSlash(name)))
	if in.Format = o.format; in.Format == "" {
		in.Format = table.FormatOf(in.Ext)
	}
	if in.Format == "" {
		in.Format = format
	}
	if in.Format == "" {
		return in, fail(exitUsage, step.WithHint(fmt.Errorf("%s: its ending %q says no format", name, in.Ext), "name it with --format json, jsonl, csv, markdown or html"))
	}
	if table.FormatOf(in.Ext) == "" {
		in.Ext = ending[in.Format]
	}
	if in.ID == "" {
		in.ID = slug(strings.TrimSuffix(path.Base(filepath.ToSlash(name)), path.Ext(name)))
	}
	if !library.ValidID(in.ID) {
		return in, fail(exitUsage, step.WithHint(fmt.Errorf("%q is no name of a source", in.ID), "1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit: --id NAME"))
	}
	return in, nil
}

var ending = map[string]string{"json": ".json", "jsonl": ".jsonl", "csv": ".csv", "markdown": ".md", "html": ".html"}

func formatOfType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return map[string]string{"text/html": "html", "application/xhtml+xml": "html", "text/csv": "csv", "text/markdown": "markdown",
		"application/json": "json", "application/x-ndjson": "jsonl"}[strings.ToLower(strings.TrimSpace(kind))]
}

func urlPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "page"
	}
	return strings.Trim(u.Path, "/")
}

var notSlug = regexp.MustCompile(`[^a-z0-9_]+`)

func slug(name string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-_")
	return s[:min(len(s), 63)]
}

func readImport(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, step.WithHint(fmt.Errorf("%s: no such file", name), "name a file that was saved here, or get a page with --fetch URL")
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case info.Size() > table.MaxBytes:
		return nil, step.WithHint(fmt.Errorf("%s: %d bytes, allowed %d", name, info.Size(), table.MaxBytes), "save the table itself, and not the whole site")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, table.MaxBytes+1)) // one more is refused by the reader
}

// mostSkipped bounds what is printed; all of it is kept.
const mostSkipped = 20

func (a *app) keepTable(to, name string, in library.Import) (importedTable, error) {
	res, err := library.Add(to, in)
	if err != nil {
		return importedTable{}, fail(exitUsage, legible{fmt.Errorf("%s: %w", name, err)})
	}
	ans := importedTable{File: name, Source: in.ID, State: res.State, Rows: len(res.Rows), Entries: entries(res.Rows), Versions: len(res.Source.Versions), Aside: aside(res.Rows), Skipped: res.Problems}
	if ans.Skipped == nil {
		ans.Skipped = []table.Problem{}
	}
	a.reportImport(to, ans)
	return ans, nil
}

func entries(rows []table.Row) int {
	if len(rows) == 0 {
		return 0
	}
	return rows[len(rows)-1].Entry + 1
}

func aside(rows []table.Row) (out []string) {
	for _, r := range rows {
		for name := range r.Other {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (a *app) reportImport(to string, ans importedTable) {
	for i, p := range ans.Skipped {
		if i == mostSkipped {
			a.notef("%s: and %d more; cupel research show %s --in %s lists all\n", ans.File, len(ans.Skipped)-mostSkipped, ans.Source, to)
			break
		}
		a.notef("%s:%d: %s\n", ans.File, p.Line, printable(p.Reason))
	}
	if a.json {
		return
	}
	state := map[string]string{library.New: "kept", library.Another: fmt.Sprintf("kept as version %d", ans.Versions), library.Unchanged: "known already, unchanged"}[ans.State]
	a.printf("%s: %s: %d value(s) of %d line(s), %d not read; %s\n", ans.Source, state, ans.Rows, ans.Entries, len(ans.Skipped), filepath.ToSlash(filepath.Join(to, ans.Source)))
	if len(ans.Aside) > 0 {
		a.printf("  columns that are no field, kept beside the values: %s\n", printable(strings.Join(ans.Aside, ", ")))
	}
}
