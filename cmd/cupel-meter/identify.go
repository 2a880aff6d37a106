package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/hardware/host"
)

// identifyOptions are the flags of cupel-meter identify.
type identifyOptions struct {
	requireGPU bool
	library    string        // "" = libnvidia-ml.so.1, as the system finds it
	timeout    time.Duration // for all questions to the driver together
}

func (m *meter) identifyCmd() *cobra.Command {
	var o identifyOptions
	c := &cobra.Command{
		Use:   "identify",
		Short: "print the hardware as JSON (cupel/hardware/v1)",
		Long: `Print what this machine is made of as one JSON document. What cannot be read is null,
with the reason beside it; that alone is no error. Serial numbers and the host's name
are not in it.

` + exitCodeTable,
		Example: "  cupel-meter identify > host.json\n  cupel-meter identify --require-gpu --nvml-library /usr/lib/libnvidia-ml.so.1",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return m.identify(c.Context(), o) },
	}
	f := c.Flags()
	f.BoolVar(&o.requireGPU, "require-gpu", false, "exit with 4 unless there is a GPU that can be read")
	f.StringVar(&o.library, "nvml-library", os.Getenv("CUPEL_NVML_LIBRARY"), "NVML to load, for example in a container (also $CUPEL_NVML_LIBRARY)")
	f.DurationVar(&o.timeout, "timeout", 8*time.Second, "how long the driver may take to answer")
	f.Bool("json", true, "for symmetry with cupel: it is always JSON")
	_ = f.MarkHidden("json") // it exists: defined above
	return c
}

func (m *meter) identify(ctx context.Context, o identifyOptions) error {
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s, want a time above zero", o.timeout)
	}
	here := host.Here()
	r := &hardware.Report{Schema: hardware.Schema, Made: time.Now().UTC().Truncate(time.Second), Meter: version, Unknown: hardware.Unknown{}}
	gpusWithin(ctx, r, o)
	vendors(r, here.GPUVendors())
	here.Describe(r)
	if err := m.printJSON(r); err != nil {
		return err
	}
	if o.requireGPU && len(r.GPUs) == 0 {
		return noGPU(r)
	}
	return nil
}

// gpusWithin fills in the GPUs. A driver that hangs cannot be interrupted: its
// call is left behind, and ends with the process.
func gpusWithin(ctx context.Context, r *hardware.Report, o identifyOptions) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	done := make(chan *hardware.Report, 1)
	go func() {
		own := &hardware.Report{Unknown: hardware.Unknown{}}
		readGPUs(own, o.library)
		done <- own
	}()
	select {
	case own := <-done:
		r.GPUs, r.Library, r.NVML, r.Driver, r.CUDA, r.Unknown = own.GPUs, own.Library, own.NVML, own.Driver, own.CUDA, own.Unknown
	case <-ctx.Done():
		r.Unknown = none(hardware.Reason{Code: hardware.Timeout, Detail: "no answer from NVML within " + o.timeout.String()})
	}
}

// none is the reason for everything that comes from NVML.
func none(why hardware.Reason) hardware.Unknown {
	out := hardware.Unknown{}
	for _, name := range []string{"gpus", "nvml_library", "nvml_version", "driver", "cuda"} {
		out[name] = why
	}
	return out
}

// vendorNames are the makers of GPUs by their PCI number.
var vendorNames = map[string]string{"0x1002": "AMD", "0x8086": "Intel"}

// vendors tells a machine with GPUs of another maker from one without any.
func vendors(r *hardware.Report, ids []string) {
	if r.GPUs != nil || r.Unknown["gpus"].Code != hardware.NoNVML {
		return
	}
	for _, id := range ids {
		if name, ok := vendorNames[id]; ok {
			r.Unknown["gpus"] = hardware.Reason{Code: hardware.OtherPlatform, Detail: "a GPU of " + name + " is there, and only NVIDIA's are read"}
		}
	}
}

func noGPU(r *hardware.Report) error {
	why := hardware.Reason{Code: hardware.NoGPU}
	if r.GPUs == nil {
		why = r.Unknown["gpus"]
	}
	err := fmt.Errorf("no GPU, and one is required: %s: %s", why, hardware.Means(why.Code))
	return step.WithHint(step.Mark(errOutside, err), "run it where nvidia-smi works, or leave --require-gpu out")
}
