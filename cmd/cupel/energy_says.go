package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// probeFor is how long a meter is watched to learn how often its counters change.
const probeFor = 3 * time.Second

// probed is what the meter on this machine can read, or why that is not known.
type probed struct {
	probe  *trace.Probe
	err    error
	report *hardware.Report // its GPUs, nil = not known
	told   bool             // it was said why nothing is known
}

// probeHere asks the meter beside cupel.
func probeHere(ctx context.Context) probed {
	at, err := findMeter()
	var none *meterError
	if errors.As(err, &none) && none.detail != "" {
		err = errors.New(none.detail)
	}
	if err != nil {
		return probed{err: err}
	}
	p, err := probe(ctx, at, probeFor)
	return probed{probe: p, err: err, report: identified(ctx)}
}

// base finds a base; nil = it cannot be read here.
func (p probed) base(name string) *trace.Based {
	if p.probe == nil {
		return nil
	}
	i := slices.IndexFunc(p.probe.Bases, func(b trace.Based) bool { return b.Base == name })
	if i < 0 {
		return nil
	}
	return &p.probe.Bases[i]
}

// errNotProbed stands where nobody looked: a plan starts no meter.
var errNotProbed = errors.New("not looked at")

// energySays says of each energy workload how long its cells last, and why.
func energySays(c *spec.Campaign, here probed) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if e := c.Measure[name].Energy; e != nil {
			out = append(out, name+": "+cellLasts(e, c.Measure[e.Of], here))
			here.told = true
		}
	}
	return out
}

// cellLasts is one sentence on one workload.
func cellLasts(e *spec.Energy, of spec.Workload, here probed) string {
	window, lasts := here.window(e)
	if o := of.OpenLoop; o != nil {
		window, lasts = parsed(o.Arrivals.Duration), "cells as long as their schedule"
		if window > 0 {
			lasts = fmt.Sprintf("cells of %s (the schedule)", lasting(window))
		}
	}
	said := []string{lasts + before(e)}
	if here.err != nil {
		return strings.Join(append(said, here.unknown(e.Bases)...), "; ")
	}
	for _, name := range e.Bases {
		said = append(said, here.quantisation(name, window))
	}
	return strings.Join(said, "; ")
}

// unknown says why nothing is known of all bases, once.
func (p probed) unknown(bases []string) []string {
	if p.told {
		return nil
	}
	what := fmt.Sprintf("how often %s change", strings.Join(bases, ", "))
	if len(bases) == 1 {
		what += "s"
	}
	if p.err == errNotProbed {
		return []string{what + " is told by cupel check"}
	}
	return []string{fmt.Sprintf("%s is not known: %v", what, p.err)}
}

// window is how long the cells of a closed loop last, and why: as the campaign says, or
// as its slowest base asks for.
func (p probed) window(e *spec.Energy) (time.Duration, string) {
	window, why := parsed(e.Window), "window"
	for _, name := range e.Bases {
		b := p.base(name)
		if b == nil || b.PeriodNS == nil {
			continue
		}
		if slow := time.Duration(*b.WindowNS); slow > window {
			window, why = slow, "for 1 % of "+name
		}
	}
	return window, fmt.Sprintf("cells of at least %s (%s)", lasting(window), why)
}

// before says what comes before the timed part.
func before(e *spec.Energy) string {
	idle := parsed(e.Idle)
	if idle == 0 {
		return ", nothing idle before"
	}
	s := fmt.Sprintf(" after %s of idle", lasting(parsed(e.Settle)+idle))
	if cooling := parsed(e.Cooling); cooling > 0 {
		s += fmt.Sprintf(" and at most %s for a steady temperature", lasting(cooling))
	}
	return s
}

// quantisation says how well a base is known in a window.
func (p probed) quantisation(name string, window time.Duration) string {
	b := p.base(name)
	switch {
	case b == nil:
		return name + " cannot be read here" + p.lacking(name)
	case b.PeriodNS == nil:
		return fmt.Sprintf("%s did not change twice in %s", name, lasting(time.Duration(p.probe.DurationNS)))
	}
	period := time.Duration(*b.PeriodNS)
	if window == 0 {
		return fmt.Sprintf("%s changes every %s", name, lasting(period))
	}
	return fmt.Sprintf("%s changes every %s: quantisation %.2g %% at this window", name, lasting(period), quantised(period, window))
}

// lacking says why a base cannot be read, as far as the meter does.
func (p probed) lacking(base string) string {
	if p.probe.None != nil {
		return ": " + p.probe.None.Reason
	}
	for _, m := range p.probe.Missing {
		if m.Domain != "" && strings.Contains(base, baseWord(m.Domain)) {
			return fmt.Sprintf(": %s (%s)", m.Reason, m.Domain)
		}
	}
	return ""
}

// baseWord is the part of a base's name that a domain stands behind.
func baseWord(d trace.Domain) string {
	for _, of := range []struct {
		domain trace.Domain
		word   string
	}{{trace.NVGPU, "nv.gpu"}, {trace.NVModule, "nv.module"}, {trace.HwmonGPU, "amd.gpu"}} {
		if of.domain == d {
			return of.word
		}
	}
	return string(d)
}

// parsed is a duration of a campaign that was checked.
func parsed(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}

// lasting is a duration as people write it: 60 s, 100 ms, 5m0s.
func lasting(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.3g ms", d.Seconds()*1000)
	}
	return seconds(d.Seconds())
}
