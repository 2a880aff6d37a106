package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/metric"
)

// Series are rows that may be held against each other, oldest first.
type Series struct {
	Metric    string   `json:"metric"`
	Unit      string   `json:"unit"`
	Better    string   `json:"better,omitempty"` // lower | higher, "" = neither
	Candidate string   `json:"candidate"`
	Workload  string   `json:"workload"`
	Place     string   `json:"place"`
	Apart     string   `json:"apart,omitempty"` // what keeps it from an earlier series of the same name
	Doubts    []string `json:"doubts,omitempty"`
	Rows      []Row    `json:"rows"`
	Changes   []Change `json:"changes"`

	control control
	counted map[string]string // what was measured -> the finding that counts it
}

// Of puts the findings' rows into series and looks for changes in each, at this
// level of confidence. Findings are taken in the order of their dates, and of
// their names within a day.
func Of(findings []Finding, ask Ask, confidence float64) ([]*Series, error) {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Record.Date, b.Record.Date), natural(a.Name, b.Name))
	})
	var out []*Series
	byKey := map[string]*Series{}
	for _, f := range findings {
		rows, err := rowsOf(f, ask)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			s := byKey[r.key()]
			if s == nil {
				s = begin(r, ask.Metric, out)
				byKey[r.key()] = s
				out = append(out, s)
			}
			s.add(r.Row)
		}
	}
	for _, s := range out {
		s.Changes = changes(s.Rows, confidence)
	}
	slices.SortStableFunc(out, func(a, b *Series) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), natural(a.Place, b.Place), cmp.Compare(a.Candidate, b.Candidate))
	})
	return out, nil
}

// natural puts c=8 before c=16, and a folder ending in -2 before one in -10.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

func begin(r placed, name string, before []*Series) *Series {
	s := &Series{Metric: name, Unit: r.Unit, Better: better(name), Candidate: r.Candidate, Workload: r.Workload, Place: r.Place, control: r.control, counted: map[string]string{}}
	for _, other := range before {
		if other.Candidate == s.Candidate && other.Workload == s.Workload && other.Place == s.Place {
			s.Apart = difference(other.control, s.control)
		}
	}
	if len(r.Hardware) == 0 {
		s.Doubts = append(s.Doubts, "the hardware is not known: rows of different machines may stand together")
	}
	return s
}

// better is the direction of a metric by the dictionary; the statistic behind
// the dot does not change it. A mean of scores is better when it is higher.
func better(name string) string {
	head, _, ofEnergy := cutDot(name)
	if ofEnergy && head+"." == energyMetric {
		return betterEnergy(name)
	}
	for _, d := range metric.Dictionary {
		if d.ID == head {
			return d.Better
		}
	}
	return map[string]string{"mean": "higher", "truncation_rate": "lower", "failure_rate": "lower"}[head]
}

func cutDot(s string) (head, tail string, ok bool) {
	for i := range len(s) {
		if s[i] == '.' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// add appends a row. What was measured once is counted once, however often it was
// scored and published again: copies would make any difference look certain.
func (s *Series) add(r Row) {
	if r.measured != "" && r.Value != nil && !r.discarded {
		if first, twice := s.counted[r.measured]; twice {
			r.discarded, r.Reason = true, "the measurement of "+first+", counted once"
		} else {
			s.counted[r.measured] = r.Finding
		}
	}
	if n := len(s.Rows); n > 0 {
		r.Changed = changed(s.Rows[n-1].Identity, r.Identity)
	}
	s.Rows = append(s.Rows, r)
}

// changed lists the pins that differ, with both values.
func changed(before, after Pins) (out []string) {
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if a, b := before[name], after[name]; a != b {
			out = append(out, fmt.Sprintf("%s %s -> %s", name, shown(a), shown(b)))
		}
	}
	return out
}

func shown(s string) string {
	switch {
	case s == "":
		return "unknown"
	case len(s) > 40:
		return s[:12] + "..."
	}
	return s
}

// difference names the first control that keeps two series apart.
func difference(a, b control) string {
	for _, c := range []struct {
		name string
		a, b any
	}{
		{"scorers", fmt.Sprint(a.Scorers), fmt.Sprint(b.Scorers)},
		{"sampling", canonical(a.Sampling), canonical(b.Sampling)},
		{"reasoning", canonical(a.Reasoning), canonical(b.Reasoning)},
		{"system prompt", a.System, b.System},
		{"hardware", fmt.Sprint(a.Hardware), fmt.Sprint(b.Hardware)},
		{"protocol", a.Protocol, b.Protocol},
		{"set of counters", a.Counters, b.Counters},
		{"workload", canonical(a.Spec), canonical(b.Spec)},
	} {
		if c.a != c.b {
			return "another " + c.name
		}
	}
	return "other controls"
}

func canonical(b []byte) string {
	v := jsontext.Value(slices.Clone(b))
	if v.Canonicalize() != nil {
		return string(b)
	}
	return string(v)
}
