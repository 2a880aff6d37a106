package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// report words what was read, and what the file could not tell.
func (c *collector) report() Report {
	rep := c.rep
	rep.Unknown = slices.Clone(c.format.Unknown)
	if rep.Unknown == nil {
		rep.Unknown = []string{}
	}
	of := func(n int, what string) {
		if n > 0 {
			rep.Unknown = append(rep.Unknown, fmt.Sprintf("%s: not in %d of %d answers", what, n, rep.Answers))
		}
	}
	of(rep.NoFinish, "finish reason, and so whether the answer was cut")
	of(rep.NoUsage, "token counts")
	note := func(n int, format string, args ...any) {
		if n > 0 {
			rep.Notes = append(rep.Notes, fmt.Sprintf(format, args...))
		}
	}
	rep.Notes = append(rep.Notes, c.format.Notes...)
	if c.format.Name == "lm-eval" && c.opt.Filter == "" {
		note(1, "the raw response is scored, not what a filter of the tool extracted")
	}
	note(c.repeated, "repeats are not numbered in the file: answers to one id count as repeats in file order")
	note(c.asJSON, "%d outputs are no text and are scored as their JSON", c.asJSON)
	note(c.notJSON, "%d rows hold NaN or Infinity, which are no JSON and were read as null", c.notJSON)
	note(c.cut, "%d answers were ended by a limit of the tool and count as cut", c.cut)
	note(c.more, "%d further choices of one request were left out", c.more)
	for _, name := range sortedKeys(c.skipped) {
		note(1, "%d answers of %s were left out by --candidate", c.skipped[name], cmp.Or(name, "an unnamed candidate"))
	}
	note(len(c.unused), "fields that were not used: %s", strings.Join(sortedKeys(c.unused), ", "))
	return rep
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
