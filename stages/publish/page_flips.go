package publish

import (
	"maps"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

// flipBar is a stratum's items that changed: lost to the left, won to the right,
// in percent of half the width of the plot.
type flipBar struct {
	Name, Lost, Won       string
	LostFrom, LostW, WonW float64 // percent of the whole width
}

// flipBars are the strata, most lost items first; none when no score changed.
func flipBars(c *evidence.Comparison) (out []flipBar) {
	most := 0
	for _, s := range c.Stats.Strata {
		most = max(most, s.Discordant.B, s.Discordant.C)
	}
	if most == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(c.Stats.Strata), func(a, b string) int {
		x, y := c.Stats.Strata[a].Discordant, c.Stats.Strata[b].Discordant
		switch {
		case x.B != y.B:
			return y.B - x.B
		case x.C != y.C:
			return x.C - y.C
		case a < b:
			return -1
		}
		return 1
	})
	for _, name := range names {
		d := c.Stats.Strata[name].Discordant
		lost, won := halfWidth(d.B, most), halfWidth(d.C, most)
		out = append(out, flipBar{Name: name, Lost: thousands(d.B), Won: thousands(d.C), LostFrom: 50 - lost, LostW: lost, WonW: won})
	}
	return out
}

func halfWidth(n, most int) float64 {
	return math.Round(48*100*float64(n)/float64(most)) / 100
}

// lostThere lists the items that the candidate lost in the stratum with the
// worst difference, where reading begins. Their texts are not in a finding.
func lostThere(c *evidence.Comparison, s scale) (stratum string, rows []flipRow, more int) {
	stratum = worstOf(c.Stats.Strata)
	for _, f := range c.Flips {
		if f.Stratum != stratum || f.B >= f.A {
			continue
		}
		if len(rows) == maxFlips {
			more++
			continue
		}
		rows = append(rows, flipRow{f.ID, f.Stratum, s.score(&f.A), s.score(&f.B)})
	}
	return stratum, rows, more
}

func worstOf(strata map[string]stats.Summary) string {
	worst, at := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		if d := strata[name].Delta; d != nil && (worst == "" || *d < at) {
			worst, at = name, *d
		}
	}
	return worst
}
