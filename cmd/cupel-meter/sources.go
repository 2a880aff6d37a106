package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// sourceOptions say what is read.
type sourceOptions struct {
	GPUs    []string      // UUIDs or indices, none = all
	Library string        // NVML, "" = as the system finds it
	RAPL    string        // root folder, "" = the system's, off = not read
	Hwmon   string        // likewise
	Wall    string        // file of a wall meter's lines, - = standard input, "" = none
	Timeout time.Duration // for the driver to open and describe its GPUs
	Require []string      // domains without whose energy or power nothing is recorded
	NeedGPU bool
}

const off = "off"

func (o *sourceOptions) flags(c *cobra.Command, library string) {
	f := c.Flags()
	f.StringArrayVar(&o.GPUs, "gpu", nil, "read this GPU only: UUID or index; may be repeated")
	f.StringVar(&o.Library, "nvml-library", library, "NVML to load (also $CUPEL_NVML_LIBRARY); off: GPUs of NVIDIA are not read")
	f.StringVar(&o.RAPL, "rapl", "", "folder that stands for / where sys/class/powercap is looked for; off: it is not read")
	f.StringVar(&o.Hwmon, "hwmon", "", "folder that stands for / where sys/class/hwmon is looked for; off: it is not read")
	f.StringVar(&o.Wall, "wall", "", "a file or pipe with lines of a wall meter; - is standard input")
	f.DurationVar(&o.Timeout, "timeout", 8*time.Second, "how long the driver may take to open")
	f.StringArrayVar(&o.Require, "require", nil, "exit with 4 unless this domain can be read, such as nvml.gpu; may be repeated")
	f.BoolVar(&o.NeedGPU, "require-gpu", false, "exit with 4 unless a GPU can be read")
}

// domains are the names that --require knows.
var domains = []trace.Domain{
	trace.NVGPU, trace.NVModule, trace.NVMemory, trace.RAPLPackage, trace.RAPLDRAM, trace.RAPLPsys, trace.HwmonGPU, trace.Wall,
	trace.AppleGPU, trace.AppleCPU, trace.AppleANE, trace.AppleDRAM, trace.AppleDCS,
}

// check refuses what cannot be meant.
func (o *sourceOptions) check() error {
	if o.Timeout <= 0 {
		return fmt.Errorf("--timeout %s, want a time above zero", o.Timeout)
	}
	if i := slices.IndexFunc(o.GPUs, func(s string) bool { return strings.TrimSpace(s) == "" }); i >= 0 {
		return errors.New("--gpu is empty, want a UUID or an index")
	}
	if len(o.GPUs) > 0 && o.Library == off {
		return errors.New("--gpu with --nvml-library off: no GPU is read then")
	}
	for _, d := range o.Require {
		if !slices.Contains(domains, trace.Domain(d)) {
			return fmt.Errorf("--require %q, want one of %s", d, words(domains))
		}
	}
	return nil
}

func words(ds []trace.Domain) string {
	var out []string
	for _, d := range ds {
		out = append(out, string(d))
	}
	return strings.Join(out, ", ")
}

// openSources opens everything that there is to read, and says what is missing. The
// caller closes the sources, also those that come with an error.
func openSources(ctx context.Context, o sourceOptions) ([]source.Source, []trace.Missing, error) {
	gpus, missing, err := gpusSoon(ctx, o)
	if err != nil {
		return gpus, missing, err
	}
	others, more, err := otherSources(o)
	sources, missing := append(gpus, others...), append(missing, more...)
	if err != nil {
		return sources, missing, err
	}
	for i, s := range sources {
		sources[i] = described{s, s.Describe()}
	}
	return sources, missing, o.enough(sources, missing)
}

// described is a source that was asked what it is, and is not asked again.
type described struct {
	source.Source
	d source.Description
}

func (d described) Describe() source.Description { return d.d }

// gpusSoon opens NVML. A driver that hangs cannot be interrupted: its call is left
// behind, and ends with the process.
func gpusSoon(ctx context.Context, o sourceOptions) ([]source.Source, []trace.Missing, error) {
	type opened struct {
		sources []source.Source
		missing []trace.Missing
		err     error
	}
	if o.Library == off {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	done := make(chan opened, 1)
	go func() {
		s, missing, err := openGPUs(o)
		done <- opened{s, missing, err}
	}()
	select {
	case got := <-done:
		return got.sources, got.missing, got.err
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, nil, step.Mark(errOutside, errors.New("asked to end before the driver had answered"))
		}
		why := hardware.Reason{Code: hardware.Timeout, Detail: "no answer from NVML within " + o.Timeout.String()}
		if len(o.GPUs) > 0 {
			return nil, nil, unknownGPU(o.GPUs[0], nil, &why)
		}
		return nil, []trace.Missing{noNVML(why)}, nil
	}
}

// noNVML is the reason for there being no NVIDIA GPUs at all.
func noNVML(why hardware.Reason) trace.Missing {
	return trace.Missing{Domain: trace.NVGPU, What: defaultLibrary, Reason: why.Code, Detail: why.Detail}
}

const defaultLibrary = "libnvidia-ml.so.1"

// unknownGPU is the error of a GPU that was named and cannot be read; why = nil: it
// is not among those that are there.
func unknownGPU(name string, there []string, why *hardware.Reason) error {
	if why != nil {
		return step.Mark(errOutside, fmt.Errorf("--gpu %s cannot be read: %s: %s", name, why, hardware.Means(why.Code)))
	}
	err := fmt.Errorf("--gpu %s: there is no such GPU", name)
	if len(there) == 0 {
		return step.Mark(errOutside, err)
	}
	return step.WithHint(step.Mark(errOutside, err), "there are "+strings.Join(there, ", "))
}

// enough checks what was demanded.
func (o *sourceOptions) enough(sources []source.Source, missing []trace.Missing) error {
	can := map[trace.Domain]bool{}
	gpu := false
	for _, s := range sources {
		d := s.Describe()
		missing = append(missing, d.Missing...)
		for _, c := range d.Channels {
			can[c.Domain] = can[c.Domain] || c.Counts()
		}
		for _, dev := range d.Devices {
			gpu = gpu || dev.Kind == trace.GPU
		}
	}
	if o.NeedGPU && !gpu {
		return step.Mark(errOutside, fmt.Errorf("no GPU, and one is required%s", reasonFor(missing, trace.NVGPU)))
	}
	for _, d := range o.Require {
		if !can[trace.Domain(d)] {
			return step.Mark(errOutside, fmt.Errorf("%s cannot be read, and is required%s", d, reasonFor(missing, trace.Domain(d))))
		}
	}
	return nil
}

// reasonFor is why a domain is missing, as the end of a sentence.
func reasonFor(missing []trace.Missing, d trace.Domain) string {
	i := slices.IndexFunc(missing, func(m trace.Missing) bool { return m.Domain == d })
	if i < 0 && strings.HasPrefix(string(d), "nvml.") { // no NVML at all
		i = slices.IndexFunc(missing, func(m trace.Missing) bool { return m.Domain == trace.NVGPU && m.Device == "" })
	}
	if i < 0 {
		return ""
	}
	m := missing[i]
	return ": " + hardware.Reason{Code: m.Reason, Detail: m.Detail}.String() + ": " + hardware.Means(m.Reason)
}

// closeAll closes sources and keeps their errors.
func closeAll(sources []source.Source) error {
	var errs []error
	for _, s := range sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
