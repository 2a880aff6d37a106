package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/trace"
)

// place of a candidate's meter: a program on this machine, or an address.
type meterPlace struct {
	path, url, token string
	cpu              bool // no GPU serves the candidate: what those of its machine draw is somebody else's
}

// flags are those of the program that leave out what does not serve the candidate.
func (p meterPlace) flags() []string {
	if p.cpu {
		return []string{"--nvml-library", "off", "--hwmon", "off"}
	}
	return nil
}

// gpus are those that a binding selects, none where none serves the candidate.
func (p meterPlace) gpus(b spec.Binding) []string {
	if p.cpu {
		return nil
	}
	return b.GPUs
}

// meterPlaceOf says where the meter of a candidate is: where its binding says, or
// beside cupel if the endpoint is on this machine. That there is none is a *meterError.
func (w *wiring) meterPlaceOf(candidate string) (meterPlace, error) {
	b, bound := w.bindings[candidate]
	switch {
	case !bound:
		_, err := w.options(candidate, 0) // says what to do
		return meterPlace{}, err
	case b.Meter == spec.NoMeter:
		return meterPlace{}, &meterError{hardware.NoMeter, "the binding says so"}
	case b.Meter != "":
		token, err := fromEnv(b.MeterTokenEnv)
		if err != nil {
			err = fmt.Errorf("candidate %s: meter: %w", candidate, err)
		}
		return meterPlace{url: b.Meter, token: token}, err
	case b.Hardware != "" || !strings.HasPrefix(b.URL, embeddedScheme) && !loopbackURL(b.URL):
		return meterPlace{}, &meterError{hardware.NotLocal, ""} // a hardware file is of another machine
	}
	path, err := findMeter()
	return meterPlace{path: path, cpu: strings.HasPrefix(b.URL, embeddedScheme)}, err
}

// meterOf is what records the energy of a candidate's machine.
func (w *wiring) meterOf(candidate string) (measure.Meter, error) {
	at, err := w.meterPlaceOf(candidate)
	var none *meterError
	switch {
	case errors.As(err, &none):
		return measure.Meter{Reason: none.code, Detail: none.detail}, nil
	case err != nil:
		return measure.Meter{}, err
	case at.url != "":
		return measure.Meter{Record: meterElsewhere(at, candidate).record, Remote: true, GPUs: w.bindings[candidate].GPUs}, nil
	}
	return measure.Meter{Record: meter.Local(at.path, at.flags()...), GPUs: at.gpus(w.bindings[candidate])}, nil
}

// lookAtMeter lists what the meter of a candidate's machine can read.
func (w *wiring) lookAtMeter(ctx context.Context, candidate string) (evidence.MeterDoc, string, error) {
	at, err := w.meterPlaceOf(candidate)
	var p *trace.Probe
	switch {
	case err != nil:
	case at.url != "":
		if p, err = meterElsewhere(at, candidate).list(ctx); err == nil {
			err = gpusThere(p, w.bindings[candidate].GPUs)
		}
	default:
		p, err = listHere(ctx, at, at.gpus(w.bindings[candidate]))
	}
	var none *meterError
	switch {
	case errors.As(err, &none) && none.code == hardware.MeterFailed:
		return evidence.MeterDoc{Reason: none.code}, "no energy is measured: " + none.Error(), nil
	case errors.As(err, &none):
		return evidence.MeterDoc{Reason: none.code}, "", nil
	case err != nil:
		return evidence.MeterDoc{}, "", err
	}
	return meterDoc(p), "", nil
}

// clientClock is what this system says of its wall clock. That it cannot be asked is a
// clock that nobody keeps.
func clientClock() trace.Clock {
	ok, off, err := thisSystem.synced()
	if err != nil {
		return trace.Clock{}
	}
	return trace.Clock{Synchronised: ok, ErrorNS: max(int64(off), 0)}
}

// meterDoc is what a probe says of the machine, without which devices they are.
func meterDoc(p *trace.Probe) evidence.MeterDoc {
	if p.None != nil {
		return evidence.MeterDoc{Reason: p.None.Reason}
	}
	kinds := map[string]string{}
	for _, d := range p.Devices {
		kinds[d.ID] = d.Kind
	}
	var doc evidence.MeterDoc
	devices := map[int]map[string]bool{}
	for _, c := range p.Channels {
		i := slices.IndexFunc(doc.Reads, func(r evidence.MeterReads) bool {
			return r.Domain == c.Domain && r.Quantity == c.Quantity && r.Kind == kinds[c.Device]
		})
		if i < 0 {
			i = len(doc.Reads)
			doc.Reads = append(doc.Reads, evidence.MeterReads{Domain: c.Domain, Quantity: c.Quantity, Kind: kinds[c.Device]})
			devices[i] = map[string]bool{}
		}
		devices[i][c.Device] = true
		doc.Reads[i].Devices = len(devices[i])
		if at, there := slices.BinarySearch(doc.Reads[i].Sources, c.Source); !there {
			doc.Reads[i].Sources = slices.Insert(doc.Reads[i].Sources, at, c.Source)
		}
	}
	slices.SortFunc(doc.Reads, func(a, b evidence.MeterReads) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Quantity, b.Quantity))
	})
	if len(doc.Reads) == 0 {
		doc.Reason = hardware.NotReadable
	}
	return doc
}
