//go:build cgo

package main

import (
	"fmt"
	"path/filepath"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// canLoad tells that this binary can load NVML.
const canLoad = true

// readGPUs loads NVML and asks it about every GPU.
func readGPUs(r *hardware.Report, path string) {
	if path == "" {
		path = defaultLibrary
	}
	if why := loadable(path); why != nil {
		r.Unknown = none(*why)
		return
	}
	l := &library{Interface: nvml.New(nvml.WithLibraryPath(path))}
	if ret := l.Init(); ret != nvml.SUCCESS {
		r.Unknown = none(reasonOf(ret))
		return
	}
	defer l.end()
	base := filepath.Base(path)
	r.Library = &base
	l.system(r)
	l.gpus(r)
}

// loadable looks whether Init can be called at all: a function that the library
// lacks ends the process, and nobody can catch that.
func loadable(path string) *hardware.Reason {
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL)
	if err := lib.Open(); err != nil {
		return &hardware.Reason{Code: hardware.NoNVML, Detail: oneLine(err)}
	}
	defer lib.Close()
	if lib.Lookup("nvmlInit_v2") != nil && lib.Lookup("nvmlInit") != nil {
		return &hardware.Reason{Code: hardware.NotNVML, Detail: "no nvmlInit in " + filepath.Base(path)}
	}
	return nil
}

// library is NVML after Init. Not one of its functions is called before it was
// looked up, and no text of an error is asked of it.
type library struct{ nvml.Interface }

func (l *library) end() {
	if l.has("nvmlShutdown") {
		l.Shutdown()
	}
}

// has reports whether the library has one of these functions.
func (l *library) has(symbols ...string) bool {
	for _, s := range symbols {
		if l.Extensions().LookupSymbol(s) == nil {
			return true
		}
	}
	return false
}

// ask calls f if the library has one of the functions that f may end in. It says
// whether there is a value, and notes why not.
func (l *library) ask(u hardware.Unknown, field string, f func() nvml.Return, symbols ...string) bool {
	if !l.has(symbols...) {
		u[field] = hardware.Reason{Code: hardware.MissingSymbol, Detail: symbols[0]}
		return false
	}
	if ret := f(); ret != nvml.SUCCESS {
		u[field] = reasonOf(ret)
		return false
	}
	return true
}

// text asks for one that can be true.
func (l *library) text(u hardware.Unknown, field string, f func() (string, nvml.Return), symbols ...string) *string {
	var s string
	if !l.ask(u, field, func() (ret nvml.Return) { s, ret = f(); return ret }, symbols...) {
		return nil
	}
	if !hardware.Text(s) {
		u[field] = hardware.Reason{Code: hardware.Implausible, Detail: fmt.Sprintf("%.40q", s)}
		return nil
	}
	return &s
}

// amount asks for a number that can be true.
func amount[N uint32 | uint64](l *library, u hardware.Unknown, field string, can func(N) bool, f func() (N, nvml.Return), symbols ...string) *N {
	var n N
	if !l.ask(u, field, func() (ret nvml.Return) { n, ret = f(); return ret }, symbols...) {
		return nil
	}
	if !can(n) {
		u[field] = hardware.Reason{Code: hardware.Implausible, Detail: fmt.Sprint(n)}
		return nil
	}
	return &n
}

// system asks for the versions of driver and library.
func (l *library) system(r *hardware.Report) {
	r.Driver = l.text(r.Unknown, "driver", l.SystemGetDriverVersion, "nvmlSystemGetDriverVersion")
	r.NVML = l.text(r.Unknown, "nvml_version", l.SystemGetNVMLVersion, "nvmlSystemGetNVMLVersion")
	r.CUDA = l.text(r.Unknown, "cuda", func() (string, nvml.Return) {
		v, ret := l.SystemGetCudaDriverVersion_v2()
		if v < 1000 || v >= 1000_000 {
			return "", ret // refused as a text
		}
		return fmt.Sprintf("%d.%d", v/1000, v%1000/10), ret
	}, "nvmlSystemGetCudaDriverVersion_v2")
}

// gpus asks for every GPU. One that is lost stays in the list, as unknown.
func (l *library) gpus(r *hardware.Report) {
	var n int
	count := func() (ret nvml.Return) { n, ret = l.DeviceGetCount(); return ret }
	if !l.ask(r.Unknown, "gpus", count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return
	}
	if n < 0 || n > hardware.MaxGPUs {
		r.Unknown["gpus"] = hardware.Reason{Code: hardware.Implausible, Detail: fmt.Sprintf("%d GPUs", n)}
		return
	}
	r.GPUs = []hardware.GPU{}
	for i := range n {
		r.GPUs = append(r.GPUs, l.gpu(i))
	}
}
