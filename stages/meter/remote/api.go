// Package remote is a meter on another machine: the server that cupel-meter serve
// runs there, and the client that fetches a recording from it and exchanges clocks
// with it. docs/meter-remote.md describes both.
package remote

import "github.com/cupel-dev/cupel/stages/meter/record"

// The paths of the server. Documents are JSON; a recording is a trace.
const (
	meterPath      = "/v1/meter"      // GET: what can be read, as cupel-meter probe prints it
	clockPath      = "/v1/clock"      // GET: clock
	recordingsPath = "/v1/recordings" // POST request: a trace, while it is recorded
	stopSuffix     = "/stop"          // POST recordingsPath/ID/stop: end it as asked
)

// idHeader carries the id of a recording with the answer that streams it.
const idHeader = "Cupel-Recording"

const (
	jsonType  = "application/json"
	traceType = "application/x-ndjson"
)

// clock is the server's wall clock.
type clock struct {
	UnixNS int64 `json:"unix_ns"`
}

// request asks for a recording.
type request struct {
	GPUs []string `json:"gpus,omitempty"` // UUIDs or indices, none = all
	Hz   float64  `json:"hz,omitempty"`   // looks a second, 0 = record.UsualHz
}

// failure is every answer that is not what was asked for.
type failure struct {
	Error string `json:"error"` // one sentence
}

// Limits of a request.
const (
	maxBody  = 64 << 10
	maxGPUs  = 64
	usualHz  = record.UsualHz
	maxHz    = 200
	idLength = 32 // hexadecimal digits
)
