package main

import (
	"slices"

	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/metric/energy"
	"github.com/cupel-dev/cupel/stages/trace"
)

// addBases adds the bases whose joules could be derived from a recording such as t.
func addBases(p *trace.Probe, t *trace.Trace) {
	for _, b := range energy.Spelled {
		if channels, ok := energy.Readable(t, b.Base); ok {
			slices.Sort(channels)
			p.Base(b.Base, channels, onePercent)
		}
	}
}

// onePercent is the window of a usual recording whose ends are off by 1 % of it at most.
func onePercent(period int64) int64 { return 100 * energy.Ends(period, record.UsualLook) }
