package table

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/prior"
)

// AliasTable prints [Aliases] as a Markdown table, one line for each field or
// metric. docs/research.md holds it.
func AliasTable() string {
	var b strings.Builder
	b.WriteString("| field or metric | unit | headers |\n|---|---|---|\n")
	for _, a := range Aliases {
		unit := a.Unit
		if unit == "" {
			unit = unitWanted(a.Field)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Field, unit, strings.Join(a.Names, ", "))
	}
	return b.String()
}

// unitWanted says where the unit of a metric must come from when the header's
// name does not have one.
func unitWanted(field string) string {
	if field == FieldConcurrency {
		return "" // a metric has this name too
	}
	switch u := prior.MetricUnit(field); u {
	case "":
		return ""
	case "ms":
		return "ms or s, must be said"
	default:
		return u
	}
}
