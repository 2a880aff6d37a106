package score

import (
	"fmt"
	"strings"
)

// comparer compares calls with those that are expected.
type comparer struct {
	p  toolCallParams
	eq equality
}

// compare returns the value and what is wrong with each call. Whether all is
// right is decided by counts, not by comparing a sum of shares with 1.
func (c comparer) compare(got, want []call) (value float64, reason string) {
	gain := make([][]float64, len(want))
	for i, w := range want {
		gain[i] = make([]float64, len(got))
		for j, g := range got {
			gain[i][j] = c.share(g, w)
		}
	}
	pairs := c.pair(gain, len(got))
	sum, right := 0.0, 0
	var notes []string
	taken := make([]bool, len(got))
	for i, j := range pairs {
		if j < 0 || got[j].name != want[i].name {
			notes = append(notes, "missing call "+clip(want[i].name))
			continue
		}
		taken[j] = true
		if gain[i][j] > nameAlone {
			sum += gain[i][j]
		}
		if wrong := c.wrong(got[j], want[i]); len(wrong) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s", clip(want[i].name), strings.Join(wrong, ", ")))
			continue
		}
		right++
	}
	extra := 0
	for j, used := range taken {
		if !used {
			extra++
			notes = append(notes, "extra call "+clip(got[j].name))
		}
	}
	return c.value(sum, right, len(want), extra), c.reason(notes, len(want))
}

func (c comparer) value(sum float64, right, want, extra int) float64 {
	if c.p.ExtraCalls {
		extra = 0
	}
	if right == want && extra == 0 {
		return 1
	}
	if !c.p.Partial {
		return 0
	}
	return min(1, sum/float64(want+extra))
}

func (c comparer) reason(notes []string, want int) string {
	switch {
	case len(notes) > 0:
		return strings.Join(notes, "; ")
	case want == 0:
		return "no tool was called, as expected"
	}
	return fmt.Sprintf("%d of %d calls", want, want)
}

// pair returns for each expected call the one of the answer that it is
// compared with, -1 for none.
func (c comparer) pair(gain [][]float64, got int) []int {
	if c.p.Order {
		return alignInOrder(gain, got)
	}
	return assign(gain, got)
}

// nameAlone is the gain of pairing two calls of one name that share nothing
// else. It makes them a pair, and is worth nothing.
const nameAlone = 1e-9

// share is how much of an expected call another is: 0 for another name, else
// the share of arguments that are right, or nameAlone when none is.
func (c comparer) share(got, want call) float64 {
	if got.name != want.name {
		return 0
	}
	if want.args == nil {
		return 1
	}
	if got.bad != "" {
		return nameAlone
	}
	total, right := len(want.args), 0
	for name, w := range want.args {
		if g, ok := got.args[name]; ok && c.eq.difference("", g, w) == "" {
			right++
		}
	}
	for name := range got.args {
		if _, ok := want.args[name]; !ok && !c.p.ExtraArgs {
			total++
		}
	}
	if total == 0 {
		return 1
	}
	return max(nameAlone, float64(right)/float64(total))
}

// wrong lists what is wrong with the arguments of a call, by name.
func (c comparer) wrong(got, want call) []string {
	if want.args == nil {
		return nil
	}
	if got.bad != "" {
		return []string{got.bad}
	}
	var notes []string
	for _, name := range keys(want.args) {
		g, ok := got.args[name]
		if !ok {
			notes = append(notes, "argument "+clip(name)+" is missing")
			continue
		}
		if d := c.eq.difference(name, g, want.args[name]); d != "" {
			notes = append(notes, d)
		}
	}
	for _, name := range keys(got.args) {
		if _, ok := want.args[name]; !ok && !c.p.ExtraArgs {
			notes = append(notes, "argument "+clip(name)+" is not expected")
		}
	}
	return notes
}

// alignInOrder pairs rows with columns without crossing so that the sum of
// gain is largest.
func alignInOrder(gain [][]float64, columns int) []int {
	best := make([][]float64, len(gain)+1) // best[i][j]: rows from i, columns from j
	for i := range best {
		best[i] = make([]float64, columns+1)
	}
	for i := len(gain) - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+gain[i][j])
		}
	}
	pairs := make([]int, len(gain))
	for i, j := 0, 0; i < len(gain); {
		switch {
		case j < columns && gain[i][j] > 0 && best[i][j] == best[i+1][j+1]+gain[i][j]:
			pairs[i] = j
			i, j = i+1, j+1
		case j < columns && best[i][j] == best[i][j+1]:
			j++
		default:
			pairs[i] = -1
			i++
		}
	}
	return pairs
}
