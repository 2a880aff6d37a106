package parse

import "strings"

// Kind is what a column of a wall meter's file holds.
type Kind int

// The kinds of columns.
const (
	Other Kind = iota
	Time
	Power
	Energy // a meter reading that grows
)

// Column is what a header says of one column.
type Column struct {
	Kind Kind
	// Scale is the power of ten from its unit to W or Wh: 3 of kW, -3 of mW.
	Scale int
}

// Delimiter tells a semicolon, a tab and a comma apart by a header line. Files with
// semicolons come from places that write a decimal comma.
func Delimiter(header string) rune {
	best, most := ',', strings.Count(header, ",")
	for _, c := range ";\t" {
		if n := strings.Count(header, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// times are names of columns with moments.
var times = []string{"time", "timestamp", "datetime", "date", "unix", "epoch", "ts", "unix_time", "date_time", "time_utc"}

// units are spelt as meters spell them, in lower case, but for the m of milli and
// the M of mega, which differ in nothing else.
var units = map[string]Column{
	"w": {Power, 0}, "watt": {Power, 0}, "watts": {Power, 0},
	"kw": {Power, 3}, "kilowatt": {Power, 3}, "kilowatts": {Power, 3},
	"milliwatt": {Power, -3}, "milliwatts": {Power, -3},
	"wh": {Energy, 0}, "watt-hours": {Energy, 0}, "watt-hour": {Energy, 0}, "watthours": {Energy, 0}, "watt_hours": {Energy, 0},
	"kwh": {Energy, 3}, "kilowatt-hours": {Energy, 3},
	"milliwatt-hours": {Energy, -3},
}

// ReadColumn understands one cell of a header: time, watts, power (kW), power_w,
// Energy [Wh]. What it does not know is Other.
func ReadColumn(cell string) Column {
	cell = strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff"))
	cell = strings.Trim(cell, `"`)
	lower := strings.ToLower(cell)
	for _, t := range times {
		if lower == t {
			return Column{Kind: Time}
		}
	}
	return unit(lastWord(cell))
}

// lastWord is the unit of "power (W)", "power [W]", "power_w", "power/W" or "W".
func lastWord(cell string) string {
	cell = strings.TrimRight(cell, ")] ")
	if i := strings.LastIndexAny(cell, "([/"); i >= 0 {
		return strings.TrimSpace(cell[i+1:])
	}
	if _, whole := units[strings.ToLower(cell)]; whole {
		return cell
	}
	if i := strings.LastIndexAny(cell, "_ "); i >= 0 {
		return cell[i+1:]
	}
	return cell
}

func unit(s string) Column {
	switch s {
	case "mW", "mw":
		return Column{Power, -3}
	case "MW":
		return Column{Power, 6}
	case "mWh", "mwh":
		return Column{Energy, -3}
	case "MWh":
		return Column{Energy, 6}
	}
	return units[strings.ToLower(s)]
}
