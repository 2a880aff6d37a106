package spec

import (
	"fmt"
	"strconv"
)

// Point is one operating point that a serving workload measures: a cell, or
// the one step of a workload that is not made of cells.
type Point struct {
	Cell        string  // label, unique in the workload
	Concurrency int     // 0 = open loop
	Rate        float64 // req/s, open loop
	Tokens      int     // prompt length, ladder and effective-context
}

// ConcurrencyCell labels a closed-loop cell.
func ConcurrencyCell(n int) string { return "c=" + strconv.Itoa(n) }

// RateCell labels an open-loop cell.
func RateCell(perSecond float64) string { return fmt.Sprintf("rate=%v", perSecond) }

// TokensCell labels a rung or a context bucket.
func TokensCell(n int) string { return "tokens=" + strconv.Itoa(n) }

// Labels of points that are not one of a list.
const (
	TraceCell   = "trace"   // an open loop that replays a trace
	SearchCell  = "best"    // what a search found
	ContextCell = "context" // an effective-context curve as a whole
	BenchAll    = "all"     // the prompts of a bench together
)

// BenchPrompts are the prompts of a bench, in order.
var BenchPrompts = []string{"code", "tool_call", "reasoning", "long_gen"}

// Serving reports whether the workload is made of timed requests and yields
// cells that guards can name.
func (w Workload) Serving() bool {
	switch w.Kind {
	case "capacity", "open-loop", "search", "decode", "ladder", "effective-context", "prefix-burst", "replicas", "bench", "energy", "imported":
		return true
	}
	return false
}

// Points lists what is measured, in order; of is the campaign's workloads,
// which replicas and energy workloads refer to.
func (w Workload) Points(of map[string]Workload) []Point {
	switch {
	case w.Capacity != nil:
		return closed(w.Capacity.Concurrency)
	case w.Decode != nil:
		return closed(w.Decode.Concurrency)
	case w.PrefixBurst != nil:
		return closed(w.PrefixBurst.Clients)
	case w.Replicas != nil:
		if c := of[w.Replicas.Of].Capacity; c != nil {
			return closed(c.Concurrency)
		}
	case w.Energy != nil:
		return w.Energy.under(of).Points(of)
	case w.OpenLoop != nil:
		return w.OpenLoop.points()
	case w.Search != nil:
		return []Point{{Cell: SearchCell}}
	case w.Ladder != nil:
		return lengths(w.Ladder.Tokens, 1)
	case w.EffectiveContext != nil:
		return []Point{{Cell: ContextCell, Concurrency: w.EffectiveContext.Concurrency}}
	case w.Bench != nil:
		return []Point{{Cell: BenchAll, Concurrency: 1}}
	case w.Imported != nil:
		return []Point{{Cell: ImportedCell}}
	}
	return nil
}

func (o *OpenLoop) points() (out []Point) {
	if o.Arrivals.Process == "trace" {
		return []Point{{Cell: TraceCell}}
	}
	for _, r := range o.Arrivals.Rates {
		out = append(out, Point{Cell: RateCell(r), Rate: r})
	}
	return out
}

func closed(concurrency []int) (out []Point) {
	for _, n := range concurrency {
		out = append(out, Point{Cell: ConcurrencyCell(n), Concurrency: n})
	}
	return out
}

func lengths(tokens []int, concurrency int) (out []Point) {
	for _, n := range tokens {
		out = append(out, Point{Cell: TokensCell(n), Concurrency: concurrency, Tokens: n})
	}
	return out
}

// Results lists the cells that the workload's metrics have: its points, and
// for a bench each prompt as well.
func (w Workload) Results(of map[string]Workload) (cells []string) {
	if w.Energy != nil {
		return w.Energy.under(of).Results(of)
	}
	if w.Bench != nil {
		names := w.Bench.Prompts
		if len(names) == 0 {
			names = BenchPrompts
		}
		cells = append(cells, names...)
	}
	for _, p := range w.Points(of) {
		cells = append(cells, p.Cell)
	}
	return cells
}

// Repeats is the number of trials of a serving workload.
func (w Workload) Repeats(of map[string]Workload) int {
	switch {
	case w.Capacity != nil:
		return w.Capacity.Trials
	case w.OpenLoop != nil:
		return w.OpenLoop.Trials
	case w.Decode != nil:
		return w.Decode.Trials
	case w.Ladder != nil:
		return w.Ladder.Trials
	case w.PrefixBurst != nil:
		return w.PrefixBurst.Trials
	case w.Replicas != nil:
		if c := of[w.Replicas.Of].Capacity; c != nil {
			return c.Trials
		}
	case w.Energy != nil:
		return w.Energy.under(of).Repeats(of)
	}
	return 1
}

// under is the workload whose requests are sent, the zero value when there is none
// that can be: then it has no points.
func (e *Energy) under(of map[string]Workload) Workload {
	if w := of[e.Of]; Metered(w.Kind) {
		return w
	}
	return Workload{}
}
