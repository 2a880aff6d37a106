package loopback

import (
	"testing"
	"time"
)

func TestScheduleCheck(t *testing.T) {
	ms := time.Millisecond
	for _, tc := range []struct {
		name string
		s    Schedule
		ok   bool
	}{
		{"self-check", CheckSchedule, true},
		{"ground truth", GroundTruth, true},
		{"full speed at once", Schedule{Events: 1}, true},
		{"full speed with text", Schedule{First: ms, Events: 128, Bytes: 32}, true},
		{"no events", Schedule{First: ms, Gap: ms}, false},
		{"too many events", Schedule{First: ms, Gap: ms, Events: maxEvents + 1}, false},
		{"negative first", Schedule{First: -1, Events: 1}, false},
		{"first sooner than the pacer looks", Schedule{First: ms - 1, Gap: ms, Events: 1}, false},
		{"first too late", Schedule{First: maxWait + 1, Gap: ms, Events: 1}, false},
		{"gap negative", Schedule{First: ms, Gap: -ms, Events: 1}, false},
		{"gap finer than the clock", Schedule{First: ms, Gap: minGap - 1, Events: 1}, false},
		{"gap too long", Schedule{First: ms, Gap: maxWait + 1, Events: 1}, false},
		{"no room for the clock", Schedule{First: ms, Gap: ms, Events: 1, Bytes: stampLen - 1}, false},
		{"too long", Schedule{First: ms, Gap: ms, Events: 1, Bytes: maxBytes + 1}, false},
	} {
		if err := tc.s.Check(); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
