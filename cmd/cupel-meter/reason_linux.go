//go:build cgo

package main

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// codes are the return codes that have a reason of their own; nvml.h.
var codes = map[nvml.Return]string{
	nvml.ERROR_NOT_SUPPORTED:           hardware.NotSupported,
	nvml.ERROR_NO_PERMISSION:           hardware.NoPermission,
	nvml.ERROR_OPERATING_SYSTEM:        hardware.NoPermission,
	nvml.ERROR_DRIVER_NOT_LOADED:       hardware.DriverMissing,
	nvml.ERROR_TIMEOUT:                 hardware.Timeout,
	nvml.ERROR_LIBRARY_NOT_FOUND:       hardware.NoNVML,
	nvml.ERROR_FUNCTION_NOT_FOUND:      hardware.MissingSymbol,
	nvml.ERROR_GPU_IS_LOST:             hardware.GPULost,
	nvml.ERROR_RESET_REQUIRED:          hardware.GPULost,
	nvml.ERROR_LIB_RM_VERSION_MISMATCH: hardware.DriverMismatch,
}

// reasonOf keeps the number: nvmlErrorString is a function that may be missing.
func reasonOf(ret nvml.Return) hardware.Reason {
	return hardware.Reason{Code: codeOf(ret), Detail: fmt.Sprintf("NVML %d", int(ret))}
}

// codeOf is the code alone.
func codeOf(ret nvml.Return) string {
	if code, ok := codes[ret]; ok {
		return code
	}
	return hardware.NVMLError
}

// oneLine is the text of the dynamic linker, which may name a path twice.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "?")), " ")
	return s[:min(len(s), 200)]
}
