package history

import (
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/stats"
)

// Change is a place in a series where its level moved by more than chance.
type Change struct {
	At         string   `json:"at"`   // the finding with which the new level begins
	From       float64  `json:"from"` // mean of the level before
	To         float64  `json:"to"`
	Delta      float64  `json:"delta"`
	Lo         float64  `json:"lo"` // simultaneous over all places that were tried
	Hi         float64  `json:"hi"`
	Before     int      `json:"before"` // rows
	After      int      `json:"after"`
	Confidence float64  `json:"confidence"`
	Changed    []string `json:"changed,omitempty"` // pins that changed with that finding
}

// least is how many rows each side of a change needs: with one there is nothing
// to tell a change from a bad day.
const least = 2

// counted is a row with a value that counts.
type counted struct {
	x     float64
	items int
	row   *Row
}

// changes splits a series where the difference of the means left and right is
// largest against its error, as long as its interval leaves out 0, and goes on
// on both sides (binary segmentation). The interval is Student's, at a level that
// Bonferroni's inequality makes hold for all splits of the series at once. To
// means of scores belongs the error of the items besides that between runs; the
// items are the same ones, so that this is on the safe side.
func changes(rows []Row, confidence float64) []Change {
	var xs []counted
	for i := range rows {
		if r := &rows[i]; r.Value != nil && !r.discarded {
			xs = append(xs, counted{*r.Value, r.Items, r})
		}
	}
	tries := len(xs) - 2*least + 1
	if tries < 1 {
		return nil
	}
	level := 1 - (1-confidence)/float64(tries)
	out := split(xs, level)
	for i := range out {
		out[i].Confidence = confidence
	}
	return out
}

func split(xs []counted, level float64) []Change {
	at, best, found := 0, Change{}, false
	score := 0.0
	for k := least; k <= len(xs)-least; k++ {
		c, t := between(xs[:k], xs[k:], level)
		if (c.Lo > 0 || c.Hi < 0) && (!found || t > score) {
			at, best, score, found = k, c, t, true
		}
	}
	if !found {
		return nil
	}
	best.At, best.Changed = xs[at].row.Finding, xs[at].row.Changed
	out := append(split(xs[:at], level), best)
	return slices.Concat(out, split(xs[at:], level))
}

// between is the interval of the difference of two means, and how large it is
// against its error. The variance is taken from both sides together: two rows
// alone can lie so close by chance that Welch's interval excludes 0 far too often
// (12 % of series of 20 rows without a change, in simulation).
func between(a, b []counted, level float64) (Change, float64) {
	ma, va, ia := moments(a)
	mb, vb, ib := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	c := Change{From: ma, To: mb, Delta: mb - ma, Before: len(a), After: len(b)}
	df := na + nb - 2
	pooled := ((na-1)*va + (nb-1)*vb) / df
	se := math.Sqrt(pooled*(1/na+1/nb) + ia + ib)
	half := stats.TQuantile(1-(1-level)/2, df) * se
	c.Lo, c.Hi = c.Delta-half, c.Delta+half
	if se == 0 {
		return c, math.Inf(1)
	}
	return c, math.Abs(c.Delta) / se
}

// moments are mean, variance between runs, and the variance of the mean that
// comes from the items: that of a proportion with one more success and failure.
func moments(xs []counted) (mean, variance, ofItems float64) {
	items := 0
	for _, x := range xs {
		mean += x.x
		items = max(items, x.items)
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		variance += (x.x - mean) * (x.x - mean)
	}
	variance /= float64(len(xs) - 1)
	if items > 0 && mean >= 0 && mean <= 1 {
		p := (mean*float64(items) + 1) / float64(items+2)
		ofItems = p * (1 - p) / float64(items)
	}
	return mean, variance, ofItems
}

// Worse reports whether the newest change of the series is one for the worse.
func (s *Series) Worse() bool {
	if len(s.Changes) == 0 {
		return false
	}
	d := s.Changes[len(s.Changes)-1].Delta
	return s.Better == "lower" && d > 0 || s.Better == "higher" && d < 0
}
