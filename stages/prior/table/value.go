package table

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/prior"
)

// absent are cells that say that there is no value.
var absent = map[string]bool{"": true, "-": true, "–": true, "—": true, "n/a": true, "na": true, "none": true, "null": true, "?": true, "tbd": true}

func isAbsent(cell string) bool { return absent[strings.ToLower(strings.TrimSpace(cell))] }

var (
	measured  = regexp.MustCompile(`^([+-]?[0-9][0-9.,'_ ]*(?:[eE][+-]?[0-9]+)?)\s*([kKmM]?)\s*([^0-9].*)?$`)
	thousands = regexp.MustCompile(`^[+-]?[0-9]{1,3}([,'_ ][0-9]{3})+(\.[0-9]+)?$`)
	plain10   = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	spread    = regexp.MustCompile(`\s*(±|\+/-).*$`)
)

// parseValue reads a number with an optional unit: 1,234.5 tok/s. Bounds, ranges
// and estimates are no values, and neither is a decimal comma, which reads as a
// thousand elsewhere.
func parseValue(cell string) (x float64, unit string, err error) {
	text := strings.TrimSpace(spread.ReplaceAllString(cell, ""))
	if text != "" && strings.ContainsAny(text[:1], "~<>≈≤≥") || strings.HasPrefix(text, "≈") || strings.HasPrefix(text, "≤") || strings.HasPrefix(text, "≥") {
		return 0, "", fmt.Errorf("%q is a bound or an estimate, not a value", cell)
	}
	m := measured.FindStringSubmatch(text)
	if m == nil {
		return 0, "", fmt.Errorf("%q is no number", cell)
	}
	if x, err = number(strings.TrimSpace(m[1])); err != nil {
		return 0, "", fmt.Errorf("%q %w", cell, err)
	}
	unit = strings.TrimSpace(m[3])
	switch strings.ToLower(m[2]) {
	case "k":
		x *= 1000
	case "m":
		if strings.HasPrefix(unit, "s") { // "ms": the m is the unit's
			unit = m[2] + unit
		} else {
			x *= 1e6
		}
	}
	if unit != "" {
		if _, _, ok := prior.Unit(unit); !ok {
			return 0, "", fmt.Errorf("%q has %q behind the number, which is no unit that is known", cell, unit)
		}
	}
	return x, unit, nil
}

func number(s string) (float64, error) {
	switch {
	case thousands.MatchString(s):
		s = strings.NewReplacer(",", "", "'", "", "_", "", " ", "").Replace(s)
	case !plain10.MatchString(s):
		return 0, fmt.Errorf("can be read in two ways; write it with a decimal point")
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, fmt.Errorf("is beyond every number")
	}
	return x, nil
}

var tokensCell = regexp.MustCompile(`^(?i)([0-9][0-9.,_']*)\s*([km]?)\s*(?:i|ib)?\s*(tok|token|tokens|ctx)?$`)

// parseTokens reads a context length: 32768, 32k (of 1024), 128K tokens.
func parseTokens(cell string) (float64, error) {
	m := tokensCell.FindStringSubmatch(strings.TrimSpace(cell))
	if m == nil {
		return 0, fmt.Errorf("%q is no number of tokens", cell)
	}
	x, err := number(m[1])
	if err != nil {
		return 0, fmt.Errorf("%q %w", cell, err)
	}
	switch strings.ToLower(m[2]) {
	case "k":
		x *= 1 << 10
	case "m":
		x *= 1 << 20
	}
	if x < 1 || x != math.Trunc(x) || x > 1<<40 {
		return 0, fmt.Errorf("%q is no number of tokens", cell)
	}
	return x, nil
}

var clientsCell = regexp.MustCompile(`^(?i)(?:c|bs|batch|concurrency)?\s*=?\s*([0-9]{1,7})\s*(?:users?|clients?|streams?|requests?|concurrent)?$`)

// parseClients reads a concurrency: 8, c=8, 8 users.
func parseClients(cell string) (int, error) {
	m := clientsCell.FindStringSubmatch(strings.TrimSpace(cell))
	if m == nil {
		return 0, fmt.Errorf("%q is no concurrency", cell)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no concurrency", cell)
	}
	return n, nil
}

// switchOf reads a switch: off, on, or the method's name, which is on. "" is not
// known.
func switchOf(cell string) string {
	text := strings.TrimSpace(cell)
	switch strings.ToLower(text) {
	case "none", "off", "no", "false", "disabled", "0", "✗", "❌", "without":
		return "off"
	case "on", "yes", "true", "enabled", "1", "✓", "✔", "✅", "with":
		return "on"
	}
	if isAbsent(text) {
		return ""
	}
	return text
}
