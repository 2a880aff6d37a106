package build

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// undated is the window of lines without a time.
const undated = math.MinInt64

// monday is where windows are counted from: 1970-01-05 00:00 UTC, so that a
// window of a week begins on a Monday.
const monday = 4 * 24 * 3600

// layouts are tried in order; those without a zone mean UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999 MST", "2006-01-02", time.RFC1123, time.RFC1123Z}

// parseTime reads a time: a text, or a number since 1970 in seconds,
// milliseconds, microseconds or nanoseconds, told apart by its size. A number
// before 1973 is a duration or a counter, not a time.
func parseTime(v []byte) (time.Time, error) {
	s := string(v)
	if v[0] == '"' {
		s, _ = text(v)
	}
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return unixTime(n)
	}
	if v[0] != '"' {
		return time.Time{}, badTime
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return inRange(t.UTC())
		}
	}
	return time.Time{}, badTime
}

func unixTime(n float64) (time.Time, error) {
	if !(n >= 1e8 && n < 1e19) {
		return time.Time{}, badTime
	}
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
		if s := n / unit; s < 1e11 {
			return inRange(time.Unix(int64(s), 0).UTC())
		}
	}
	return time.Time{}, badTime
}

func inRange(t time.Time) (time.Time, error) {
	if y := t.Year(); y < 1970 || y > 2200 {
		return time.Time{}, badTime
	}
	return t, nil
}

// windowOf returns the number of the window in which t lies.
func windowOf(t time.Time, window time.Duration) int64 {
	seconds := int64(window / time.Second)
	n := t.Unix() - monday
	w := n / seconds
	if n%seconds < 0 {
		w--
	}
	return w
}

func windowStart(w int64, window time.Duration) *time.Time {
	if w == undated {
		return nil
	}
	t := time.Unix(w*int64(window/time.Second)+monday, 0).UTC()
	return &t
}
