package prior

import (
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// Bounds of the age classes, days.
const (
	CurrentDays = 60
	AgingDays   = 120
)

// Age returns the days between two YYYY-MM-DD days and their class. days is nil
// and the class unknown when published is "" or no day, or lies after observed.
func Age(published, observed string) (days *int, class string) {
	from, err := time.Parse(time.DateOnly, published)
	to, err2 := time.Parse(time.DateOnly, observed)
	if err != nil || err2 != nil || from.After(to) {
		return nil, evidence.AgeUnknown
	}
	n := int(to.Sub(from) / (24 * time.Hour))
	switch {
	case n <= CurrentDays:
		return &n, evidence.Current
	case n <= AgingDays:
		return &n, evidence.Aging
	}
	return &n, evidence.Stale
}
