// Package hardware holds what a machine is made of: how it is written down
// (cupel/hardware/v1, docs/hardware.md), which part of it identifies it, and how
// it is read back from a file that came from elsewhere.
//
// It reads no machine itself: that is for hardware/host (CPU, memory, system) and
// cmd/cupel-meter (GPUs). A value that is not known is a nil pointer with a reason
// in Unknown, never 0.
package hardware

import "time"

// Schema names the format.
const Schema = "cupel/hardware/v1"

// Report is everything that a meter sees of one machine.
type Report struct {
	Schema  string    `json:"schema"`
	Made    time.Time `json:"made,omitzero"`   // wall clock, UTC, whole seconds
	Meter   string    `json:"meter,omitempty"` // version of the meter
	OS      OS        `json:"os"`
	CPU     CPU       `json:"cpu"`
	Memory  *uint64   `json:"memory_bytes"`
	Library *string   `json:"nvml_library"` // base name of what was loaded
	NVML    *string   `json:"nvml_version"`
	Driver  *string   `json:"driver"`
	CUDA    *string   `json:"cuda"` // that the driver supports: "12.8"
	GPUs    []GPU     `json:"gpus"` // nil = not known; empty = there are none
	Unknown Unknown   `json:"unknown,omitempty"`
}

// OS is the system that runs on the machine.
type OS struct {
	Name    string  `json:"name"` // GOOS
	Arch    string  `json:"arch"` // GOARCH
	Release *string `json:"release"`
	Kernel  *string `json:"kernel"`
}

// CPU is the processors of the machine, all sockets together.
type CPU struct {
	Model   *string  `json:"model"`
	Sockets *int     `json:"sockets"`
	Cores   *int     `json:"cores"`   // physical
	Threads *int     `json:"threads"` // logical
	Flags   []string `json:"flags"`   // those of KnownFlags, sorted
}

// GPU is one GPU, with what identifies it and what may change while it runs.
type GPU struct {
	Index         int       `json:"index"` // NVML's, which a reboot may change
	UUID          *string   `json:"uuid"`
	Name          *string   `json:"name"`
	Architecture  *string   `json:"architecture"`       // hopper, ampere, ...
	Compute       *string   `json:"compute_capability"` // 9.0
	Memory        *uint64   `json:"memory_bytes"`
	PCI           *string   `json:"pci_bus_id"`
	VBIOS         *string   `json:"vbios"`
	PowerLimit    *uint32   `json:"power_limit_mw"`
	PowerEnforced *uint32   `json:"power_limit_enforced_mw"`
	PowerDefault  *uint32   `json:"power_limit_default_mw"`
	PowerMin      *uint32   `json:"power_limit_min_mw"`
	PowerMax      *uint32   `json:"power_limit_max_mw"`
	MIG           *bool     `json:"mig"`
	MIGPending    *bool     `json:"mig_after_reset"`
	Instances     []MIG     `json:"mig_instances"` // nil = not known
	Persistence   *bool     `json:"persistence_mode"`
	ECC           *bool     `json:"ecc"`
	MaxGraphics   *uint32   `json:"clock_max_graphics_mhz"`
	MaxMemory     *uint32   `json:"clock_max_memory_mhz"`
	AppGraphics   *uint32   `json:"clock_app_graphics_mhz"`
	AppMemory     *uint32   `json:"clock_app_memory_mhz"`
	Processes     []Process `json:"compute_processes"` // now; nil = not known
	Unknown       Unknown   `json:"unknown,omitempty"`
}

// MIG is one slice of a GPU that is partitioned.
type MIG struct {
	UUID    *string `json:"uuid"`
	Name    *string `json:"name"` // "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
	Memory  *uint64 `json:"memory_bytes"`
	Unknown Unknown `json:"unknown,omitempty"`
}

// Process computes on a GPU at the moment of the look. A process of another PID
// namespace has no name here.
type Process struct {
	PID     uint32  `json:"pid"`
	Name    *string `json:"name"` // base name of the program
	Memory  *uint64 `json:"memory_bytes"`
	Unknown Unknown `json:"unknown,omitempty"`
}

// Unknown says why fields are null, by their names in JSON ("cpu.model").
type Unknown map[string]Reason

// Reason is one of the codes of Reasons, with the words of whoever was asked.
type Reason struct {
	Code   string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// String is the code and its detail.
func (r Reason) String() string {
	if r.Detail == "" {
		return r.Code
	}
	return r.Code + " (" + r.Detail + ")"
}

// KnownFlags are the instruction sets that inference engines choose kernels by,
// as /proc/cpuinfo spells them on x86-64 and arm64.
var KnownFlags = []string{
	"amx_bf16", "amx_int8", "amx_tile", "avx", "avx2", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx512f", "avx_vnni", "f16c", "fma", "sse4_2",
	"asimd", "asimddp", "asimdhp", "bf16", "i8mm", "sve", "sve2",
}
