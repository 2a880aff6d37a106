// Package scrape reads what an engine's /metrics endpoint says about a cell.
//
// [Summarise] turns the looks taken before, during and after a cell, each a page
// in the Prometheus text format 0.0.4 or OpenMetrics text, into one
// [metric.Server]: differences of counters and histograms, peaks of gauges. The
// names that each engine uses for one and the same thing are a table (see
// engines.go), with old spellings beside new ones.
//
// The package is pure: bytes in, numbers out. A number that the looks do not
// support is null with a reason code; a counter that went backwards is never a
// negative number.
package scrape
