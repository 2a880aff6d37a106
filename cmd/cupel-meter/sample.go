package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// sampleOptions are the flags of cupel-meter sample.
type sampleOptions struct {
	sourceOptions
	hz       float64
	length   time.Duration // 0 = until something else ends it
	untilEOF bool
	out      string // "" and - are standard output
	force    bool
}

func (m *meter) sampleCmd() *cobra.Command {
	var o sampleOptions
	c := &cobra.Command{
		Use:   "sample",
		Short: "record counters as a trace (cupel/energy-trace/v1)",
		Long: `Read counters of energy and power again and again and write a trace: JSON lines, first
a header, last an end. It ends after --for, at the end of standard input with --until-eof,
or on SIGINT or SIGTERM. A trace without an end was cut. Where nothing can be read, the
trace is one line that says why, and that alone is no error.

` + exitCodeTable,
		Example: "  cupel-meter sample --for 60s --out energy.trace.jsonl\n  cupel-meter sample --gpu 0 --until-eof < pipe > energy.trace.jsonl\n  cupel-meter sample --require nvml.gpu --require rapl.package --for 10s",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return m.sample(c.Context(), o) },
	}
	f := c.Flags()
	f.Float64Var(&o.hz, "hz", record.UsualHz, "looks a second, 1 to 200")
	f.DurationVar(&o.length, "for", 0, "how long; 0: until the end of the input, or a signal")
	f.BoolVar(&o.untilEOF, "until-eof", false, "end when standard input does")
	f.StringVar(&o.out, "out", "", "a new file for the trace; without it, standard output")
	f.BoolVar(&o.force, "force", false, "let --out overwrite a file")
	o.flags(c, os.Getenv("CUPEL_NVML_LIBRARY"))
	return c
}

func (o *sampleOptions) check() error {
	switch {
	case !(o.hz >= 1 && o.hz <= 200):
		return fmt.Errorf("--hz %v, want 1 to 200", o.hz)
	case o.length < 0:
		return fmt.Errorf("--for %s, want a time above zero", o.length)
	case o.untilEOF && o.Wall == "-":
		return errors.New("--until-eof and --wall - both want standard input")
	}
	return o.sourceOptions.check()
}

func (m *meter) sample(ctx context.Context, o sampleOptions) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // who reads along and leaves is an error like a full disk
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends what cannot be ended properly
	sources, missing, err := openSources(ctx, o.sourceOptions)
	if err != nil {
		return errors.Join(err, closeAll(sources))
	}
	to, done, err := m.create(o)
	if err != nil {
		return errors.Join(err, closeAll(sources))
	}
	err = m.record(ctx, to, sources, missing, o)
	if !errors.Is(err, errHangs) { // what hangs cannot be closed
		err = errors.Join(err, closeAll(sources))
	}
	return errors.Join(err, done())
}

// create opens where the trace goes.
func (m *meter) create(o sampleOptions) (to io.Writer, done func() error, err error) {
	if o.out == "" || o.out == "-" {
		return m.stdout, func() error { return nil }, nil
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(o.out, how, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil, step.WithHint(fmt.Errorf("--out %s: there is such a file", o.out), "--force overwrites it")
	case err != nil:
		return nil, nil, step.Mark(errOutside, fmt.Errorf("--out: %w", err))
	}
	return f, func() error { return step.Mark(errOutside, f.Close()) }, nil
}

// errHangs is a recording that does not end when it should.
var errHangs = errors.New("hangs")

// record records, and waits no longer for its end than the driver was given to open.
func (m *meter) record(ctx context.Context, to io.Writer, sources []source.Source, missing []trace.Missing, o sampleOptions) error {
	over, cancel := overAfter(ctx, o.length)
	defer cancel()
	ro := record.Options{Meter: "cupel-meter " + version, Hz: o.hz, For: o.length, Extra: missing}
	if o.untilEOF {
		ro.Input = ended(m.stdin, cancel)
	}
	done := make(chan error, 1)
	go func() { done <- record.Record(ctx, to, sources, ro) }()
	select {
	case err := <-done:
		return step.Mark(errOutside, err)
	case <-over.Done():
	}
	select {
	case err := <-done:
		return step.Mark(errOutside, err)
	case <-time.After(o.Timeout):
		err := fmt.Errorf("the recording did not end within %s: the driver, or who reads the trace, does not go on", o.Timeout)
		return step.Mark(errOutside, step.Mark(errHangs, err))
	}
}

// overAfter is done when ctx is, or after d; 0 = never.
func overAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// ended is closed when r has nothing more to read; then is called after that.
func ended(r io.Reader, then func()) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r) // an error is an end too
		close(c)
		then()
	}()
	return c
}
