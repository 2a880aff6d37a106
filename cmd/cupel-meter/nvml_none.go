//go:build !cgo || !linux

package main

import (
	"runtime"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// canLoad tells that this binary cannot load NVML.
const canLoad = false

// readGPUs says why there are none.
func readGPUs(r *hardware.Report, _ string) { r.Unknown = none(cannotLoad()) }

// openGPUs says why there are none.
func openGPUs(o sourceOptions) ([]source.Source, []trace.Missing, error) {
	why := cannotLoad()
	if len(o.GPUs) > 0 {
		return nil, nil, unknownGPU(o.GPUs[0], nil, &why)
	}
	return nil, []trace.Missing{noNVML(why)}, nil
}

func cannotLoad() hardware.Reason {
	if runtime.GOOS != "linux" {
		return hardware.Reason{Code: hardware.OtherPlatform, Detail: runtime.GOOS}
	}
	return hardware.Reason{Code: hardware.NoCgo}
}
