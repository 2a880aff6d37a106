package scrape

import (
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// window is the looks at one engine, in order of time.
type window struct {
	e             int // index in engines
	model         string
	frames        []frame
	before, after int    // the last look before the cell and the first one after it, -1 = none
	mixed         bool   // several models and no way to tell ours
	broken        string // why there are no differences at all, "" = there are
}

func newWindow(e int, frames []frame, model string) window {
	w := window{e: e, frames: frames, before: -1, after: -1}
	for i, f := range frames {
		if f.phase == PhaseBefore {
			w.before = i
		}
		if f.phase == PhaseAfter && w.after < 0 {
			w.after = i
		}
	}
	w.chooseModel(model)
	switch {
	case w.mixed:
		w.broken = metric.SeveralModels
	case w.before < 0 || w.after < w.before:
		w.broken = metric.NoScrapePair
	case w.restarted():
		w.broken = metric.CounterReset
	}
	return w
}

// chooseModel: one model on the server is ours whatever it is called, because a
// model has aliases; of several only the one that was asked for counts.
func (w *window) chooseModel(asked string) {
	var names []string
	for _, f := range w.frames {
		names = append(names, f.models(w.e)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) < 2:
	case slices.Contains(names, asked):
		w.model = asked
	default:
		w.mixed = true
	}
}

// restarted says whether the process was another one at some look.
func (w window) restarted() bool {
	var first float64
	for _, f := range w.frames[w.before : w.after+1] {
		if !(f.started > 0) {
			continue
		}
		if first != 0 && f.started != first {
			return true
		}
		first = f.started
	}
	return false
}

// difference is by how much a counter grew over the cell, or the reason code
// why that is not known. Series are followed one by one, because a sum over two
// engines can grow while one of them restarts.
func (w window) difference(name string, s source, replicas []string) (float64, string) {
	if w.broken != "" {
		return 0, w.broken
	}
	first, last := w.frames[w.before], w.frames[w.after]
	end := last.series(name, s, w.model)
	start := map[string]float64{}
	for _, p := range first.series(name, s, w.model) {
		start[p.key] = p.value
	}
	if len(end) == 0 && len(start) == 0 {
		if last.declares(name) {
			return 0, ""
		}
		return 0, metric.NotReported
	}
	if w.wentBack(name, s) {
		return 0, metric.CounterReset
	}
	grown, ok := growth(start, end, first.whole)
	if !ok {
		return 0, metric.NotReported
	}
	sum := 0.0
	for _, v := range merge(grown, replicas) {
		sum += v
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, metric.NotFinite
	}
	return sum, ""
}

// growth is by how much each series grew. A series that was not there before
// began at 0: labelled counters appear with their first increment. It is not ok
// when a look lost lines, so that this cannot be told.
func growth(start map[string]float64, end []point, whole bool) (grown []point, ok bool) {
	met := 0
	for _, p := range end {
		was, ok := start[p.key]
		if !ok && !whole {
			return nil, false
		}
		if ok {
			met++
		}
		grown = append(grown, point{labels: p.labels, value: p.value - was})
	}
	return grown, met == len(start)
}

// wentBack says whether a series fell or vanished between two looks, or is below
// 0, where every counter begins: a server that restarts in the middle may have
// overtaken its old count by the end.
func (w window) wentBack(name string, s source) bool {
	known := map[string]float64{}
	for _, f := range w.frames[w.before : w.after+1] {
		before, met := len(known), 0
		for _, p := range f.series(name, s, w.model) {
			was, ok := known[p.key]
			if p.value < was || p.value < 0 {
				return true
			}
			if ok {
				met++
			}
			known[p.key] = p.value
		}
		if f.whole && met < before {
			return true
		}
	}
	return false
}
