package metric

import (
	"fmt"
	"time"
)

// apartMost is how far apart the trials of one cell may begin without a word:
// what a machine serves beside the engine changes from day to day.
const apartMost = 24 * time.Hour

// started is when the first and the last of the trials of which it is known
// began, in Unix ns; 0 = of none.
func started(trials []Trial) (first, last int64) {
	for _, t := range trials {
		at := t.StartUnixNS
		if at == 0 {
			continue
		}
		if first == 0 || at < first {
			first = at
		}
		if last == 0 || at > last {
			last = at
		}
	}
	return first, last
}

func apartDoubt(trials []Trial) string {
	first, last := started(trials)
	apart := time.Duration(last - first)
	if apart <= apartMost {
		return ""
	}
	return fmt.Sprintf("trials of the cell began %s h apart, so they may not be of one state of the machine", short(apart.Hours()))
}
