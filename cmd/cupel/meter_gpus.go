package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// listHere lists what the meter of this machine reads of the GPUs that a binding names,
// none = of all. That it knows none of that name is an error of the binding, and no
// reason to measure without it: it is one that can be asked, as it lists everything else.
func listHere(ctx context.Context, at meterPlace, gpus []string) (*trace.Probe, error) {
	flags := at.flags()
	for _, g := range gpus {
		flags = append(flags, "--gpu", g)
	}
	p, err := probe(ctx, at.path, 0, flags...)
	none, failed := errors.AsType[*meterError](err)
	if !failed || len(gpus) == 0 {
		return p, err
	}
	if _, err := probe(ctx, at.path, 0); err != nil {
		return nil, err
	}
	says := none.detail
	if _, said, there := strings.Cut(says, "cupel-meter: "); there {
		says = said
	}
	return nil, notThere(errors.New(says))
}

// gpusThere compares what a binding names with what a meter elsewhere lists, which
// cannot be asked about one GPU. Which GPU an instance is of it does not say.
func gpusThere(p *trace.Probe, gpus []string) error {
	for _, name := range gpus {
		if strings.HasPrefix(name, "MIG-") {
			continue
		}
		if !slices.ContainsFunc(p.Devices, func(d trace.Device) bool {
			return d.Kind == trace.GPU && (d.ID == name || strconv.Itoa(d.Index) == name)
		}) {
			return notThere(fmt.Errorf("gpu %s: %s", name, whyNoGPU(p)))
		}
	}
	return nil
}

// whyNoGPU is why a GPU is not among the devices of a probe, as far as it says.
func whyNoGPU(p *trace.Probe) string {
	if p.None != nil {
		return hardware.Means(p.None.Reason)
	}
	i := slices.IndexFunc(p.Missing, func(m trace.Missing) bool { return m.Domain == trace.NVGPU && m.Device == "" })
	if i < 0 {
		return "there is no such GPU"
	}
	return cmp.Or(p.Missing[i].Detail, hardware.Means(p.Missing[i].Reason))
}

// notThere is the error of a binding that names what its meter does not read.
func notThere(err error) error {
	return step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("the meter does not read what the binding names: %w", err)),
		"bind a GPU that cupel-meter identify shows, or leave gpu out")
}
