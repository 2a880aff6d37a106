// Package record looks at sources again and again and writes what they say.
package record

import (
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// Options say how to record.
type Options struct {
	Meter string          // name and version of what records, for the header
	Hz    float64         // looks a second
	For   time.Duration   // 0 = until Stop
	Stop  <-chan struct{} // closed: end the recording as asked
	Made  string          // of the header; "" = sample
	Extra []trace.Missing // what could not even be opened
}
