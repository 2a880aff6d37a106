package main

import (
	"context"
	"errors"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/trace"
)

// elsewhere is a meter that is served on another machine.
type elsewhere interface {
	record(ctx context.Context, want meter.Want, stop <-chan struct{}, w io.Writer) error
	// list says what it can read. An error of the connection is unreachable.
	list(ctx context.Context) (*trace.Probe, error)
}

// meterElsewhere is the meter at an address.
func meterElsewhere(meterPlace) elsewhere { return notReached{} }

// notReached stands where this program has no client for meters on other machines.
type notReached struct{}

var errNotReached = step.Mark(step.ErrOutside, errors.New("this cupel does not read meters on other machines"))

func (notReached) record(context.Context, meter.Want, <-chan struct{}, io.Writer) error {
	return errNotReached
}

func (notReached) list(context.Context) (*trace.Probe, error) { return nil, errNotReached }
