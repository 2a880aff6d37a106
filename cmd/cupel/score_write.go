package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/foreign"
	"github.com/cupel-dev/cupel/stages/metric"
)

const (
	scoresFile  = evidence.OutScores
	summaryFile = evidence.OutSummary
)

// scoreDoc is summary.json. Nothing in it depends on time or on the machine.
type scoreDoc struct {
	Outputs    string                `json:"outputs"`
	Items      string                `json:"items,omitempty"`
	Source     foreign.Report        `json:"source"`
	Answers    int                   `json:"answers_per_item"` // the most that one item has, or what most items have where rows are not numbered; items with fewer have no value
	Unknown    int                   `json:"unknown"`          // answers that belong to no item
	UnknownIDs []string              `json:"unknown_ids,omitempty"`
	Duplicated []string              `json:"duplicate_ids,omitempty"` // of items with more answers, and so without a value
	Unscored   map[string]int        `json:"unscored"`                // reason -> items
	Scores     evidence.ScoreSummary `json:"scores"`
	Theirs     map[string]*theirDoc  `json:"theirs,omitempty"`
	Warnings   []string              `json:"warnings"`
}

// scoredRow is a line of scores.jsonl: a score step's, with the tool's own
// scores beside it.
type scoredRow struct {
	evidence.ScoreRow
	Theirs map[string]*float64 `json:"theirs,omitempty"`
}

// finish counts what was scored.
func (r *rescoring) finish(name string, o scoreOptions) (scoreDoc, error) {
	doc := scoreDoc{
		Outputs: name, Items: o.items, Source: r.report, Answers: r.sheet.Answers(),
		Unknown: r.sheet.Unknown, UnknownIDs: r.sheet.UnknownIDs,
		Unscored: map[string]int{}, Scores: r.sheet.Summary(), Warnings: []string{},
	}
	err := r.sheet.Rows(func(row evidence.ScoreRow) error {
		if row.Value == nil {
			doc.Unscored[reasonClass(row.Reason)]++
		}
		r.theirs.count(row, r.theirs.beside(row.ID))
		return nil
	})
	doc.Theirs = r.theirs.docs()
	var duplicated int
	if doc.Duplicated, duplicated = r.sheet.Duplicated(100); duplicated > 0 {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("%d of %d items have more than the %d answers that most have, the first %q: rows stand twice, or some are missing elsewhere; these items have no value",
			duplicated, doc.Scores.Overall.Items, doc.Answers, doc.Duplicated[0]))
	}
	doc.hideTruncation()
	doc.warn(o.labelled)
	return doc, err
}

// hideTruncation makes truncation null where the file does not say why answers
// ended: none seen is not none.
func (d *scoreDoc) hideTruncation() {
	if d.Source.NoFinish == 0 {
		return
	}
	unknown := metric.Null(metric.NotReported, "ratio")
	d.Scores.Overall.TruncationRate = unknown
	for name, g := range d.Scores.Strata {
		g.TruncationRate = unknown
		d.Scores.Strata[name] = g
	}
}

func (d *scoreDoc) warn(labelled bool) {
	add := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	if n := d.Scores.Overall.Items - d.Scores.Overall.Scored; n > 0 {
		add("%d of %d items have no value: %s", n, d.Scores.Overall.Items, reasons(d.Unscored))
	}
	if d.Unknown > 0 {
		add("%d answers belong to no item, the first to %q", d.Unknown, d.UnknownIDs[0])
	}
	if len(d.Scores.Strata) == 0 && labelled {
		add("no item has the label %q; name another with --by", d.Scores.Stratify)
	}
}

// reasonClass is a reason without what differs from item to item.
func reasonClass(reason string) string {
	if i := strings.Index(reason, "scorer-error"); i >= 0 {
		return "scorer-error"
	}
	reason, _, _ = strings.Cut(reason, " (")
	return reason
}

func reasons(counts map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(out, ", ")
}

// write puts both files in place; a reader never sees half of one.
func (r *rescoring) write(dir string, doc scoreDoc) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := replaceFile(filepath.Join(dir, scoresFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return r.sheet.Rows(func(row evidence.ScoreRow) error {
			return enc.Encode(scoredRow{row, r.theirs.beside(row.ID)})
		})
	})
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, summaryFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(doc)
	})
}

// replaceFile writes a file beside its place and moves it there.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 256<<10)
	err = errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func (a *app) printScored(doc scoreDoc, list []disagreement) error {
	if a.json {
		return a.printJSON(struct {
			scoreDoc
			Disagree []disagreement `json:"disagree,omitempty"`
		}{doc, list})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "set\titems\tscored\tmean\tcut off\tfailed")
	row := func(name string, g evidence.ScoreGroup) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", name, g.Items, g.Scored, number(g.Mean.Value, "%.4f"), percent(g.TruncationRate), percent(g.FailureRate))
	}
	row("overall", doc.Scores.Overall)
	for _, name := range slices.Sorted(maps.Keys(doc.Scores.Strata)) {
		row(name, doc.Scores.Strata[name])
	}
	w.Flush()
	a.printTheirs(doc.Theirs, list)
	for _, s := range doc.Warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", s)
	}
	a.notef("%s: %d answers; item ids from %s\n", doc.Source.Format, doc.Source.Answers, doc.Source.IDFrom)
	for _, s := range doc.Source.Unknown {
		a.notef("not known: %s\n", s)
	}
	for _, s := range doc.Source.Notes {
		a.notef("note: %s\n", s)
	}
	return nil
}

func (a *app) printTheirs(docs map[string]*theirDoc, list []disagreement) {
	if len(docs) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\ntheirs\tcompared\tours\ttheirs\tagree\ttheirs higher\ttheirs lower\tonly ours\tonly theirs")
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		d := docs[name]
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d", name, d.Compared, number(d.OurMean, "%.4f"), number(d.Mean, "%.4f"), d.Agree, d.Higher, d.Lower, d.OnlyOurs, d.OnlyTool)
		if d.Scale != "" {
			fmt.Fprint(w, "\tnot in [0,1], not compared")
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for _, d := range list {
		var theirs []string
		for _, name := range slices.Sorted(maps.Keys(d.Theirs)) {
			theirs = append(theirs, name+" "+number(d.Theirs[name], "%.4g"))
		}
		a.printf("%s  ours %s (%s)  theirs %s  %q\n", d.ID, number(d.Ours, "%.4g"), d.Reason, strings.Join(theirs, ", "), d.Answer)
	}
}

func percent(v metric.Value) string {
	if v.Value == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g %%", 100*(*v.Value))
}

// strictJSON reads one JSON value; unknown and repeated names are errors.
func strictJSON(b []byte, v any) error { return jsonv2.Unmarshal(b, v) }

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func clipRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
