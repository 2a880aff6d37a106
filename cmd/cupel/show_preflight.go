package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/preflight"
)

// showChecks lists what a preflight found, check by check: what was not passed
// with the answers that it was judged by.
func (a *app) showChecks(s *store.Store, rec store.Record) error {
	out, ok := rec.Output(evidence.OutPreflight)
	if rec.Kind != preflight.Kind || !ok {
		return nil
	}
	b, err := readObject(s, out.Digest)
	if err != nil {
		return err
	}
	var doc evidence.PreflightDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return fail(exitOutside, fmt.Errorf("%s: %w", evidence.OutPreflight, err))
	}
	for _, c := range doc.Checks {
		a.printf("  %-16s %-13s %s\n", c.Name, c.Verdict, c.Reason)
		a.showMeasured(c.Measured)
		if !c.Passed {
			a.showObservations(c.Observations)
		}
	}
	return nil
}

func (a *app) showMeasured(measured []evidence.Measured) {
	for _, m := range measured {
		value := m.Reason
		if m.Value != nil {
			value = amount(*m.Value, m.Unit)
		}
		if m.Wanted != nil {
			value += ", wanted " + amount(*m.Wanted, m.Unit)
		}
		a.printf("    %s: %s\n", m.Name, value)
	}
}

// amount writes a value with its unit; a share as a percentage.
func amount(v float64, unit string) string {
	if unit == "share" {
		return fmt.Sprintf("%.4g %%", 100*v)
	}
	return fmt.Sprintf("%.10g %s", v, unit)
}

// shownObservations is how many answers of a check are printed.
const shownObservations = 3

func (a *app) showObservations(seen []evidence.Observation) {
	for i, o := range seen {
		if i == shownObservations {
			a.printf("    and %d more requests\n", len(seen)-i)
			return
		}
		a.printf("    %s (%s): %s\n", o.What, o.Request.Short(), oneLine(saidIn(o)))
	}
}

// saidIn is what came back, in a few words.
func saidIn(o evidence.Observation) string {
	var parts []string
	if o.Failure != nil {
		parts = append(parts, fmt.Sprintf("%s: %s", o.Failure.Class, o.Failure.Message))
	}
	for _, c := range o.ToolCalls {
		parts = append(parts, fmt.Sprintf("calls %s(%s)", c.Name, c.Arguments))
	}
	if o.Text != "" {
		parts = append(parts, fmt.Sprintf("%q", o.Text))
	}
	if o.ReasoningChars > 0 {
		parts = append(parts, fmt.Sprintf("%d characters of reasoning", o.ReasoningChars))
	}
	if o.Finish != "" {
		parts = append(parts, "finish "+o.Finish)
	}
	return strings.Join(parts, ", ")
}

// oneLine is text without line ends, at most 160 characters of it.
func oneLine(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return string(r)
}
