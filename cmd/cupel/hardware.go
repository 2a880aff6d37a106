package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
)

// staleHardware is the age from which on a hardware file is doubted: drivers are
// exchanged in that time.
const staleHardware = 30 * 24 * time.Hour

// Hardware tells what the endpoint runs on.
func (e endpoint) Hardware(ctx context.Context) (hardware.Seen, error) { return e.under(ctx) }

// hardwareOf looks at what a candidate's binding runs on: a file that it names,
// or this machine, if the endpoint is on it.
func (w *wiring) hardwareOf(ctx context.Context, candidate string) (hardware.Seen, error) {
	b := w.bindings[candidate]
	switch {
	case b.Hardware == spec.NoHardware:
		return hardware.Unseen(hardware.NotLocal, "the binding says so"), nil
	case b.Hardware != "":
		r, err := hardwareFile(b)
		if err != nil {
			return hardware.Seen{}, step.Mark(step.ErrOutside, err)
		}
		seen := hardware.See(hardware.FromFile, r)
		seen.Warnings = aged(b.Hardware, time.Since(r.Made))
		return seen, nil
	case strings.HasPrefix(b.URL, embeddedScheme):
		return hardware.Unseen(hardware.Embedded, ""), nil
	case !loopbackURL(b.URL):
		return hardware.Unseen(hardware.NotLocal, ""), nil
	}
	return w.localHardware(ctx, b)
}

// localHardware asks the meter. That there is none, and that it fails, is not
// known hardware, and no error: most candidates have never had any.
func (w *wiring) localHardware(ctx context.Context, b spec.Binding) (hardware.Seen, error) {
	r, err := identify(ctx)
	var failed *meterError
	switch {
	case errors.As(err, &failed):
		seen := hardware.Unseen(failed.code, failed.detail)
		if failed.code == hardware.MeterFailed {
			seen.Warnings = []string{"the hardware is not known: " + failed.Error()}
		}
		return seen, nil
	case err != nil:
		return hardware.Seen{}, err
	case r.GPUs == nil:
		return hardware.See(hardware.FromMeter, r), nil
	}
	if r, err = r.Select(b.GPUs); err != nil {
		return hardware.Seen{}, step.Mark(step.ErrOutside, err)
	}
	return hardware.See(hardware.FromMeter, r), nil
}

// hardwareFile reads the file of a binding, with the GPUs that it selects.
func hardwareFile(b spec.Binding) (*hardware.Report, error) {
	f, err := os.Open(b.Hardware)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, step.WithHint(fmt.Errorf("hardware file %s: %w", b.Hardware, err), hardware.Remake)
	}
	defer f.Close()
	r, err := hardware.Read(f)
	if err == nil {
		r, err = r.Select(b.GPUs)
	}
	if err != nil {
		return nil, fmt.Errorf("hardware file %s: %w", b.Hardware, err)
	}
	return r, nil
}

// aged doubts a file that is old, or that comes from the future.
func aged(name string, age time.Duration) []string {
	days := int(age.Hours() / 24)
	switch {
	case age > staleHardware:
		return []string{fmt.Sprintf("the hardware is from %s, which is %d days old; %s", name, days, hardware.Remake)}
	case age < -24*time.Hour:
		return []string{fmt.Sprintf("the hardware is from %s, which says that it was made %d days from now; look at the clocks", name, -days)}
	}
	return nil
}

// checkHardware reads every hardware file of the bindings before anything runs.
func checkHardware(bindings map[string]spec.Binding) error {
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		b := bindings[name]
		if b.Hardware == "" || b.Hardware == spec.NoHardware {
			continue
		}
		if _, err := hardwareFile(b); err != nil {
			return fmt.Errorf("candidate %s: %w", name, err)
		}
	}
	return nil
}

// loopbackURL reports whether an address is on this machine. It may be a tunnel
// to another one all the same: that is what hardware: none is for.
func loopbackURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}
