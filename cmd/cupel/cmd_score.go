package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/foreign"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm/loopback"
	"github.com/cupel-dev/cupel/stages/score"
)

// gcPercent keeps memory low where most of it is items that stay to the end: a
// fifth more CPU time for a third less memory.
const gcPercent = 70

type scoreOptions struct {
	items    string
	scorers  []string
	replace  bool
	by       string
	labelled bool // by was asked for
	out      string
	disagree int
	read     foreign.Options
}

func (a *app) scoreCmd() *cobra.Command {
	var o scoreOptions
	c := &cobra.Command{
		Use:   "score OUTPUTS",
		Short: "score stored outputs of cupel or another tool, without a campaign",
		Long: `Score outputs that are stored already, by the scorers of a campaign, and write
scores.jsonl (for cupel compare) and summary.json to --out. No model is asked.

OUTPUTS is a file, or a step or digest as 'cupel show' takes it. Read are, told
apart by content:
` + formatTable() + `
--items is a folder with suite.json, a .jsonl file, or the name of an embedded
suite; without it the outputs' own references are the answers, and --scorers says
how to compare. --scorers takes name={params} over the items' own parameters, or
a JSON file of them; with --replace its scorers stand in for those of the items.
The tool's own scores are kept beside (theirs); --disagree lists where they differ.

` + exitCodeTable(),
		Example: `  cupel score samples_gsm8k.jsonl --items gsm8k.jsonl --scorers 'numeric={"which":"last"}' --disagree 20
  cupel score measure/q8_0/answers/generate --items suites/tiny --by difficulty --out rescored`,
		Args: exactArgs("OUTPUTS"),
		RunE: func(c *cobra.Command, args []string) error {
			o.labelled = c.Flags().Changed("by")
			return a.score(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.items, "items", "", "`suite` or file of the items; without it, the outputs' own references")
	f.StringArrayVar(&o.scorers, "scorers", nil, "`name={params}` or a JSON file; repeatable")
	f.BoolVar(&o.replace, "replace", false, "score every item with --scorers, whatever it names")
	f.StringVar(&o.by, "by", "task", "`label` of the strata")
	f.StringVarP(&o.out, "out", "o", "cupel-score", "`folder` for scores.jsonl and summary.json")
	f.IntVar(&o.disagree, "disagree", 0, "list up to `N` items that the tool scored otherwise")
	f.StringVar(&o.read.ID, "id", "", "`field` of a row that holds the item's id, such as doc.id")
	f.StringVar(&o.read.Candidate, "candidate", "", "whose answers to score, where a file holds several")
	f.StringVar(&o.read.Filter, "filter", "", "lm-eval: score what this `filter` extracted, not the raw response")
	return c
}

func formatTable() string {
	var b strings.Builder
	for _, f := range foreign.Formats {
		fmt.Fprintf(&b, "  %-15s %s\n", f.Name, wrapped(f.Doc, 62, 18))
	}
	return b.String()
}

// wrapped breaks a text at spaces into lines of a width, indented but the first.
func wrapped(s string, width, indent int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		if i > 0 && n+1+len(word) > width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			n = 0
		} else if i > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

func (a *app) score(ctx context.Context, name string, o scoreOptions) error {
	began, cpu := time.Now(), loopback.CPUTime()
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	out, err := a.openOutputs(name)
	if err != nil {
		return err
	}
	defer out.close()
	sheet, err := newSheet(o)
	if err != nil {
		return fail(exitUsage, err)
	}
	defer sheet.Close()
	if o.items != "" {
		err = addItems(sheet, o.items)
	} else {
		err = addTargets(sheet, out, o)
	}
	if err != nil {
		return unreadable(err)
	}
	if unused := sheet.Unused(); len(unused) > 0 {
		return fail(exitUsage, step.WithHint(fmt.Errorf("--scorers: no item uses the scorer %s", strings.Join(unused, ", ")), "--replace scores every item with it"))
	}
	r := rescoring{sheet: sheet, theirs: theirTable{keep: o.disagree > 0}}
	if r.report, err = r.read(ctx, out, o.read); err != nil {
		return unreadable(err)
	}
	doc, err := r.finish(name, o)
	if err != nil {
		return fail(exitUsage, err)
	}
	if doc.Scores.Overall.Scored == 0 {
		return fail(exitUndetermined, r.nothing(doc))
	}
	if err := r.write(o.out, doc); err != nil {
		return fail(exitOutside, err)
	}
	if err := a.printScored(doc, r.theirs.listed(o.disagree)); err != nil {
		return err
	}
	a.notef("%s and %s written to %s\n", scoresFile, summaryFile, o.out)
	a.noteSpeed(doc.Source.Answers, time.Since(began), cpu)
	return nil
}

// unreadable tells a file that holds nothing from one that is wrong.
func unreadable(err error) error {
	switch {
	case errors.Is(err, foreign.ErrNoOutputs):
		return fail(exitUndetermined, err)
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, err)
	}
	return fail(exitUsage, err)
}

func (a *app) noteSpeed(answers int, wall time.Duration, cpu int64) {
	used := time.Duration(loopback.CPUTime() - cpu)
	if cpu < 0 || used < 0 || answers == 0 {
		return
	}
	a.notef("%d answers in %s, CPU %s, %s an answer\n", answers,
		wall.Round(time.Millisecond), used.Round(time.Millisecond), (used / time.Duration(answers)).Round(100*time.Nanosecond))
}

// rescoring is one run of cupel score.
type rescoring struct {
	sheet  *score.Sheet
	theirs theirTable
	report foreign.Report
}

// read scores every row: in parallel, and added up in the order of the file.
func (r *rescoring) read(ctx context.Context, out *outputs, o foreign.Options) (foreign.Report, error) {
	o.Workers = runtime.GOMAXPROCS(0)
	o.Work = func() func(*foreign.Row) {
		mark := r.sheet.Marker(ctx)
		return func(row *foreign.Row) { row.Mark = mark(&row.ResponseRow) }
	}
	return foreign.Read(out.name, out.r, out.size, o, func(row *foreign.Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if row.OnlyTheirs {
			r.theirs.add(row)
			return nil
		}
		known, err := r.sheet.Add(&row.ResponseRow, row.Mark.(score.Score))
		if known && err == nil {
			r.theirs.add(row)
		}
		return err
	})
}

// nothing says why no item has a value.
func (r *rescoring) nothing(doc scoreDoc) error {
	if doc.Scores.Overall.Items > 0 && r.sheet.Unknown > 0 && r.sheet.Unknown == doc.Source.Answers {
		return step.WithHint(fmt.Errorf("none of the %d answers belongs to an item: an answer's id is %q (%s), an item's is %q",
			r.sheet.Unknown, r.sheet.UnknownIDs[0], doc.Source.IDFrom, r.sheet.SomeID()), "name the field that holds the item's id with --id")
	}
	err := fmt.Errorf("none of the %d items has a value: %s", doc.Scores.Overall.Items, reasons(doc.Unscored))
	if doc.Unscored["scorer-error"] > 0 {
		return step.WithHint(err, "if the items use code or exec, allow programs to run with --scorers 'code={}'; what a judge scores needs a campaign")
	}
	return err
}

// addTargets makes items of the references that the outputs carry.
func addTargets(sheet *score.Sheet, out *outputs, o scoreOptions) error {
	if len(o.scorers) == 0 {
		return step.WithHint(errors.New("there are no items"), "give --items, or --scorers to compare with the outputs' own references")
	}
	there := map[string]bool{}
	read := o.read
	_, err := foreign.Read(out.name, out.r, out.size, read, func(row *foreign.Row) error {
		if there[row.ID] || row.Target == nil {
			return nil
		}
		there[row.ID] = true
		return sheet.AddItem(items.Item{ID: row.ID, Answer: []byte(row.Target)})
	})
	if err == nil && len(there) == 0 {
		err = step.WithHint(fmt.Errorf("%s carries no references", out.name), "give --items")
	}
	return err
}
