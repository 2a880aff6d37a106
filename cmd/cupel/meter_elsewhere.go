package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/meter/remote"
	"github.com/cupel-dev/cupel/stages/trace"
)

// elsewhere is a meter that is served on another machine.
type elsewhere struct {
	client remote.Client
	of     string // candidate
}

func meterElsewhere(at meterPlace, candidate string) elsewhere {
	return elsewhere{remote.Client{URL: at.url, Token: at.token}, candidate}
}

// record records there. What its errors say is kept with the measurement, where an
// address has no place.
func (e elsewhere) record(ctx context.Context, want meter.Want, stop <-chan struct{}, w io.Writer) error {
	err := e.client.Record(ctx, remote.Want{GPUs: want.GPUs, Hz: want.Hz}, stop, w)
	if err == nil {
		return nil
	}
	return errors.New(e.named(err))
}

// named is the text of an error with the candidate in the place of its meter's address,
// of what is asked for there, and of what the network calls that machine.
func (e elsewhere) named(err error) string {
	text := err.Error()
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		text = strings.ReplaceAll(text, dial.Error(), unwrapAll(dial).Error())
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		text = strings.ReplaceAll(text, lookup.Error(), lookup.Err)
	}
	addresses := []string{e.client.URL}
	if u, err := url.Parse(e.client.URL); err == nil {
		addresses = append(addresses, u.String())
	}
	for _, a := range addresses {
		if a = strings.TrimRight(a, "/"); a != "" {
			text = regexp.MustCompile(regexp.QuoteMeta(a)+`(/v1/[A-Za-z0-9/_-]*)?`).ReplaceAllLiteralString(text, "the meter of "+e.of)
		}
	}
	return text
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
