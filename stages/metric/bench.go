package metric

import (
	"fmt"
	"slices"
	"strings"
)

// BenchAll names the cell of a bench's groups together.
const BenchAll = "all"

// tokPerSecFloor is the generation time in ns below which M1 is null: of one
// piece of text, or a few tokens, it is a quotient of noise.
const tokPerSecFloor = 10e6

// NewBench derives the cells of a bench: one per group of requests, in the
// order in which the groups first appear, and one of all named [BenchAll]. o's
// name is not used. The headline of each is the median of TokPerSec; the
// nearest rank of an even number of runs is the lower of the middle two.
//
// A group's wall is the time of its own requests; what is said about the client
// and the engine was measured over the whole bench, and stands in every cell.
func NewBench(o CellOptions, trials []Trial) []Cell {
	o.Name = BenchAll
	all := NewCell(o, trials)
	all.bench(o, trials)
	var cells []Cell
	for _, g := range groups(trials) {
		o.Name = g
		of := ofGroup(trials, g)
		c := cellOfTrials(o, of, true)
		c.bench(o, of)
		for i := range c.PerTrial {
			c.PerTrial[i].shared(all.PerTrial[i])
			c.PerTrial[i].say(c.PerTrial[i].gapsDoubt(), &c.PerTrial[i].GapsUncertain)
		}
		c.shared(all)
		c.gapsOfTrials()
		cells = append(cells, c)
	}
	return append(cells, all)
}

// bench fills asiai's M1 and M8 into the cell and its trials.
func (c *Cell) bench(o CellOptions, trials []Trial) {
	c.TokPerSec = TokPerSec(o, trials)
	runs, why := runsOf(o, trials)
	if why != "" {
		c.StdDevTokS, c.TokPerSecCV = Null(why, unitTokS), Null(why, unitPct)
	} else {
		c.StdDevTokS = StdDevPooled(runs, unitTokS)
		c.TokPerSecCV = CV(runs)
	}
	c.Stability = Stability(c.TokPerSecCV)
	for i := range c.PerTrial {
		c.PerTrial[i].bench(o, trials[i:i+1])
	}
}

// TokPerSec is asiai's M1 over all runs of the trials.
func TokPerSec(o CellOptions, trials []Trial) Dist {
	runs, why := runsOf(o, trials)
	if why != "" {
		return Dist{Unit: unitTokS, Reason: why}
	}
	return NewDist(slices.Concat(runs...), unitTokS, NoRequests)
}

// runsOf are the rates of the runs by group. One run without a rate leaves the
// bench without: an engine that fails its slow prompts must not win by it.
func runsOf(o CellOptions, trials []Trial) (runs [][]float64, why string) {
	names := groups(trials)
	runs = make([][]float64, len(names))
	for _, t := range trials {
		for i := range t.Requests {
			r := &t.Requests[i]
			if r.Outcome() != "" {
				return nil, IncompleteCell
			}
			s := r.tokPerSec(o.Protocol)
			if !s.there() {
				return nil, s.reason()
			}
			g := slices.Index(names, r.Group)
			runs[g] = append(runs[g], s.v)
		}
	}
	if len(runs) == 0 {
		return nil, NoRequests
	}
	return runs, ""
}

// tokPerSec is asiai's M1: output tokens over the time after the first token,
// or over the engine's own decode time where it reports one. The engine counts
// reasoning too, so streamed reasoning is output.
func (r *Request) tokPerSec(p Protocol) sample {
	if r.OutputTokens == nil {
		return none(NoUsage)
	}
	ns := r.ServerDecode
	if ns <= 0 {
		if r.Unstreamed {
			return none(NotStreamed)
		}
		if why := r.noStart(); why != "" {
			return none(why)
		}
		if r.ReasoningChunks > 0 {
			p = CapacityV4Reasoning
		}
		ns = r.generation(p)
	}
	if ns < tokPerSecFloor {
		return none(TooBrief)
	}
	return per(float64(*r.OutputTokens), seconds(ns), ZeroDuration)
}

// groups are the groups' names in order of their first request.
func groups(trials []Trial) (names []string) {
	for _, t := range trials {
		for i := range t.Requests {
			if g := t.Requests[i].Group; !slices.Contains(names, g) {
				names = append(names, g)
			}
		}
	}
	return names
}

// ofGroup are the trials as if only one group's requests had run.
func ofGroup(trials []Trial, group string) []Trial {
	out := make([]Trial, len(trials))
	for i, t := range trials {
		one := Trial{CPUNS: -1, StartUnixNS: t.StartUnixNS, WrongState: t.WrongState}
		for _, r := range t.Requests {
			if r.Group != group {
				continue
			}
			one.Requests = append(one.Requests, r)
			one.WallNS += max(r.End, 0)
		}
		out[i] = one
	}
	return out
}

// shared takes over what was measured over the whole bench.
func (c *Cell) shared(all Cell) {
	c.ClientOverhead, c.ClientLag, c.InFlightMean = all.ClientOverhead, all.ClientLag, all.InFlightMean
	c.LittleRatio, c.UsageRatio = all.LittleRatio, all.UsageRatio
	c.ClientBound, c.UsageOff = all.ClientBound, all.UsageOff
	c.ServerPrefixHits, c.ServerQueue, c.ServerPrefill = all.ServerPrefixHits, all.ServerQueue, all.ServerPrefill
	c.ServerDecode, c.ServerKVUse, c.ServerPreempted = all.ServerDecode, all.ServerKVUse, all.ServerPreempted
	c.WarmCache = c.WarmCache || all.WarmCache && above(all.ServerPrefixHits, WarmCacheAbove)
	for _, s := range all.Doubts {
		if slices.ContainsFunc(ofWhole, func(what string) bool { return strings.Contains(s, what) }) {
			c.Doubts = append(c.Doubts, s)
		}
	}
}

// gapsOfTrials judges a prompt's own gaps by the whole bench's self-checks, of
// which its trials have been told.
func (c *Cell) gapsOfTrials() {
	if len(c.PerTrial) == 1 {
		c.say(c.gapsDoubt(), &c.GapsUncertain)
		return
	}
	for i := range c.PerTrial {
		if s := c.PerTrial[i].gapsDoubt(); s != "" {
			c.say(fmt.Sprintf("trial %d: %s", i+1, s), &c.GapsUncertain)
		}
	}
}
