// Package scrape reads what an engine's /metrics endpoint says about a cell.
//
// [Parse] reads the Prometheus text format 0.0.4 and OpenMetrics text, [Engine]
// tells whose metrics they are, and [Summarise] turns the looks taken before,
// during and after a cell into one [metric.Server]: differences of counters and
// histograms, peaks of gauges. The names that each engine uses for one and the
// same thing are a table (see engines.go), with old spellings beside new ones.
//
// The package is pure: bytes in, numbers out. A number that the looks do not
// support is null with a reason code; a counter that went backwards is never a
// negative number.
package scrape

import "github.com/cupel-dev/cupel/stages/metric"

// The reason codes of this package; the other ones are stages/metric's.
const (
	// CounterReset: a counter went backwards, vanished, or the server process
	// was replaced between the looks, so their difference means nothing.
	CounterReset = metric.CounterReset
	// SeveralModels: the server serves several models and none of them was asked
	// for, or not under this name; a sum over all would count other models' work.
	SeveralModels = metric.SeveralModels
	// NoScrapePair: the engine was not read both before and after the cell.
	NoScrapePair = metric.NoScrapePair
)
