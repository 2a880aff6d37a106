package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

// overall is the name of the row of all items.
const overall = "overall"

// maxFlips is how many changed items a page lists; the record has more.
const maxFlips = 20

// comparisonView is a candidate against the baseline on one workload.
type comparisonView struct {
	Candidate, Baseline string
	Mark                mark
	Confidence          string
	Axis                axis
	OwnAxis             bool // not the axis of the other candidates
	Rows                []scoreRow
	Margins             []string // the rules whose margins are drawn
	HasNoise            bool
	Weighted            string
	Facts               []string
	Flips               []flipRow
	MoreFlips           int
	FlipBars            []flipBar
	Worst               string    // the stratum with the worst difference
	Lost                []flipRow // items that the candidate lost there
	MoreLost            int
}

// scoreRow is one stratum of a comparison.
type scoreRow struct {
	Name         string
	All          bool // the row of all items
	Mark         mark // worst guard on it; none when no guard looks at it
	N            string
	Lost, Won    string
	MeanA, MeanB string
	Delta        string
	Interval     string
	Method       string
	Reason       string // why there is no interval
	Noise        string // the noise floor's interval
	Flagged      bool   // worse by a one-sided test, adjusted by Holm
	Plot         forestRow
}

// flipRow is an item whose score changed.
type flipRow struct{ ID, Stratum, A, B string }

func (m pageMaker) comparison(c *evidence.Comparison, s scale, a axis) comparisonView {
	v := comparisonView{Axis: a, Candidate: c.Candidate, Baseline: c.Baseline, Mark: m.verdictOf(c.Candidate),
		Confidence: confidence(c)}
	for _, name := range rowNames(c) {
		d := m.drawn(c, name)
		row := rowOf(name, d.row, s)
		row.Plot, row.Mark = a.row(d), markOf(m.worstGuard(c, name))
		if d.noise != nil {
			v.HasNoise = v.HasNoise || row.Plot.Band != nil
			row.Noise = s.interval(d.noise.Lo, d.noise.Hi)
		}
		for _, b := range d.margins {
			if text := b.Guard + ": " + b.Text; !slices.Contains(v.Margins, text) {
				v.Margins = append(v.Margins, text)
			}
		}
		v.Rows = append(v.Rows, row)
	}
	if w := c.Stats.Weighted; w != nil {
		v.Weighted = fmt.Sprintf("%s %s %s", s.diff(&w.Delta), s.unit(), s.interval(w.Z.Bounds()))
	}
	v.Facts = facts(c, s)
	v.FlipBars = flipBars(c)
	v.Worst, v.Lost, v.MoreLost = lostThere(c, s)
	for i, f := range c.Flips {
		if i == maxFlips {
			v.MoreFlips = len(c.Flips) - maxFlips
			break
		}
		v.Flips = append(v.Flips, flipRow{f.ID, f.Stratum, s.score(&f.A), s.score(&f.B)})
	}
	return v
}

// facts are what a reader needs beside the table, in short sentences.
func facts(c *evidence.Comparison, s scale) []string {
	o := c.Stats.Overall
	out := []string{
		fmt.Sprintf("%s paired; %s lost and %s won against %s", plural(o.N, "item", "items"),
			thousands(o.Discordant.B), thousands(o.Discordant.C), c.Baseline),
		"identical answers: " + identical(c.Agreement),
		"items whose score differs: " + disagreement(o),
	}
	if s := Imputed(c); s != "" {
		out = append([]string{s}, out...)
	}
	if o.MDE80 != nil {
		out = append(out, fmt.Sprintf("a true difference of %s %s would be found with 80 %% power", strings.TrimPrefix(s.diff(o.MDE80), "+"), s.unit()))
	}
	if p := o.McNemar.Exact; p != nil {
		out = append(out, fmt.Sprintf("McNemar's exact test, two-sided: p = %.3g", *p))
	}
	return append(out, Judged(c)...)
}

// rowNames are overall, then the strata of either side by name.
func rowNames(c *evidence.Comparison) []string {
	names := map[string]bool{}
	for name := range c.Stats.Strata {
		names[name] = true
	}
	for _, side := range []evidence.ScoreSummary{c.BaselineScores, c.CandidateScores} {
		for name := range side.Strata {
			names[name] = true
		}
	}
	delete(names, "") // means overall here, as in a guard
	return append([]string{""}, slices.Sorted(maps.Keys(names))...)
}

func (m pageMaker) drawn(c *evidence.Comparison, stratum string) drawn {
	d := drawn{row: summaryOf(c.Stats, stratum)}
	if floor := m.floor(c); floor != nil {
		n := summaryOf(floor.Stats, stratum)
		d.noise = &n
	}
	for _, g := range m.guardsOn(c, stratum) {
		d.margins = append(d.margins, boundsOf(g)...)
	}
	return d
}

// summaryOf returns a stratum; one that lost all its items has a reason for
// everything.
func summaryOf(r stats.Result, stratum string) stats.Summary {
	if stratum == "" {
		return r.Overall
	}
	if s, ok := r.Strata[stratum]; ok {
		return s
	}
	return stats.Summary{Reason: stats.ReasonNoItems}
}

// floor is the noise floor of a comparison's workload.
func (m pageMaker) floor(c *evidence.Comparison) *evidence.NoiseFloor {
	if c.Noise != nil {
		return c.Noise
	}
	for i := range m.rec.Noise {
		if n := &m.rec.Noise[i]; n.Workload == c.Workload && n.Candidate == c.Baseline {
			return n
		}
	}
	return nil
}

func (m pageMaker) guardsOn(c *evidence.Comparison, stratum string) []evidence.GuardResult {
	var out []evidence.GuardResult
	for _, d := range m.dec.Candidates {
		if d.Candidate != c.Candidate {
			continue
		}
		for _, g := range d.Guards {
			if g.On == c.Workload && g.Stratum == stratum && g.Cell == "" {
				out = append(out, g)
			}
		}
	}
	return out
}

func (m pageMaker) worstGuard(c *evidence.Comparison, stratum string) evidence.Verdict {
	var v evidence.Verdict
	for _, g := range m.guardsOn(c, stratum) {
		v = worse(v, g.Verdict)
	}
	return v
}

func (m pageMaker) verdictOf(candidate string) mark {
	for _, d := range m.dec.Candidates {
		if d.Candidate == candidate {
			return markOf(d.Verdict)
		}
	}
	return markOf("")
}

func rowOf(name string, s stats.Summary, sc scale) scoreRow {
	row := scoreRow{
		Name: name, Mark: markOf(""), N: thousands(s.N),
		Lost: thousands(s.Discordant.B), Won: thousands(s.Discordant.C),
		MeanA: sc.score(s.MeanA), MeanB: sc.score(s.MeanB), Delta: sc.diff(s.Delta),
		Interval: sc.interval(s.Lo, s.Hi), Method: s.Method, Noise: none,
		Flagged: s.Regression != nil && s.Regression.Flagged,
	}
	if name == "" {
		row.Name, row.All = overall, true
	}
	if row.Interval == none {
		row.Reason = string(s.Reason)
		if row.Reason == "" {
			row.Reason = "absent"
		}
	}
	return row
}

func identical(a evidence.TextAgreement) string {
	if a.Compared == 0 {
		return "none could be compared"
	}
	return fmt.Sprintf("%s of %s (%s)", thousands(a.Identical), thousands(a.Compared), percent(float64(a.Identical)/float64(a.Compared)))
}

func disagreement(s stats.Summary) string {
	d := s.Disagreement
	if d.Rate == nil {
		return none
	}
	text := percent(*d.Rate)
	if d.Lo != nil && d.Hi != nil {
		text += fmt.Sprintf(" [%s, %s]", percent(*d.Lo), percent(*d.Hi))
	}
	return text
}

// confidence is the level of a comparison's intervals: 95 %. A set without
// items has none, so any stratum's will do.
func confidence(c *evidence.Comparison) string {
	level := c.Stats.Overall.Confidence
	for _, s := range c.Stats.Strata {
		level = max(level, s.Confidence)
	}
	if level <= 0 {
		return ""
	}
	return fmt.Sprintf("%.4g %%", 100*level)
}
