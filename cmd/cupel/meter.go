package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// meterVariable names the meter to start, or is off.
const meterVariable = "CUPEL_METER"

// meterPatience bounds the meter; it gives up on a driver that hangs before that.
const meterPatience = 10 * time.Second

// meterError is why the meter told nothing.
type meterError struct{ code, detail string }

func (e *meterError) Error() string {
	if e.code == hardware.MeterFailed {
		return "cupel-meter: " + e.detail
	}
	return hardware.Means(e.code)
}

// findMeter looks for cupel-meter: $CUPEL_METER, beside this program, on the PATH.
// A variable that names nothing is an error, its absence is not.
func findMeter() (string, error) {
	named := os.Getenv(meterVariable)
	if named == "off" {
		return "", &meterError{hardware.NoMeter, meterVariable + " is off"}
	}
	if named != "" {
		at, err := exec.LookPath(named)
		if err != nil {
			return "", step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("%s is %s, which cannot be started: %w", meterVariable, named, unwrapAll(err))), "name an executable, or off, or unset it")
		}
		return at, nil
	}
	if self, err := os.Executable(); err == nil {
		if at, err := exec.LookPath(filepath.Join(filepath.Dir(self), "cupel-meter")); err == nil {
			return at, nil
		}
	}
	at, err := exec.LookPath("cupel-meter")
	if err != nil {
		return "", &meterError{hardware.NoMeter, ""}
	}
	return at, nil
}

// unwrapAll returns the innermost error: what the system said.
func unwrapAll(err error) error {
	for {
		in := errors.Unwrap(err)
		if in == nil {
			return err
		}
		err = in
	}
}

// identify runs cupel-meter identify. That it tells nothing is a *meterError.
func identify(ctx context.Context) (*hardware.Report, error) {
	at, err := findMeter()
	if err != nil {
		return nil, err
	}
	return identifyWith(ctx, at, meterPatience)
}

func identifyWith(ctx context.Context, at string, patience time.Duration) (*hardware.Report, error) {
	out, err := runMeter(ctx, at, patience, "identify")
	if err != nil {
		return nil, err
	}
	r, err := hardware.Read(out)
	if err != nil {
		var h *step.Hint
		if errors.As(err, &h) {
			err = h.Err // the hint is for files
		}
		return nil, &meterError{hardware.MeterFailed, err.Error()}
	}
	return r, nil
}

// probe runs cupel-meter probe, which looks for a while at what it can read, or with 0
// only lists it, of these GPUs or of all. That it tells nothing is a *meterError.
func probe(ctx context.Context, at string, long time.Duration, gpus ...string) (*trace.Probe, error) {
	args := []string{"probe", "--for", long.String()}
	for _, g := range gpus {
		args = append(args, "--gpu", g)
	}
	out, err := runMeter(ctx, at, meterPatience+long, args...)
	if err != nil {
		return nil, err
	}
	p, err := trace.ReadProbe(out)
	if err != nil {
		return nil, &meterError{hardware.MeterFailed, err.Error()}
	}
	return p, nil
}

// runMeter returns what cupel-meter prints.
func runMeter(ctx context.Context, at string, patience time.Duration, args ...string) (io.Reader, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(bounded, at, args...)
	c.WaitDelay = time.Second
	var out, words clipped
	c.Stdout, c.Stderr = &out, &words
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, &meterError{hardware.MeterFailed, "no answer within " + patience.String()}
	case err != nil:
		said, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(words.String(), "?")), "\n")
		return nil, &meterError{hardware.MeterFailed, strings.TrimSuffix(fmt.Sprintf("%v: %.200s", unwrapAll(err), said), ": ")}
	}
	return &out, nil
}

// clipped keeps the first 16 MiB of what a program writes, and takes the rest.
type clipped struct{ bytes.Buffer }

func (c *clipped) Write(p []byte) (int, error) {
	if room := 16<<20 - c.Len(); room > 0 {
		_, _ = c.Buffer.Write(p[:min(len(p), room)]) // a bytes.Buffer takes everything
	}
	return len(p), nil
}
