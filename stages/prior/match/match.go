package match

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Points of the score.
const (
	PointsGPU         = 10
	PointsModel       = 7
	PointsFamily      = 4
	PointsEngine      = 3
	PointsQuant       = 3
	PointsPrecision   = 2
	PointsContext     = 2
	PointsConcurrency = 2
)

// Point is one part of a score.
type Point struct {
	What   string `json:"what"`
	Points int    `json:"points"`
}

// Match is an entry beside a measured cell.
type Match struct {
	Entry    Entry    `json:"entry"`
	Score    int      `json:"score"`
	Points   []Point  `json:"points"`
	Deltas   []Delta  `json:"deltas"`
	Warnings []string `json:"warnings,omitempty"`
}

// Delta is a metric of both sides.
type Delta struct {
	Metric   string   `json:"metric"` // of the measured side
	Local    *float64 `json:"local"`  // nil with a reason
	External float64  `json:"external"`
	Unit     string   `json:"unit,omitempty"`
	DeltaPct *float64 `json:"delta_pct"` // (local - external) / external * 100
	Reason   string   `json:"reason,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// Score says how near two settings are, and for what.
func Score(a, b Setting) (total int, parts []Point) {
	add := func(what string, points int, equal bool) bool {
		if equal {
			total += points
			parts = append(parts, Point{what, points})
		}
		return equal
	}
	add("gpu", PointsGPU, equal(gpu, a.Hardware, b.Hardware))
	if !add("model", PointsModel, equal(model, a.Model, b.Model)) {
		add("model family", PointsFamily, equal(family, a.Model, b.Model))
	}
	add("engine", PointsEngine, equal(engine, a.Engine, b.Engine))
	if !add("quantisation", PointsQuant, equal(quant, a.Quantisation, b.Quantisation)) {
		add("precision", PointsPrecision, equal(precision, a.Quantisation, b.Quantisation))
	}
	add("context bucket", PointsContext, a.Context != nil && b.Context != nil && ContextBucket(*a.Context) == ContextBucket(*b.Context))
	add("concurrency bucket", PointsConcurrency, a.Concurrency != nil && b.Concurrency != nil && ConcurrencyBucket(*a.Concurrency) == ConcurrencyBucket(*b.Concurrency))
	return total, parts
}

// equal compares two names as f reduces them; nothing equals nothing.
func equal(f func(string) string, a, b string) bool {
	x := f(a)
	return x != "" && x == f(b)
}

// Nearest returns the n entries nearest to a measured cell; those without a
// single point are none. n <= 0 means all.
func Nearest(local Setting, cell *metric.Cell, entries []Entry, n int) []Match {
	var out []Match
	for _, e := range entries {
		score, parts := Score(local, e.Setting)
		if score == 0 {
			continue
		}
		out = append(out, Match{Entry: e, Score: score, Points: parts})
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), -cmp.Compare(throughput(a), throughput(b)), cmp.Compare(a.Entry.ID, b.Entry.ID))
	})
	if n > 0 && len(out) > n {
		out = out[:n]
	}
	for i := range out {
		out[i].Deltas = deltas(cell, out[i].Entry)
		out[i].Warnings = warnings(local, out[i].Entry.Setting)
	}
	return out
}

// throughput sorts; an entry without one comes last.
func throughput(m Match) float64 {
	if v, ok := m.Entry.Metrics["throughput_tok_s"]; ok {
		return v.Value
	}
	return -1
}

func deltas(cell *metric.Cell, e Entry) []Delta {
	out := []Delta{}
	for _, name := range slices.Sorted(maps.Keys(e.Metrics)) {
		ext := e.Metrics[name]
		v, at, ok := prior.CellValue(cell, name)
		if !ok {
			continue // not a metric of serving: nothing here measures it
		}
		d := delta(v, at, name, ext)
		if doubt := prior.Doubt(cell, at); doubt != "" && d.Local != nil {
			d.Note = strings.TrimPrefix(d.Note+"; in doubt here: "+doubt, "; ")
		}
		out = append(out, d)
	}
	return out
}

func delta(v metric.Value, at, name string, ext Number) Delta {
	d := Delta{Metric: at, Local: v.Value, External: ext.Value, Unit: v.Unit}
	if at != name {
		d.Note = "the source does not say which statistic; held against " + at
	}
	x, ok := prior.In(ext.Value, ext.Unit, v.Unit)
	switch {
	case !ok:
		d.Reason = prior.OtherUnit
	case v.Value == nil && v.Reason != "":
		d.Reason = v.Reason
	case v.Value == nil:
		d.Reason = prior.NotMeasured
	case x == 0:
		d.Reason = prior.ZeroClaim
	default:
		d.External, d.DeltaPct = x, prior.Delta(*v.Value, x)
	}
	return d
}

// warnings say why two settings may not be compared.
func warnings(local, ext Setting) (out []string) {
	switch {
	case local.Hardware == "" && ext.Hardware == "":
		out = append(out, "the hardware of both is not known")
	case local.Hardware == "":
		out = append(out, "the measured hardware is not known; say it with --hardware")
	case ext.Hardware == "":
		out = append(out, "the source does not say on what hardware")
	}
	out = append(out, oneSided("speculative decoding", local.Speculative, ext.Speculative)...)
	return append(out, oneSided("prompt caching", local.Caching, ext.Caching)...)
}

func oneSided(what, local, ext string) []string {
	here, known := on(local)
	there, said := on(ext)
	switch {
	case known && said && here != there:
		return []string{what + " is on " + side(here) + " only"}
	case here && !said:
		return []string{what + " is on here, and the source does not say"}
	case there && !known:
		return []string{what + " is on in the source, and is not known here"}
	}
	return nil
}

func side(here bool) string {
	if here {
		return "here"
	}
	return "in the source"
}

// Explain lists what the points are for: gpu, model.
func (m Match) Explain() string {
	var parts []string
	for _, p := range m.Points {
		parts = append(parts, p.What)
	}
	return strings.Join(parts, ", ")
}
