//go:build cgo

package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// mocked is a driver of one GPU whose every function returns ret, but for those
// that name the GPU.
func mocked(ret *nvml.Return, per map[uint32]nvml.Return) *library {
	dev := &mock.Device{
		GetUUIDFunc:                   func() (string, nvml.Return) { return "GPU-mock", nvml.SUCCESS },
		GetNameFunc:                   func() (string, nvml.Return) { return "NVIDIA H100", nvml.SUCCESS },
		GetArchitectureFunc:           func() (nvml.DeviceArchitecture, nvml.Return) { return nvml.DEVICE_ARCH_HOPPER, nvml.SUCCESS },
		GetCudaComputeCapabilityFunc:  func() (int, int, nvml.Return) { return 9, 0, nvml.SUCCESS },
		GetVbiosVersionFunc:           func() (string, nvml.Return) { return "", nvml.ERROR_NOT_SUPPORTED },
		GetMemoryInfoFunc:             func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, nvml.ERROR_NOT_SUPPORTED },
		GetPciInfoFunc:                func() (nvml.PciInfo, nvml.Return) { return nvml.PciInfo{}, nvml.ERROR_NOT_SUPPORTED },
		GetTotalEnergyConsumptionFunc: func() (uint64, nvml.Return) { return 1000, *ret },
		GetPowerUsageFunc:             func() (uint32, nvml.Return) { return 70_000, *ret },
		GetTemperatureFunc:            func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 40, *ret },
		GetComputeRunningProcessesFunc: func() ([]nvml.ProcessInfo, nvml.Return) {
			return []nvml.ProcessInfo{{Pid: 9}, {Pid: 7}, {Pid: 9}}, *ret
		},
		GetMigModeFunc:            func() (int, int, nvml.Return) { return 0, 0, *ret },
		GetEnforcedPowerLimitFunc: func() (uint32, nvml.Return) { return 700_000, *ret },
		GetFieldValuesFunc:        func(fields []nvml.FieldValue) nvml.Return { return fill(fields, *ret, per) },
	}
	return &library{Interface: &mock.Interface{
		ExtensionsFunc: func() nvml.ExtendedInterface {
			return &mock.ExtendedInterface{LookupSymbolFunc: func(string) error { return nil }}
		},
		DeviceGetCountFunc:         func() (int, nvml.Return) { return 1, nvml.SUCCESS },
		DeviceGetHandleByIndexFunc: func(int) (nvml.Device, nvml.Return) { return dev, nvml.SUCCESS },
		SystemGetDriverVersionFunc: func() (string, nvml.Return) { return "570", nvml.SUCCESS },
		ShutdownFunc:               func() nvml.Return { return nvml.SUCCESS },
	}}
}

func fill(fields []nvml.FieldValue, ret nvml.Return, per map[uint32]nvml.Return) nvml.Return {
	if ret != nvml.SUCCESS {
		return ret
	}
	for i := range fields {
		fields[i].NvmlReturn, fields[i].ValueType = uint32(per[fields[i].FieldId]), typeUint
		binary.NativeEndian.PutUint32(fields[i].Value[:4], 5)
	}
	return nvml.SUCCESS
}

// reasons are what the error returns of NVML become. Those that are not here have
// no reason of their own.
var reasons = map[nvml.Return]string{
	nvml.ERROR_NOT_SUPPORTED: hardware.NotSupported, nvml.ERROR_NO_PERMISSION: hardware.NoPermission, nvml.ERROR_TIMEOUT: hardware.Timeout,
	nvml.ERROR_GPU_IS_LOST: hardware.GPULost, nvml.ERROR_RESET_REQUIRED: hardware.GPULost, nvml.ERROR_DRIVER_NOT_LOADED: hardware.DriverMissing,
	nvml.ERROR_UNINITIALIZED: hardware.NVMLError, nvml.ERROR_INVALID_ARGUMENT: hardware.NVMLError, nvml.ERROR_IN_USE: hardware.NVMLError,
	nvml.ERROR_IRQ_ISSUE: hardware.NVMLError, nvml.ERROR_MEMORY: hardware.NVMLError, nvml.ERROR_UNKNOWN: hardware.NVMLError, 4711: hardware.NVMLError,
}

// A function that begins to fail gives samples with its reason, whatever value
// stands beside the return code, and works again when it does.
func TestReturns(t *testing.T) {
	ret := nvml.Return(nvml.SUCCESS)
	l := mocked(&ret, nil)
	g, err := l.meter(nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (out []string) {
		g.Read(func(c int, v int64, code string) {
			out = append(out, fmt.Sprintf("%s=%d%s", g.d.Channels[c].Quantity, v, code))
		})
		return out
	}
	fine := read()
	if len(fine) != len(g.d.Channels) || !slices.Contains(fine, "energy=1000") || !slices.Contains(fine, "power=5") || !slices.Contains(fine, "temperature=40") {
		t.Fatal(fine)
	}
	for ret2, want := range reasons {
		ret = ret2
		for _, s := range read() {
			if _, got, _ := strings.Cut(s, "="); got != "0"+want {
				t.Errorf("NVML %d: %s, want %s", ret2, s, want)
			}
		}
		s := g.States()[0]
		if s.Processes != nil || s.PIDs != nil || s.MIG != nil || s.LimitMW != nil || len(s.Unknown) != 3 || s.Unknown[0] != (trace.Unread{Field: "processes", Reason: want}) {
			t.Errorf("NVML %d: %+v", ret2, s)
		}
	}
	ret = nvml.SUCCESS
	if !slices.Equal(read(), fine) {
		t.Error("it works again, and is not read")
	}
	s := g.States()[0]
	if *s.Processes != 3 || !slices.Equal(s.PIDs, []int{7, 9}) || *s.MIG || *s.LimitMW != 700_000 {
		t.Errorf("%+v", s)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Every entry of a call has a return code of its own.
func TestReturnsOfFields(t *testing.T) {
	for code, want := range reasons {
		ret, per := nvml.Return(nvml.SUCCESS), map[uint32]nvml.Return{}
		g, err := mocked(&ret, per).meter(nil)
		if err != nil {
			t.Fatal(err)
		}
		per[186] = code
		g.Read(func(c int, v int64, got string) {
			is := ""
			if p := g.d.Channels[c]; p.Source == "field 186" || p.Source == "field 186 scope 1" || p.Source == "field 186 scope 2" {
				is = want
			}
			if got != is || is != "" && v != 0 {
				t.Errorf("NVML %d, %s: %d %q, want %q", code, g.d.Channels[c].Source, v, got, is)
			}
		})
	}
}

// A GPU that answers nothing from the start has a reason for everything, and no channel.
func TestReturnsAtTheStart(t *testing.T) {
	for ret, want := range reasons {
		g, err := mocked(&ret, nil).meter(nil)
		if err != nil || len(g.d.Channels) != 0 || len(g.d.Devices) != 1 {
			t.Fatalf("%v %+v", err, g.d)
		}
		if ret == nvml.ERROR_INVALID_ARGUMENT { // of fields it says that they are not known
			continue
		}
		if len(g.d.Missing) < 8 || slices.ContainsFunc(g.d.Missing, func(m trace.Missing) bool { return m.Reason != want }) {
			t.Errorf("NVML %d: %+v", ret, g.d.Missing)
		}
	}
}

// The same GPU twice is one GPU, and the other is said.
func TestSameUUID(t *testing.T) {
	ret := nvml.Return(nvml.SUCCESS)
	l := mocked(&ret, nil)
	l.Interface.(*mock.Interface).DeviceGetCountFunc = func() (int, nvml.Return) { return 2, nvml.SUCCESS }
	g, err := l.meter(nil)
	if err != nil || len(g.d.Devices) != 1 || !slices.ContainsFunc(g.d.Missing, func(m trace.Missing) bool { return m.What == "gpu-1" && m.Reason == hardware.Implausible }) {
		t.Errorf("%v %+v", err, g.d)
	}
}
