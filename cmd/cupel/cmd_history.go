package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/history"
	"github.com/cupel-dev/cupel/stages/publish"
)

type historyOptions struct {
	ask        history.Ask
	in         []string
	confidence float64
	failOn     string
}

func (a *app) historyCmd() *cobra.Command {
	var o historyOptions
	c := &cobra.Command{
		Use:   "history METRIC",
		Short: "one metric through the findings, and where it changed",
		Long: `Follow a metric of the dictionary (cupel metrics) through published findings: mean,
throughput_tok_s, ttft_ms.p50; of energy with base and window as rules write them:
energy.nv_gpu.cell.j_per_output_token. Rows stand in one series only where candidate, workload
with its items, scorers, sampling, reasoning control and hardware were the same; what
keeps two apart is said. The pins that changed stand beside the rows.

A change is a split of the series of which the difference of the levels, with an
interval that holds for all splits at once, leaves out 0; each side needs two rows.
Cells that were client-bound or found their prompts in a cache, and a measurement that
an earlier finding has already, are shown and not counted. For two runs on the same items, 'cupel compare' is sharper.

--fail-on worse ends in exit code 1 when the newest change of a series is one for the
worse.

` + exitCodeTable(),
		Example: `  cupel history ttft_ms.p50 --workload load --cell c=4
  cupel history mean --in findings --in ../last-year/findings --candidate current --fail-on worse`,
		Args: exactArgs("METRIC"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.ask.Metric = args[0]
			return a.history(o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.in, "in", []string{"findings"}, "`folder` of findings (repeatable)")
	f.StringVar(&o.ask.Workload, "workload", "", "of this workload alone")
	f.StringVar(&o.ask.Candidate, "candidate", "", "of this candidate alone")
	f.StringVar(&o.ask.Place, "cell", "", "of this cell alone, such as c=4")
	f.StringVar(&o.ask.Place, "stratum", "", "of this stratum alone; overall for none")
	f.Float64Var(&o.confidence, "confidence", 0.95, "level of the intervals of a series together")
	f.StringVar(&o.failOn, "fail-on", "", "worse: exit code 1 when the newest change is for the worse")
	return c
}

func (a *app) history(o historyOptions) error {
	switch {
	case !(o.confidence >= 0.5 && o.confidence <= 0.9999):
		return fail(exitUsage, fmt.Errorf("--confidence %v: want 0.5 to 0.9999", o.confidence))
	case o.failOn != "" && o.failOn != "worse":
		return fail(exitUsage, fmt.Errorf("--fail-on %q: want worse", o.failOn))
	}
	findings, left, err := a.readFindings(o.in)
	if err != nil {
		return err
	}
	series, err := history.Of(findings, o.ask, o.confidence)
	if err != nil {
		return fail(exitFailed, err)
	}
	if len(series) == 0 {
		return fail(exitUndetermined, step.WithHint(fmt.Errorf("%d finding(s), and none has %s there", len(findings), o.ask.Metric),
			"see `cupel metrics`; a distribution needs its statistic, such as ttft_ms.p50"))
	}
	if a.json {
		if err := a.printJSON(series); err != nil {
			return err
		}
	} else {
		for _, s := range series {
			a.printSeries(s)
		}
	}
	if o.failOn == "worse" && slices.ContainsFunc(series, (*history.Series).Worse) {
		return exit(exitFailed)
	}
	if o.failOn != "" && left > 0 {
		return fail(exitUndetermined, fmt.Errorf("%d finding(s) could not be read, so that nothing can be said of what they show", left))
	}
	return nil
}

// Bounds of what is read: a folder of ten years of nightly runs fits.
const (
	maxFindings    = 10_000
	maxFindingFile = 64 << 20
)

// readFindings reads every folder with a record. One that cannot be read is
// named and left out: a broken finding must not hide the others.
func (a *app) readFindings(dirs []string) (out []history.Finding, left int, err error) {
	seen := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, 0, fail(exitUsage, step.WithHint(err, "name the folder with --in"))
		}
		invalid, err := publish.ReadInvalid(dir)
		if err != nil {
			return nil, 0, fail(exitFailed, err)
		}
		for _, e := range entries {
			at := filepath.Join(dir, e.Name())
			if _, err := os.Lstat(filepath.Join(at, "record.json")); !e.IsDir() || err != nil {
				continue
			}
			if len(out) == maxFindings {
				return nil, 0, fail(exitUsage, fmt.Errorf("more than %d findings; name fewer folders", maxFindings))
			}
			f, digest, err := readFinding(at, e.Name())
			if err != nil {
				fmt.Fprintf(a.stderr, "cupel: left out: %s\n", printable(err.Error()))
				left++
				continue
			}
			if first, twice := seen[digest.String()]; twice {
				a.notef("%s is the same as %s and is counted once\n", at, first)
				continue
			}
			seen[digest.String()] = at
			if i, is := invalid[digest]; is {
				f.Invalid = publish.HistoricalInvalid + ": " + i.Reason
			}
			out = append(out, f)
		}
	}
	return out, left, nil
}

// readFinding reads the record and the campaign of one finding, and holds both
// against the finding's checksums, and the campaign against the hash in the record.
func readFinding(dir, name string) (f history.Finding, digest step.Digest, err error) {
	raw, err := diskfile.Read(filepath.Join(dir, "record.json"), maxFindingFile)
	if err != nil {
		return f, digest, err
	}
	f = history.Finding{Name: name, Record: new(evidence.Record)}
	if err := json.Unmarshal(raw, f.Record); err != nil {
		return f, digest, fmt.Errorf("%s: record.json: %w", dir, err)
	}
	if !strings.HasPrefix(f.Record.Schema, "cupel/record/") {
		return f, digest, fmt.Errorf("%s: record.json: schema %.40q is not cupel's", dir, f.Record.Schema)
	}
	if f.Spec, err = diskfile.Read(filepath.Join(dir, "spec.json"), maxFindingFile); err != nil {
		return f, digest, err
	}
	sums, err := diskfile.Read(filepath.Join(dir, "SHA256SUMS"), maxFindingFile)
	if err != nil {
		return f, digest, err
	}
	for name, content := range map[string][]byte{"record.json": raw, "spec.json": f.Spec} {
		if !slices.Contains(strings.Split(string(sums), "\n"), step.Sum(content).String()+"  "+name) {
			return f, digest, fmt.Errorf("%s: %s is not what SHA256SUMS says", dir, name)
		}
	}
	if canon, err := step.Canonical(f.Spec); err != nil || step.SpecDigest(canon) != f.Record.SpecHash {
		return f, digest, fmt.Errorf("%s: spec.json is not the campaign that the record is about", dir)
	}
	return f, step.Sum(raw), nil
}

func (a *app) printSeries(s *history.Series) {
	p := a.colors()
	a.printf("\n%s\n", p.bold(fmt.Sprintf("%s, %s, %s, %s", s.Metric, s.Workload, s.Place, s.Candidate)))
	if s.Apart != "" {
		a.printf("  a series of its own: %s\n", s.Apart)
	}
	for _, d := range s.Doubts {
		a.printf("  %s\n", d)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, r := range s.Rows {
		note := strings.TrimPrefix(strings.Join(append([]string{r.Reason}, r.Changed...), "; "), "; ")
		fmt.Fprintf(w, "  %s\t%s\t%s %s\t%s\n", printable(r.Date), printable(r.Finding), number(r.Value, "%.5g"), s.Unit, printable(note))
	}
	w.Flush()
	for _, c := range s.Changes {
		line := fmt.Sprintf("  changed with %s: %.5g -> %.5g %s, %+.4g [%+.4g, %+.4g] at %.4g %%", c.At, c.From, c.To, s.Unit, c.Delta, c.Lo, c.Hi, 100*c.Confidence)
		if len(c.Changed) > 0 {
			line += "; then " + strings.Join(c.Changed, "; ")
		}
		a.printf("%s\n", line)
	}
	if len(s.Changes) == 0 && len(s.Rows) > 1 {
		a.printf("  no change is told from chance\n")
	}
}
