package llm

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/promtext"
)

// infoLabels returns the labels of a metric whose value says nothing: a
// configuration in the form of a metric. Where several lines (one per replica)
// say different things of a label, it is left out; nil = there is no such metric.
func infoLabels(page, metric string) map[string]string {
	var out map[string]string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, metric+"{") {
			continue
		}
		switch s, err := promtext.Parse(line); {
		case err != nil || s.Name != metric:
		case out == nil:
			out = telling(s.Labels)
		default:
			agree(out, telling(s.Labels))
		}
	}
	return out
}

// agree leaves of a only what b says alike.
func agree(a, b map[string]string) {
	for name, v := range a {
		if b[name] != v {
			delete(a, name)
		}
	}
}

// telling are the labels that say something: empty values, and Python's None, are as
// good as none.
func telling(labels []promtext.Label) map[string]string {
	out := map[string]string{}
	for _, l := range labels {
		if v := pathless(plain(l.Value)); v != "" && v != "None" {
			out[l.Name] = v
		}
	}
	return out
}
