//go:build !darwin || !arm64

package ioreport

import (
	"runtime"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Open says that there is no IOReport here.
func Open() (source.Source, []trace.Missing) {
	return nil, []trace.Missing{{Device: device, What: "libIOReport", Reason: hardware.OtherPlatform, Detail: runtime.GOOS + "/" + runtime.GOARCH}}
}
