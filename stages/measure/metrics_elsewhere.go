package measure

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/trace"
)

// shifted is a recording with what its clock is ahead of this machine's, as declared.
type shifted struct {
	trace *trace.Trace
	ahead int64 // ns
}

// stretch is one of this machine's wall clock, ns since 1970.
type stretch struct{ from, to int64 }

// common is how much two stretches have in common, not positive = nothing.
func (s stretch) common(o stretch) int64 { return min(s.to, o.to) - max(s.from, o.from) }

// stretch is that of a recording.
func (s shifted) stretch() stretch {
	start := s.trace.WallNS - s.ahead
	return stretch{start, start + s.trace.LastT}
}

// empty says why there is nothing in a recording, "" = there is something.
func (s shifted) empty() string {
	switch {
	case s.trace.None != nil:
		return fmt.Sprintf("nothing was recorded (%s)", cmp.Or(s.trace.None.Reason, "it does not say why"))
	case len(s.trace.Channels) == 0:
		return "it has no channel"
	}
	return ""
}

// named are the recordings that the campaign names, in its order.
func (p *metricsParams) named(job step.Job) ([]shifted, error) {
	var out []shifted
	for i, d := range p.Energy.Elsewhere {
		t, err := readTraceOf(job, elsewhereInput(i))
		if err != nil {
			return nil, err
		}
		s := shifted{trace: t}
		if d != (elsewhere{}) {
			if s.ahead, err = d.declare(t); err != nil {
				return nil, fmt.Errorf("%s: %w", elsewhereInput(i), err)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// covering is the recording that covers most of a stretch, -1 = none covers any of it.
func covering(of []shifted, what stretch) int {
	best, most := -1, int64(0)
	for i, s := range of {
		if both := s.stretch().common(what); s.empty() == "" && both > most {
			best, most = i, both
		}
	}
	return best
}

// unused says of each recording that the campaign names, and that no trial is derived
// from, why not. It is named as in the campaign, where the name of its file is no part of
// what is hashed.
func (p *metricsParams) unused(job step.Job) ([]string, error) {
	if p.Energy == nil || len(p.Energy.Elsewhere) == 0 {
		return nil, nil
	}
	named, err := p.named(job)
	if err != nil {
		return nil, err
	}
	used := map[int]bool{}
	for _, t := range p.metered {
		used[covering(named, t)] = true
	}
	var out []string
	for i, s := range named {
		if !used[i] {
			out = append(out, fmt.Sprintf("the recording traces[%d] (sha256 %s) is used for no trial: %s", i, job.InputDigest(elsewhereInput(i)).Short(), cmp.Or(s.empty(), missed(s.stretch(), p.metered))))
		}
	}
	return out, nil
}

// missed says why a recording covers no trial best.
func missed(s stretch, trials []stretch) string {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range trials {
		if s.common(t) > 0 {
			return "another one covers more of each trial"
		}
		first, last = min(first, t.from), max(last, t.to)
	}
	const nothing = "it covers nothing of the time of any"
	switch {
	case s.to <= first:
		return fmt.Sprintf("%s, and ends %s before the first", nothing, time.Duration(first-s.to).Round(time.Millisecond))
	case s.from >= last:
		return fmt.Sprintf("%s, and begins %s after the last", nothing, time.Duration(s.from-last).Round(time.Millisecond))
	}
	return nothing
}
