package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/meter/remote"
	"github.com/cupel-dev/cupel/stages/trace"
)

// elsewhere is a meter that is served on another machine.
type elsewhere struct{ client remote.Client }

func meterElsewhere(at meterPlace) elsewhere {
	return elsewhere{remote.Client{URL: at.url, Token: at.token}}
}

// record records there. What its errors say is kept with the measurement, where an
// address has no place.
func (e elsewhere) record(ctx context.Context, want meter.Want, stop <-chan struct{}, w io.Writer) error {
	err := e.client.Record(ctx, remote.Want{GPUs: want.GPUs, Hz: want.Hz}, stop, w)
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), strings.TrimRight(e.client.URL, "/"), "the meter at "))
}

// list says what it can read. That it cannot be asked is an error: a binding names it.
func (e elsewhere) list(ctx context.Context) (*trace.Probe, error) {
	doc, err := e.client.Meter(ctx)
	if refused, ok := errors.AsType[*remote.Refused](err); ok {
		return nil, step.Mark(step.ErrOutside, fmt.Errorf("the meter: %w", refused))
	}
	if err != nil {
		return nil, step.WithHint(step.Mark(step.ErrUnreachable, fmt.Errorf("the meter: %w", err)), "start it there: cupel-meter serve, or bind meter: none")
	}
	p, err := trace.ReadProbe(bytes.NewReader(doc))
	if err != nil {
		return nil, &meterError{hardware.MeterFailed, err.Error()}
	}
	return p, nil
}
