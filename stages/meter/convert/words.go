package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// problem is an error about one word of a row.
func problem(format, word string) error { return fmt.Errorf(format, clip(word)) }

// word reports whether s can name a device: as the reader of traces demands.
func word(s string) bool {
	if s == "" || len(s) > 128 || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool { return !unicode.IsGraphic(c) }) < 0
}

func isOneOf[X comparable](list []X, x X) bool { return slices.Contains(list, x) }

// unitsOf are the units that each quantity may be in.
var unitsOf = map[trace.Quantity][]string{
	trace.Energy:       {"J", "mJ", "uJ", "nJ"},
	trace.Power:        {"W", "mW", "uW"},
	trace.PowerAverage: {"W", "mW", "uW"},
	trace.Temperature:  {"C", "mC"},
	trace.ThermalTime:  {"s", "ns"},
	trace.BrakeTime:    {"s", "ns"},
	trace.PowerCapTime: {"s", "ns"},
	trace.Load1:        {"1", "milli"},
	trace.SpeedLimit:   {"percent"},
}

func fits(q trace.Quantity, unit string) bool { return slices.Contains(unitsOf[q], unit) }

// isCode reports whether s looks like a reason code: words in lower case with hyphens.
func isCode(s string) bool {
	known := s == "stale" || hardware.Means(s) != s
	return len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" && (known || strings.Contains(strings.Trim(s, "-"), "-"))
}
