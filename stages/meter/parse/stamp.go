package parse

import (
	"errors"
	"strings"
	"time"
)

// ErrNoZone is a local time of which nobody knows whose.
var ErrNoZone = errors.New("a local time without a zone")

var errNoTime = errors.New("no time")

// zoned and local are the layouts that are read, besides seconds since 1970. A
// fraction after the seconds is read too.
var (
	zoned = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
		"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700", "2006/01/02 15:04:05 -0700",
		"20060102T150405Z",
	}
	local = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05"}
)

// Stamp reads a moment and returns it in ns since 1970: a date with its zone, or
// the seconds, ms, us or ns since 1970, which are told apart by their size (years
// 2001 to 2100). A date without a zone needs one; nil = it is [ErrNoZone].
func Stamp(s string, zone *time.Location) (int64, error) {
	s = strings.TrimSpace(s)
	if n, ok := sinceEpoch(s); ok {
		return n, nil
	}
	for _, layout := range zoned {
		if t, err := time.Parse(layout, s); err == nil {
			return within(t)
		}
	}
	for _, layout := range local {
		t, err := time.ParseInLocation(layout, s, time.UTC)
		if err != nil {
			continue
		}
		if zone == nil {
			return 0, ErrNoZone
		}
		return within(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone))
	}
	return 0, errNoTime
}

// Years that a moment may be in.
var (
	earliest = time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC).UnixNano() // 1e9 s
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
)

func within(t time.Time) (int64, error) {
	if y := t.Year(); y < 2001 || y > 2100 {
		return 0, errNoTime
	}
	n := t.UnixNano()
	if n < earliest || n > latest {
		return 0, errNoTime
	}
	return n, nil
}

// sinceEpoch tries the units from the coarsest: the ranges do not overlap.
func sinceEpoch(s string) (int64, bool) {
	for _, scale := range []int{9, 6, 3, 0} {
		n, err := Decimal(s, scale)
		if err == nil && n >= earliest && n <= latest {
			return n, true
		}
	}
	return 0, false
}

// Zone reads a fixed offset from UTC such as +02:00, -0530 or Z.
func Zone(s string) (*time.Location, error) {
	if s == "Z" || s == "z" {
		return time.UTC, nil
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		_, off := t.Zone()
		return time.FixedZone(s, off), nil
	}
	return nil, errors.New("want an offset such as +02:00, -0530 or Z")
}
