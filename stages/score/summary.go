package score

import (
	"cmp"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Reason codes of a summary.
const (
	ReasonNoAnswers = "no-answers" // nothing was stored for the group
	ReasonUnscored  = "unscored"   // no item of the group has a value
)

// summary counts overall and by stratum. Items that do not carry the label are
// counted overall only.
func (b *book) summary() evidence.ScoreSummary {
	overall, strata := newGroup(), map[string]*group{}
	scorers := map[string]string{}
	for _, id := range keys(b.tallies) {
		t := b.tallies[id]
		for _, s := range strings.Split(t.id, "+") {
			if i := strings.LastIndexByte(s, '/'); i > 0 {
				scorers[s[:i]] = s[i+1:]
			}
		}
		overall.add(t, b.params.Answers)
		stratum, ok := t.item.Strata[b.params.Stratify]
		if !ok {
			continue
		}
		if strata[stratum] == nil {
			strata[stratum] = newGroup()
		}
		strata[stratum].add(t, b.params.Answers)
	}
	for name, languages := range b.compiler.env.used {
		for _, l := range languages {
			scorers[name] += "; " + l + " " + cmp.Or(b.params.Runtimes[l], "none")
		}
	}
	out := evidence.ScoreSummary{
		Stratify: b.params.Stratify, Overall: overall.finish(),
		Strata: map[string]evidence.ScoreGroup{}, Scorers: scorers,
	}
	for name, g := range strata {
		out.Strata[name] = g.finish()
	}
	for name, p := range b.params.Scorers {
		if out.Params == nil {
			out.Params = map[string]any{}
		}
		out.Params[name] = p
	}
	return out
}

// group adds up the tallies of some items.
type group struct {
	items, answers, truncated, failed int
	values                            []float64
	failures                          map[string]int
	prompt, output                    tokens
}

func newGroup() *group { return &group{failures: map[string]int{}} }

func (g *group) add(t *tally, answers int) {
	g.items++
	g.answers += t.seen
	g.truncated += t.truncated
	g.failed += t.failed
	if v := t.value(answers); v != nil {
		g.values = append(g.values, *v)
	}
	for class, n := range t.classes {
		g.failures[class] += n
	}
	g.prompt.sum, g.prompt.known = g.prompt.sum+t.prompt.sum, g.prompt.known+t.prompt.known
	g.output.sum, g.output.known = g.output.sum+t.output.sum, g.output.known+t.output.known
}

func (g *group) finish() evidence.ScoreGroup {
	mean := metric.Null(ReasonUnscored, "score")
	if len(g.values) > 0 {
		mean = metric.Of(stats.Mean(g.values), "score")
	}
	return evidence.ScoreGroup{
		Items: g.items, Scored: len(g.values), Mean: mean,
		TruncationRate: metric.Ratio(float64(g.truncated), float64(g.answers), "ratio", ReasonNoAnswers),
		FailureRate:    metric.Ratio(float64(g.failed), float64(g.answers), "ratio", ReasonNoAnswers),
		Failures:       g.failures,
		OutputTokens:   g.output.value(g.answers),
		PromptTokens:   g.prompt.value(g.answers),
	}
}

// value is the sum when every answer reported a count.
func (t tokens) value(answers int) metric.Value {
	switch {
	case answers == 0:
		return metric.Null(ReasonNoAnswers, "tokens")
	case t.known < answers:
		return metric.Null(metric.NotReported, "tokens")
	}
	return metric.Of(float64(t.sum), "tokens")
}
