package gen

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

var longToolKinds = []kindOf{
	{"choice", depths[1:], chooseAtEnd}, {"lookup", depths[1:], lookUp}, {"parallel", depths[1:], lookUpTwo}, {"none", depths[1:], readOff},
}

func longTools(tokens []int) ([]items.Item, map[string][]byte, error) {
	return contexts("long-tools", tokens, longToolKinds), nil, nil
}

const telemetry = "Archived telemetry of a plant, for reference:"

// readings returns lines of telemetry in which every unit is nominal.
func readings(d *draw) func() string {
	at := d.between(0, 3000)
	return func() string {
		at += d.between(3, 59)
		return fmt.Sprintf("%02d:%02d:%02d unit %s %s=%d.%d state=nominal", at/3600%24, at/60%60, at%60, d.code(1, 3), pick(d, []string{"temp", "flow", "load", "volt", "rpm"}), d.between(10, 99), d.below(10))
	}
}

// faultLine stands among readings, and takes its time from the one before it.
func faultLine(d *draw, unit string) string {
	return fmt.Sprintf(sameTime+" unit %s %s=%d.%d state=FAULT", unit, pick(d, []string{"temp", "flow", "load"}), d.between(100, 180), d.below(10))
}

// unitCode is never one of the filler, whose codes have three digits.
func unitCode(d *draw) string { return d.code(1, 5) }

var plantTools = []tool{
	{"open_ticket", "Open a repair ticket for a unit.", []param{text("unit", "Unit, such as K-40718"), oneOf("priority", "How urgent it is", "low", "normal", "high")}},
	{"restart_unit", "Restart a unit.", []param{text("unit", "Unit, such as K-40718")}},
	{"set_limit", "Set the upper limit of a measurement.", []param{oneOf("measurement", "What is limited", "temp", "flow", "load", "volt", "rpm"), whole("limit", "Upper limit")}},
	{"page_operator", "Call an operator.", []param{text("name", "First name"), oneOf("shift", "Shift", "day", "night")}},
	{"export_log", "Export telemetry of a day.", []param{text("date", "Day as YYYY-MM-DD"), oneOf("format", "File format", "csv", "json", "parquet")}},
	{"mute_alarm", "Mute an alarm.", []param{whole("minutes", "How long")}},
}

func afterLog(d *draw, asked string, facts []fact, size int, calls ...items.Call) question {
	return question{
		input: ask("%s", context(telemetry, asked, facts, size, readings(d))), tools: shuffled(d, plantTools),
		scorers: items.Scorers{sameCalls}, calls: calls, callsSet: true,
	}
}

// chooseAtEnd asks for something that has nothing to do with what was read.
func chooseAtEnd(d *draw, _ float64, size int) question {
	name, minutes, limit := pick(d, firstNames), d.between(5, 90), d.between(20, 400)
	shift, kind, format := pick(d, []string{"day", "night"}), pick(d, []string{"temp", "flow", "load", "volt", "rpm"}), pick(d, []string{"csv", "json", "parquet"})
	date := fmt.Sprintf("2026-%02d-%02d", d.between(1, 12), d.between(1, 28))
	switch d.below(4) {
	case 0:
		return afterLog(d, fmt.Sprintf("Now call %s of the %s shift.", name, shift), nil, size, call("page_operator", map[string]any{"name": name, "shift": shift}))
	case 1:
		return afterLog(d, fmt.Sprintf("Now mute the alarm for %d minutes.", minutes), nil, size, call("mute_alarm", map[string]any{"minutes": minutes}))
	case 2:
		return afterLog(d, fmt.Sprintf("Now set the upper limit of %s to %d.", kind, limit), nil, size, call("set_limit", map[string]any{"measurement": kind, "limit": limit}))
	}
	return afterLog(d, fmt.Sprintf("Now export the log of %s as %s.", date, format), nil, size, call("export_log", map[string]any{"date": date, "format": format}))
}

// lookUp asks for a call whose argument stands in the telemetry alone.
func lookUp(d *draw, depth float64, size int) question {
	unit, priority := unitCode(d), pick(d, []string{"low", "normal", "high"})
	facts := []fact{{depth, faultLine(d, unit)}}
	if d.below(2) == 0 {
		return afterLog(d, "Exactly one unit reported state=FAULT. Restart it.", facts, size, call("restart_unit", map[string]any{"unit": unit}))
	}
	return afterLog(d, fmt.Sprintf("Exactly one unit reported state=FAULT. Open a ticket of %s priority for it.", priority), facts, size,
		call("open_ticket", map[string]any{"unit": unit, "priority": priority}))
}

func lookUpTwo(d *draw, depth float64, size int) question {
	a, b := unitCode(d), unitCode(d)
	return afterLog(d, "Exactly two units reported state=FAULT. Restart both of them, with one call for each.", []fact{{depth, faultLine(d, a)}, {along(depth, 1), faultLine(d, b)}}, size,
		call("restart_unit", map[string]any{"unit": a}), call("restart_unit", map[string]any{"unit": b}))
}

// readOff needs no tool although there are some.
func readOff(d *draw, depth float64, size int) question {
	unit := unitCode(d)
	q := afterLog(d, "Exactly one unit reported state=FAULT. Which one? Do nothing about it: call no tool, and answer with the unit's code only.", []fact{{depth, faultLine(d, unit)}}, size)
	q.scorers, q.answer = append(q.scorers, sameText), unit
	return q
}
