package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// longestProbe bounds what is kept in memory.
const longestProbe = time.Minute

func (m *meter) probeCmd() *cobra.Command {
	o := sampleOptions{}
	c := &cobra.Command{
		Use:   "probe",
		Short: "say what can be read here, and how often it changes (cupel/meter-probe/v1)",
		Long: `Look at every counter for --for and print one JSON document: devices, channels, what
cannot be read and why, how often each number changed, and for each base that can be
read here the period of its slowest counter and the window of a recording in which its
energy is known to 1 %. A counter that changes more often than it is looked at seems to change at every
look. With --for 0 it only lists, and reads no value.

` + exitCodeTable,
		Example: "  cupel-meter probe\n  cupel-meter probe --for 30s --rapl off\n  cupel-meter probe --for 0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return m.probe(c.Context(), o) },
	}
	f := c.Flags()
	f.Float64Var(&o.hz, "hz", 200, "looks a second, 1 to 200")
	f.DurationVar(&o.length, "for", 3*time.Second, "how long to look, at most 1m; 0: only list")
	o.flags(c, os.Getenv("CUPEL_NVML_LIBRARY"))
	return c
}

func (m *meter) probe(ctx context.Context, o sampleOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.length > longestProbe {
		return fmt.Errorf("--for %s, want at most %s", o.length, longestProbe)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	sources, missing, err := openSources(ctx, o.sourceOptions)
	if err != nil {
		return errors.Join(err, closeAll(sources))
	}
	t, err := m.look(ctx, sources, missing, o)
	if !errors.Is(err, errHangs) {
		err = errors.Join(err, closeAll(sources))
	}
	if err != nil {
		return err
	}
	p := trace.NewProbe(t)
	addBases(p, t)
	return m.printJSON(p)
}

// look records into memory; without a length it makes only the header.
func (m *meter) look(ctx context.Context, sources []source.Source, missing []trace.Missing, o sampleOptions) (*trace.Trace, error) {
	if o.length == 0 {
		h := record.Header(sources, record.Options{Meter: "cupel-meter " + version, Extra: missing})
		return &trace.Trace{Header: h}, h.Check()
	}
	var b bytes.Buffer
	if err := m.record(ctx, &b, sources, missing, o); err != nil {
		return nil, err
	}
	t, err := trace.Read(&b)
	if err != nil { // it would be a mistake of the meter
		return nil, step.Mark(errOutside, fmt.Errorf("the recording cannot be read back: %w", err))
	}
	return t, nil
}
