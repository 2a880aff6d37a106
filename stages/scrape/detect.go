package scrape

import (
	"errors"
	"fmt"
	"strings"
)

// errNoEngine is returned when no look has the metrics of an engine of the table.
var errNoEngine = errors.New("no known engine's metrics")

// recognise returns the index of the engine whose names the frames have most
// of, the table's order breaking ties; -1 = none. Some servers print a few names
// of another engine for dashboards' sake.
func recognise(frames []frame) int {
	found := make([]map[string]bool, len(engines))
	for _, f := range frames {
		for name := range f.points {
			if i, ok := tracked[name]; ok {
				if found[i] == nil {
					found[i] = map[string]bool{}
				}
				found[i][name] = true
			}
		}
	}
	best := -1
	for i := range engines {
		if len(found[i]) > 0 && (best < 0 || len(found[i]) > len(found[best])) {
			best = i
		}
	}
	return best
}

// noEngine says which metrics there were instead; names are sorted.
func noEngine(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%w: the text has no metrics at all", errNoEngine)
	}
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Errorf("%w: seen %s%s", errNoEngine, strings.Join(names, ", "), more)
}
