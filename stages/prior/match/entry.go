// Package match finds the external benchmark entries that are nearest to a
// measured cell, by a score that anybody can recompute:
//
//	gpu equal               +10
//	model id equal           +7, only the family equal +4
//	engine equal             +3
//	quantisation equal       +3, only the precision equal +2
//	context bucket equal     +2   (8k, 16k, 32k, 64k, 128k, 128k+)
//	concurrency bucket equal +2   (1, 2-4, 5-8, 9-16, 17+)
//
// What one side does not say gives no points. Entries are sorted by score, then
// throughput, both from high to low, then by id. It is pure.
package match

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/prior/table"
)

// Setting is what was measured, or published, and on what. "" and nil are not
// known.
type Setting struct {
	Model        string   `json:"model"`
	Hardware     string   `json:"hardware,omitempty"`
	Engine       string   `json:"engine,omitempty"`
	Quantisation string   `json:"quantisation,omitempty"`
	Context      *float64 `json:"context"` // tokens
	Concurrency  *int     `json:"concurrency"`
	Speculative  string   `json:"speculative,omitempty"` // off | on | the method
	Caching      string   `json:"caching,omitempty"`     // off | on | the policy
}

// Entry is one line of somebody's table: a setting and its metrics.
type Entry struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Setting
	Metrics map[string]Number `json:"metrics"`
}

// Number is a value with its unit.
type Number struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Entries groups the rows of a source: those of one line, and those of lines
// that differ in nothing but the metric.
func Entries(source string, rows []table.Row) []Entry {
	var out []Entry
	at := map[string]int{}
	for _, r := range rows {
		s := settingOf(r)
		key := fmt.Sprintf("%q %q %q %q %s %s %q %q", s.Model, s.Hardware, s.Engine, s.Quantisation, or(s.Context), or(s.Concurrency), s.Speculative, s.Caching)
		i, seen := at[key]
		if seen {
			_, seen = out[i].Metrics[r.Metric] // a second value is another run
			seen = !seen
		}
		if !seen {
			i = len(out)
			at[key] = i
			out = append(out, Entry{ID: r.ID, Source: source, Setting: s, Metrics: map[string]Number{}})
		}
		out[i].Metrics[r.Metric] = Number{r.Value, r.Unit}
	}
	return out
}

func settingOf(r table.Row) Setting {
	return Setting{Model: r.Model, Hardware: r.Hardware, Engine: r.Engine, Quantisation: r.Quantisation,
		Context: r.Context, Concurrency: r.Concurrency, Speculative: r.Speculative, Caching: r.Caching}
}

func or[T any](p *T) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}
