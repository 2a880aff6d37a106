package scrape

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/promtext"
)

// The phases of a look.
const (
	PhaseBefore = "before"
	PhaseDuring = "during"
	PhaseAfter  = "after"
)

// Look is one reading of the endpoint.
type Look struct {
	AtNS  int64  // on the cell's clock; negative = before it
	Phase string // before | during | after
	Body  []byte
}

// Summarise says what the looks say about the cell. Counters and
// histograms are differences between the last look before it and the first one
// after it, so they include whatever other clients sent: compare Requests with
// what was sent. Gauges are their peaks over all looks, a sum over the engines
// of a data-parallel server, the fullest engine for the KV cache.
//
// model is the served model's name and matters only where the server has
// several. The notes say which looks and lines could not be read. Server is nil
// exactly when err is not: then it wraps [errNoEngine] and says which metrics
// there were instead.
func Summarise(looks []Look, model string) (*metric.Server, []string, error) {
	looks = slices.Clone(looks)
	slices.SortStableFunc(looks, func(a, b Look) int { return cmp.Compare(a.AtNS, b.AtNS) })
	frames, names, notes := readLooks(looks)
	e := recognise(frames)
	if e < 0 {
		return nil, notes, noEngine(names)
	}
	name := engines[e].name
	ours := slices.DeleteFunc(slices.Clone(frames), func(f frame) bool { return !f.has(e) })
	if n := len(frames) - len(ours); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d looks have no metrics of %s", n, len(frames), name))
	}
	w := newWindow(e, ours, model)
	return &metric.Server{
		Engine:         name,
		Requests:       w.counter(requests, "requests"),
		PromptTokens:   w.counter(promptTokens, "tokens"),
		OutputTokens:   w.counter(outputTokens, "tokens"),
		QueueMS:        w.mean(queueTime),
		PrefillMS:      w.mean(prefillTime),
		DecodeMS:       w.mean(decodeTime),
		TTFTMS:         w.mean(ttft),
		E2EMS:          w.mean(e2e),
		KVUsePeak:      w.peak(kvUse, "share", fullest),
		RunningPeak:    w.peak(running, "requests", total),
		WaitingPeak:    w.peak(waiting, "requests", total),
		PrefixHitShare: w.hitShare(),
		Preemptions:    w.counter(preemptions, "preemptions"),
		Samples:        len(ours),
	}, notes, nil
}

// readLooks also returns the names of all samples, once each.
func readLooks(looks []Look) (frames []frame, names, notes []string) {
	seen := map[string]bool{}
	for i, l := range looks {
		snap, err := parse(l.Body)
		where := fmt.Sprintf("look %d (%s)", i+1, l.Phase)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", where, err))
			continue
		}
		if snap.Skipped > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d lines skipped, the first: %s", where, snap.Skipped, snap.Notes[0]))
		}
		for _, s := range snap.Samples {
			seen[s.Name] = true
		}
		frames = append(frames, newFrame(l, snap))
	}
	return frames, slices.Sorted(maps.Keys(seen)), notes
}

// counter is the growth of the first source that the server reports.
func (w window) counter(r role, unit string) metric.Value {
	for _, s := range w.sources(r) {
		d, why := w.difference(s.name, s, engines[w.e].replicas)
		if why == metric.NotReported {
			continue
		}
		return valued(d, why, unit)
	}
	return metric.Null(metric.NotReported, unit)
}

// mean is the mean in ms of the observations that a histogram of seconds
// gained. Replicas are kept: each adds to both sides.
func (w window) mean(r role) metric.Value {
	for _, s := range w.sources(r) {
		count, why := w.difference(s.name+"_count", s, nil)
		if why == metric.NotReported {
			continue
		}
		sum, whySum := w.difference(s.name+"_sum", s, nil)
		switch {
		case why != "":
			return metric.Null(why, "ms")
		case whySum != "":
			return metric.Null(whySum, "ms")
		}
		return metric.Ratio(sum*1000, count, "ms", metric.NoRequests)
	}
	return metric.Null(metric.NotReported, "ms")
}

// hitShare is the share of the looked-up prompt tokens that a cache had.
func (w window) hitShare() metric.Value {
	for _, s := range w.sources(prefixHits) {
		hits, why := w.difference(s.name, s, engines[w.e].replicas)
		if why == metric.NotReported {
			continue
		}
		queried, whyQueried := w.difference(s.over, source{}, engines[w.e].replicas)
		switch {
		case whyQueried == metric.NotReported:
			continue
		case why != "":
			return metric.Null(why, "share")
		case whyQueried != "":
			return metric.Null(whyQueried, "share")
		}
		if s.misses {
			hits = max(0, queried-hits)
		}
		return metric.Ratio(hits, queried, "share", metric.NoRequests)
	}
	return metric.Null(metric.NotReported, "share")
}

// peak is the largest value of a gauge over all looks; join makes one number of
// the engines' ones.
func (w window) peak(r role, unit string, join func([]float64) float64) metric.Value {
	if w.mixed {
		return metric.Null(metric.SeveralModels, unit)
	}
	why, top := metric.NotReported, math.Inf(-1)
	for _, f := range w.frames {
		for _, s := range w.sources(r) {
			points := w.gauges(f, s)
			if len(points) == 0 {
				continue
			}
			v := join(merge(points, engines[w.e].replicas))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				why = metric.NotFinite
				break
			}
			top = max(top, v)
			break
		}
	}
	if math.IsInf(top, -1) {
		return metric.Null(why, unit)
	}
	return metric.Of(top, unit)
}

// gauges are a source's points without those that another one already sums up.
func (w window) gauges(f frame, s source) []point {
	points := f.series(s.name, s, w.model)
	label := engines[w.e].total
	sums := func(p point) bool { return promtext.Get(p.labels, label) == "" }
	if label == "" || !slices.ContainsFunc(points, sums) {
		return points
	}
	return slices.DeleteFunc(points, func(p point) bool { return !sums(p) })
}

func (w window) sources(r role) []source { return engines[w.e].sources[r] }

func valued(v float64, why, unit string) metric.Value {
	if why != "" {
		return metric.Null(why, unit)
	}
	return metric.Of(v, unit)
}

func total(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

func fullest(values []float64) float64 { return slices.Max(values) }
