package prior

import (
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
)

// units maps what people write to a unit of the metric dictionary and the
// factor to it.
var units = map[string]struct {
	unit   string
	factor float64
}{
	"ms": {"ms", 1}, "msec": {"ms", 1}, "millisecond": {"ms", 1}, "milliseconds": {"ms", 1},
	"s": {"ms", 1000}, "sec": {"ms", 1000}, "secs": {"ms", 1000}, "second": {"ms", 1000}, "seconds": {"ms", 1000},
	"us": {"ms", 0.001}, "µs": {"ms", 0.001},
	"tok/s": {"tok/s", 1}, "tokens/s": {"tok/s", 1}, "token/s": {"tok/s", 1}, "t/s": {"tok/s", 1}, "tps": {"tok/s", 1},
	"tokens/sec": {"tok/s", 1}, "tok/sec": {"tok/s", 1}, "tokens/second": {"tok/s", 1}, "toks/s": {"tok/s", 1},
	"1/s": {"req/s", 1}, "req/s": {"req/s", 1}, "requests/s": {"req/s", 1}, "rps": {"req/s", 1}, "req/sec": {"req/s", 1},
	"tok": {"tokens", 1}, "token": {"tokens", 1}, "tokens": {"tokens", 1},
	"%": {"ratio", 0.01}, "percent": {"ratio", 0.01}, "ratio": {"ratio", 1}, "share": {"ratio", 1}, "score": {"ratio", 1},
}

// Unit returns the dictionary's unit of a written one and the factor that turns
// its values into that unit; ok is false for a unit that is not known.
func Unit(written string) (unit string, factor float64, ok bool) {
	u, ok := units[strings.ToLower(strings.TrimSpace(written))]
	return u.unit, u.factor, ok
}

// In converts a value of a written unit to the unit that a metric has; "" means
// that it is in that unit already. ok is false when it cannot be converted, or is
// in another unit that nobody knows.
func In(value float64, written, want string) (float64, bool) {
	if written == "" || strings.EqualFold(written, want) {
		return value, true
	}
	u, factor, known := Unit(written)
	w, f, knownWant := Unit(want)
	if !known || !knownWant || u != w {
		return 0, false
	}
	return value * factor / f, true
}

// unitOf is the unit of a metric such as ttft_ms.p50 in the dictionary, or of a
// number of tokens that is a pin; ok is false for others.
func unitOf(name string) (string, bool) {
	if strings.HasPrefix(name, "context.") {
		return "tokens", true
	}
	if name == "accuracy" {
		name = "mean"
	}
	id, _, _ := strings.Cut(name, ".")
	d, ok := metric.Lookup(id)
	return d.Unit, ok
}

// positive are the units of the dictionary of which no value is below 0: times,
// rates, counts and shares. Changes in percent and scores may be.
var positive = []string{"ms", "s", "tok/s", "req/s", "tokens", "requests", "ratio", "share", "preemptions", "GPU h"}

// NeverNegative reports whether no value of a metric can be below 0; false for
// one that nobody knows.
func NeverNegative(name string) bool {
	u, ok := unitOf(name)
	return ok && slices.Contains(positive, u)
}

// MetricUnit is the unit of a metric of this campaign, "" when no metric has
// that name.
func MetricUnit(name string) string {
	u, _ := unitOf(name)
	return u
}
