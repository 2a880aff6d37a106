//go:build !cgo || !linux

package main

import (
	"runtime"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// canLoad tells that this binary cannot load NVML.
const canLoad = false

// readGPUs says why there are none.
func readGPUs(r *hardware.Report, _ string) {
	why := hardware.Reason{Code: hardware.NoCgo}
	if runtime.GOOS != "linux" {
		why = hardware.Reason{Code: hardware.OtherPlatform, Detail: runtime.GOOS}
	}
	r.Unknown = none(why)
}
