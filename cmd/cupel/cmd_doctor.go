package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware/host"
)

// doctorOptions are the flags of cupel doctor.
type doctorOptions struct {
	require  []string
	bindings string
	root     string // hidden: a folder that stands for the machine
	ports    []int  // hidden: where engines are looked for
}

func (a *app) doctorCmd() *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "what works on this machine, and how to get what does not",
		Long: `Look at what campaigns may need and say of each whether it is there: ok, warn (there,
and something is doubtful) or missing, with what to do. Engines are asked with GET
requests on this machine alone, and at the addresses of a bindings file if one is given.
Nothing is changed. Names for --require:

` + doctorNames() + `
` + exitCodeTable(),
		Example: `  cupel doctor
  cupel doctor --require gpu --require store --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), o) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.require, "require", nil, "exit with 1 unless `name` is ok (repeatable)")
	f.StringVar(&o.bindings, "bindings", "", "bindings `file` whose endpoints are looked at too")
	f.StringVar(&o.root, "root", "/", "folder that holds proc and sys")
	f.IntSliceVar(&o.ports, "ports", usualPorts, "ports of this machine to look at")
	for _, name := range []string{"root", "ports"} {
		_ = f.MarkHidden(name) // it exists: defined above
	}
	return c
}

// States of a finding.
const (
	doctorOK      = "ok"
	doctorWarn    = "warn"
	doctorMissing = "missing"
)

// diagnosis is one line of the doctor's.
type diagnosis struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"`
}

// doctor is what the checks look at.
type doctor struct {
	host     host.Host
	system   system
	ports    []int
	bindings map[string]spec.Binding
	store    string // folder of the store
	meter    meterFinding
}

// doctorCheck looks at one thing, and says a line or more about it.
type doctorCheck struct {
	name, about string
	look        func(context.Context, *doctor) []diagnosis
}

// doctorChecks is the one table of checks, in the order in which they are shown.
var doctorChecks = []doctorCheck{
	{"engines", "inference engines that answer", lookEngines},
	{"meter", "cupel-meter, which reads GPUs", lookMeter},
	{"gpu", "a GPU whose identity can be read", lookGPU},
	{"energy", "what energy can be measured here, and how well", lookEnergy},
	{"rapl", "energy counters of the CPU", lookRAPL},
	{"sandbox", "where the code scorer runs programs", lookSandbox},
	{"store", "disk and file system of the store", lookStore},
	{"clock", "resolution of the clock", lookClock},
	{"ntp", "whether the wall clock is synchronised", lookNTP},
	{"client", "what the measuring client adds", lookClient},
	{"ssh", "tools and agent for approvals", lookSSH},
	{"age", "identity for held-out items", lookAge},
	{"files", "open files, one per connection", lookFiles},
	{"governor", "frequency governor of the CPU", lookGovernor},
	{"turbo", "turbo clocks of the CPU", lookTurbo},
	{"cpu-limit", "CPU limit of the container", lookCPULimit},
}

func doctorNames() string {
	var b strings.Builder
	for _, c := range doctorChecks {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.about)
	}
	return b.String()
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	d, err := a.newDoctor(ctx, o)
	if err != nil {
		return fail(exitUsage, err)
	}
	var all []diagnosis
	for _, c := range doctorChecks {
		for _, f := range c.look(ctx, d) {
			f.Name = c.name
			all = append(all, f)
		}
	}
	if ctx.Err() != nil {
		return fail(exitInterrupted, errors.New("interrupted"))
	}
	unmet := unmet(all, o.require)
	if a.json {
		err = a.printJSON(map[string]any{"findings": all, "unmet": unmet})
	} else {
		err = a.printDoctor(all)
	}
	if err == nil && len(unmet) > 0 {
		err = fail(exitFailed, fmt.Errorf("required, and not ok: %s", strings.Join(unmet, ", ")))
	}
	return err
}

func (a *app) newDoctor(ctx context.Context, o doctorOptions) (*doctor, error) {
	for _, name := range o.require {
		if !slices.ContainsFunc(doctorChecks, func(c doctorCheck) bool { return c.name == name }) {
			return nil, step.WithHint(fmt.Errorf("--require %s: there is no such check", name), "the names are in cupel doctor -h")
		}
	}
	d := &doctor{host: host.At(o.root), system: thisSystem, ports: o.ports, store: a.doctorStore()}
	if o.bindings != "" {
		var err error
		if d.bindings, err = spec.LoadBindings(o.bindings); err != nil {
			return nil, err
		}
	}
	d.meter = askMeter(ctx)
	return d, nil
}

// unmet are the required checks of which no line, or not every one, is ok. One
// engine that answers is enough.
func unmet(all []diagnosis, required []string) []string {
	out := []string{}
	for _, name := range required {
		met := false
		for _, f := range all {
			met = met || f.Name == name && f.State == doctorOK
		}
		if !met {
			out = append(out, name)
		}
	}
	return out
}

func (a *app) printDoctor(all []diagnosis) error {
	p := a.colors()
	states := map[string]func(string) string{doctorOK: p.green, doctorWarn: p.yellow, doctorMissing: p.red}
	for _, f := range all {
		a.printf("%s %-9s %s\n", states[f.State](fmt.Sprintf("%-7s", f.State)), f.Name, f.Says)
		if f.Fix != "" {
			a.printf("%17s fix: %s\n", "", f.Fix)
		}
	}
	return nil
}
