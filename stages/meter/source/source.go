// Package source reads the counters of a machine that need no cgo: RAPL through
// powercap, hwmon, a wall meter's lines, and on macOS IOReport.
package source

import "github.com/cupel-dev/cupel/stages/trace"

// Source is a group of channels that are read together, such as the GPUs of NVML.
// Its methods are called by one goroutine.
type Source interface {
	// Describe says what it reads, what it looked for and cannot read, and the
	// driver, if it has one. Channels keep their order; Device names one of the devices.
	Describe() Description
	// Read looks at every channel once and hands each reading to put, by the
	// channel's position in Describe.
	Read(put Put)
	// States looks at what changes seldom. It is called about once a second.
	States() []trace.State
	// Close lets go of what the source holds open.
	Close() error
}

// Put takes one reading, right after it was made: the taker stamps it. code is a
// reason code, "" = v was read.
type Put func(channel int, v int64, code string)

// Description is what a source can read.
type Description struct {
	Devices  []trace.Device
	Channels []trace.Channel
	Missing  []trace.Missing
	Driver   string
}
