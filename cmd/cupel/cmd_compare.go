package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/compare"
	"github.com/cupel-dev/cupel/stages/decide"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

type compareOptions struct {
	stats   stats.Options
	missing string
	rule    string
}

func (a *app) compareCmd() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "two score files or two stored score outputs, paired by item, without a campaign",
		Long: `Compare two files of {"id", "score", "strata"?, "cluster"?} lines, or two score
steps of a store by name. Pairs are made by id, never by position. --rule judges
the result like a guard: pass, fail, or undetermined with the items it needs.

` + exitCodeTable(),
		Example: `  cupel compare bf16.jsonl fp8.jsonl --by task --rule 'lo > -0.02'
  cupel compare score/f16/answers/scores score/q8_0/answers/scores --interval bootstrap --generator numpy`,
		Args: exactArgs("A", "B"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c.Flags().Changed("rule")); err != nil {
				return fail(exitUsage, err)
			}
			return a.compare(args[0], args[1], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.stats.Interval, "interval", "auto", "auto, bootstrap, tango, t or bca")
	f.StringVar(&o.stats.Generator, "generator", "", "fast or numpy (bit-exact with NumPy; the default with --interval bootstrap)")
	f.IntVar(&o.stats.Resamples, "resamples", 10000, "bootstrap resamples")
	f.Uint64Var(&o.stats.Seed, "seed", 0, "bootstrap seed")
	f.Float64Var(&o.stats.Confidence, "confidence", 0.95, "confidence level")
	f.StringVar(&o.stats.By, "by", "", "also by this `label` of strata")
	f.StringVar(&o.missing, "missing", "undetermined", "items on one side only: undetermined, zero or bound")
	f.StringVar(&o.rule, "rule", "", "a guard `rule`, such as 'lo > -0.02'")
	return c
}

// check refuses numbers with which no interval means anything. An empty rule is
// an unset variable of a pipeline, and must not pass as "no rule".
func (o compareOptions) check(ruleGiven bool) error {
	switch {
	case ruleGiven && strings.TrimSpace(o.rule) == "":
		return errors.New("--rule is empty; give a rule such as 'lo > -0.02', or leave the flag out")
	case !(o.stats.Confidence >= 0.5 && o.stats.Confidence <= 0.9999):
		return fmt.Errorf("--confidence %v: want 0.5 to 0.9999", o.stats.Confidence)
	case o.stats.Resamples < 1 || o.stats.Resamples > 10_000_000:
		return fmt.Errorf("--resamples %d: want 1 to 10,000,000", o.stats.Resamples)
	}
	return nil
}

// compareAnswer is the JSON form of the result.
type compareAnswer struct {
	Overall   stats.Summary            `json:"overall"`
	Strata    map[string]stats.Summary `json:"strata"`
	Rule      *ruleAnswer              `json:"rule,omitempty"`
	Attrition evidence.Attrition       `json:"attrition"`
	Warnings  []stats.Warning          `json:"warnings"`
}

type ruleAnswer struct {
	Expr    string                 `json:"expr"`
	Verdict evidence.Verdict       `json:"verdict"`
	Where   []evidence.GuardResult `json:"where"` // overall, then each stratum
}

func (a *app) compare(nameA, nameB string, o compareOptions) error {
	if err := checkRule(o); err != nil {
		return fail(exitUsage, err)
	}
	res, err := a.compareFiles(nameA, nameB, o)
	if err != nil {
		return err
	}
	ans := compareAnswer{Overall: res.Stats.Overall, Strata: res.Stats.Strata, Attrition: res.Attrition, Warnings: res.Stats.Warnings}
	code := exitOK
	if o.rule != "" {
		d := judgeRule(o, res)
		ans.Rule = &ruleAnswer{Expr: o.rule, Verdict: d.Verdict, Where: d.Guards}
		code = verdictCode(d.Verdict)
	}
	if a.json {
		if err := a.printJSON(ans); err != nil {
			return err
		}
	} else {
		a.printComparison(ans)
	}
	return exit(code)
}

func (a *app) compareFiles(nameA, nameB string, o compareOptions) (compare.FileResult, error) {
	ra, err := a.scores(nameA)
	if err != nil {
		return compare.FileResult{}, err
	}
	defer ra.Close()
	rb, err := a.scores(nameB)
	if err != nil {
		return compare.FileResult{}, err
	}
	defer rb.Close()
	res, err := compare.Files(ra, rb, compare.FileOptions{Stats: o.stats, Missing: o.missing, NameA: nameA, NameB: nameB})
	return res, fail(exitUsage, err)
}

// scores opens a score file, or the scores of a score step in the store.
func (a *app) scores(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err == nil {
		return f, nil
	}
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(name, "score/") {
		return nil, fail(exitUsage, err)
	}
	s, err := a.storeHere(store.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec, ok := newest(s, name)
	if !ok {
		return nil, fail(exitUsage, fmt.Errorf("%s is neither a file nor a step in %s", name, s.Dir()))
	}
	out, ok := rec.Output(evidence.OutScores)
	if !ok {
		return nil, fail(exitUsage, fmt.Errorf("%s has no %s", name, evidence.OutScores))
	}
	b, err := s.Read(out.Digest)
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	return io.NopCloser(strings.NewReader(string(b))), nil
}

// ruleCampaign is a campaign with one guard over one comparison, so that a rule
// on the command line means what it means in a campaign.
func ruleCampaign(o compareOptions) *spec.Campaign {
	g := spec.Guard{On: "compare", Rule: o.rule}
	if o.stats.By != "" {
		g.Strata = "all"
	}
	return &spec.Campaign{
		Campaign:   "compare",
		Candidates: map[string]spec.Candidate{"A": {Role: "baseline"}, "B": {Role: "candidate"}},
		Measure:    map[string]spec.Workload{"compare": {Kind: "quality", Quality: &spec.Quality{Stratify: o.stats.By}}},
		Decide:     spec.Decide{Guards: map[string]spec.Guard{"rule": g}},
	}
}

func checkRule(o compareOptions) error {
	if o.rule == "" {
		return nil
	}
	for _, e := range decide.Check(ruleCampaign(o)) {
		return fmt.Errorf("--rule:%d:%d: %s", e.Line, e.Col, e.Msg)
	}
	return nil
}

func judgeRule(o compareOptions, res compare.FileResult) evidence.CandidateDecision {
	rec := &evidence.Record{
		Campaign: "compare", Baseline: "A",
		Candidates: map[string]evidence.CandidateRecord{
			"A": {Role: "baseline", Preflight: &evidence.PreflightDoc{Passed: true}},
			"B": {Role: "candidate", Preflight: &evidence.PreflightDoc{Passed: true}},
		},
		Comparisons: []evidence.Comparison{{Workload: "compare", Baseline: "A", Candidate: "B", Stats: res.Stats, Attrition: res.Attrition}},
	}
	d := decide.Decide(decide.PolicyOf(ruleCampaign(o)), rec, step.Digest{})
	return d.Candidates[0]
}

func (a *app) printComparison(ans compareAnswer) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "set\titems\tmean A\tmean B\tdelta\tinterval\tmethod\tlost/won")
	row := func(name string, s stats.Summary) {
		iv := interval(s.Lo, s.Hi)
		if s.Reason != "" {
			iv += " (" + string(s.Reason) + ")"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d/%d\n", name, s.N, number(s.MeanA, "%.4f"), number(s.MeanB, "%.4f"),
			number(s.Delta, "%+.4f"), iv, s.Method, s.Discordant.B, s.Discordant.C)
	}
	row("overall", ans.Overall)
	for _, name := range slices.Sorted(maps.Keys(ans.Strata)) {
		row(name, ans.Strata[name])
	}
	w.Flush()
	if n := ans.Attrition.Total; n > 0 {
		a.printf("%d item(s) without a pair or a score; policy %s\n", n, ans.Attrition.Policy)
	}
	for _, warn := range ans.Warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", strings.TrimSpace(warn.Stratum+" "+warn.Message))
	}
	if ans.Rule != nil {
		p := a.colors()
		a.printGuards(p, ans.Rule.Where)
		a.printf("verdict: %s\n", verdictText(p, ans.Rule.Verdict))
	}
}
