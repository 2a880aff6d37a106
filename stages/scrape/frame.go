package scrape

import (
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/promtext"
)

// frame is what one look has of the table's metrics.
type frame struct {
	phase    string
	points   map[string][]point // by canonical name of the sample
	declared map[string]bool    // canonical names of families with a TYPE line
	whole    bool               // every line was read, so what is missing was not there
	started  float64            // process_start_time_seconds, 0 = not said
}

// point is one series at one moment.
type point struct {
	labels []label
	key    string // the labels, in one order
	value  float64
}

func newFrame(l Look, s snapshot) frame {
	f := frame{phase: l.Phase, points: map[string][]point{}, declared: map[string]bool{}, whole: s.Skipped == 0}
	for family := range s.Types {
		f.declared[canonical(family)] = true
	}
	for _, sample := range s.Samples {
		if sample.Name == "process_start_time_seconds" {
			f.started = sample.Value
			continue
		}
		name := canonical(sample.Name)
		if _, ok := tracked[name]; ok {
			f.points[name] = append(f.points[name], point{sample.Labels, seriesKey(sample.Labels), sample.Value})
		}
	}
	return f
}

// has says whether the look has any metric of the engine.
func (f frame) has(e int) bool {
	for name := range f.points {
		if tracked[name] == e {
			return true
		}
	}
	return false
}

// series are the points of a sample name that belong to the source and, where
// model is not "", to that model. Of a series that stands twice the first counts.
func (f frame) series(name string, s source, model string) []point {
	var out []point
	seen := map[string]bool{}
	for _, p := range f.points[canonical(name)] {
		if s.label != "" && promtext.Get(p.labels, s.label) != s.value {
			continue
		}
		if of := promtext.Get(p.labels, modelLabel); model != "" && of != "" && of != model {
			continue
		}
		if !seen[p.key] {
			seen[p.key] = true
			out = append(out, p)
		}
	}
	return out
}

// declares says whether the family of a sample name was declared: a labelled
// counter that was never incremented has a TYPE line and no series.
func (f frame) declares(name string) bool {
	name = canonical(name)
	for _, suffix := range []string{"", "_total", "_sum", "_count"} {
		if family, ok := strings.CutSuffix(name, suffix); ok && f.declared[family] {
			return true
		}
	}
	return false
}

// modelLabel is the label of the served model; vLLM and SGLang have it.
const modelLabel = "model_name"

// models are the served models that the engine's series name.
func (f frame) models(e int) []string {
	var names []string
	for name, points := range f.points {
		if tracked[name] != e {
			continue
		}
		for _, p := range points {
			if m := promtext.Get(p.labels, modelLabel); m != "" {
				names = append(names, m)
			}
		}
	}
	return names
}

// seriesKey is the identity of a series: its labels, whatever their order,
// without those named.
func seriesKey(labels []label, without ...string) string {
	pairs := make([]string, 0, len(labels))
	for _, l := range labels {
		if !slices.Contains(without, l.Name) {
			pairs = append(pairs, l.Name+"\x00"+l.Value+"\x00")
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "")
}

// merge returns one value per group of replicas, the largest, in the order of
// the points.
func merge(points []point, replicas []string) []float64 {
	var out []float64
	at := map[string]int{}
	for _, p := range points {
		key := seriesKey(p.labels, replicas...)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, p.value)
			continue
		}
		out[i] = max(out[i], p.value)
	}
	return out
}
