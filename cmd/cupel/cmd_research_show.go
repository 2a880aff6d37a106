package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/prior"
	"github.com/cupel-dev/cupel/stages/prior/table"
	"github.com/cupel-dev/cupel/stages/research/library"
)

func (a *app) researchListCmd() *cobra.Command {
	var dir, day string
	c := &cobra.Command{
		Use:   "list",
		Short: "list the sources that are kept, with their age",
		Long: `List the sources that are kept: kind, days, age, values. The age is counted from
publication to --today: current up to 60 days, aging up to 120, stale after that,
unknown where the source does not say when it was published.

` + exitCodeTable(),
		Example: `  cupel research list
  cupel research list --in research --today 2026-11-20`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error { return a.listSources(dir, day) },
	}
	c.Flags().StringVar(&dir, "in", researchDir, "`folder` in which sources are kept")
	c.Flags().StringVar(&day, "today", "", "`day` to which ages are counted (default: today)")
	return c
}

// listed source, as --json prints it.
type listedSource struct {
	library.Source
	AgeDays *int   `json:"age_days"`
	Age     string `json:"age"`
}

func (a *app) listSources(dir, day string) error {
	if day == "" {
		day = todayText()
	} else if err := dayFlag("--today", day); err != nil {
		return err
	}
	all, err := library.List(dir)
	if err != nil {
		return libraryError(dir, err)
	}
	out := []listedSource{}
	for _, s := range all {
		days, class := prior.Age(s.Latest().PublishedOn, day)
		out = append(out, listedSource{s, days, class})
	}
	if a.json {
		return a.printJSON(out)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "source\tkind\tpublished\tobserved\tage\tvalues\tversions\turl")
	for _, s := range out {
		v := s.Latest()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", printable(s.ID), printable(s.Kind), orDash(printable(v.PublishedOn)), printable(v.ObservedOn),
			ageOf(s.AgeDays, s.Age), v.Rows.Lines, len(s.Versions), printable(s.URL))
	}
	return w.Flush()
}

func (a *app) researchShowCmd() *cobra.Command {
	var dir string
	var number int
	c := &cobra.Command{
		Use:   "show SOURCE",
		Short: "show a source: its versions, its values, what was not read",
		Long: `Show one source that is kept. Snapshot and rows are verified against their digests;
a file that was changed by hand fails with exit code 1.

` + exitCodeTable(),
		Example: `  cupel research show model-card
  cupel research show bench --in research --version 1 --json`,
		Args: exactArgs("SOURCE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.showSource(dir, args[0], number) },
	}
	c.Flags().StringVar(&dir, "in", researchDir, "`folder` in which sources are kept")
	c.Flags().IntVar(&number, "version", 0, "this version, from 1 (default: the newest)")
	return c
}

func (a *app) showSource(dir, id string, number int) error {
	s, err := library.Open(dir, id)
	if err != nil {
		return libraryError(dir, err)
	}
	if number == 0 {
		number = len(s.Versions)
	}
	if number < 1 || number > len(s.Versions) {
		return fail(exitUsage, fmt.Errorf("--version %d: source %s has %d version(s)", number, id, len(s.Versions)))
	}
	v := s.Versions[number-1]
	if _, err := library.Snapshot(dir, s, v); err != nil {
		return libraryError(dir, err)
	}
	rows, err := library.Rows(dir, s, v)
	if err != nil {
		return libraryError(dir, err)
	}
	skipped, err := library.Skipped(dir, s, v)
	if err != nil {
		return libraryError(dir, err)
	}
	if a.json {
		return a.printJSON(map[string]any{"source": s, "version": number, "rows": rows, "skipped": skipped})
	}
	a.printSource(s, v, number, rows, skipped)
	return nil
}

func (a *app) printSource(s library.Source, v library.Version, number int, rows []table.Row, skipped []table.Problem) {
	a.printf("%s\n", printable(s.ID+"  "+s.Kind+"  "+s.URL))
	if s.Publisher != "" {
		owns := ""
		if s.OwnsFact {
			owns = ", owns the fact"
		}
		a.printf("publisher %s%s\n", printable(s.Publisher), owns)
	}
	a.printf("version %d of %d: observed %s, published %s, %s then\n", number, len(s.Versions), printable(v.ObservedOn), orDash(printable(v.PublishedOn)), ageAt(v, v.ObservedOn))
	a.printf("snapshot %s, %d bytes, sha256 %s\n", printable(v.Snapshot.Name), v.Snapshot.Size, v.Snapshot.Digest)
	if v.FinalURL != "" {
		a.printf("fetched from %s\n", printable(v.FinalURL+", "+v.ContentType))
	}
	a.printf("\n")
	printRows(a.stdout, rows)
	if len(skipped) > 0 {
		a.printf("\nnot read:\n")
	}
	for _, p := range skipped {
		a.printf("  line %d: %s\n", p.Line, printable(p.Reason))
	}
}

func printRows(out io.Writer, rows []table.Row) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "line\tmodel\thardware\tengine\tquantisation\tcontext\tconcurrency\tmetric\tvalue\tas written\tnotes")
	for _, r := range rows {
		cells := []string{r.Model, orDash(r.Hardware), orDash(r.Engine), orDash(r.Quantisation), number(r.Context, "%.0f"), whole(r.Concurrency),
			r.Metric, withUnit(&r.Value, r.Unit), r.Written, rowNotes(r)}
		fmt.Fprintf(w, "%d", r.Line)
		for _, c := range cells {
			fmt.Fprintf(w, "\t%s", printable(c))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

func rowNotes(r table.Row) string {
	var out []string
	if r.Speculative != "" {
		out = append(out, "speculative "+r.Speculative)
	}
	if r.Caching != "" {
		out = append(out, "caching "+r.Caching)
	}
	return strings.Join(out, ", ")
}

func whole(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
