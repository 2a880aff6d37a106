package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/llm/loopback"
)

// overheadOptions are the flags of cupel overhead.
type overheadOptions struct {
	concurrency []int
	requests    int
	fullSpeed   int    // hidden: requests to a server without a schedule
	url         string // hidden: a loopback server that runs already
	profile     string // hidden: where a CPU profile of the client goes
}

func (a *app) overheadCmd() *cobra.Command {
	var o overheadOptions
	c := &cobra.Command{
		Use:   "overhead",
		Short: "what the measuring client adds on this machine, against a server of known timing",
		Long: `Send requests through the measuring client to a server on this machine whose every
event carries the time of its writing (first event after 50 ms, then one every
10 ms, 100 per request), and print what the client saw beside what was true:

  excess   the client's mean TTFT minus the server's own, ms
  itl      gaps between events as the client saw them, true 10 ms
  lag      from the server's write of an event to the client's stamp for it, ms
  us/ev    CPU time of the client per event, microseconds
  rss      peak memory of the client, MB
  server   p99 by which the server was behind its own schedule, ms

A row is clean only if the server kept its schedule (p99 below 1 ms): else the
machine was too busy to tell, and the exit code is 3.

` + exitCodeTable(),
		Example: `  cupel overhead
  cupel overhead --concurrency 1,64 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags().Changed("concurrency")); err != nil {
				return fail(exitUsage, err)
			}
			return a.overhead(c.Context(), o)
		},
	}
	f := c.Flags()
	f.IntSliceVar(&o.concurrency, "concurrency", []int{1, 10, 100, 1000}, "requests in flight, one row each")
	f.IntVar(&o.requests, "requests", 0, "requests per row, 0 = two per stream and at least five")
	f.IntVar(&o.fullSpeed, "full-speed", 0, "send this many requests to a server without a schedule instead")
	f.StringVar(&o.url, "url", "", "loopback server to use")
	f.StringVar(&o.profile, "cpu-profile", "", "write a CPU profile to this file")
	for _, name := range []string{"full-speed", "url", "cpu-profile"} {
		_ = f.MarkHidden(name) // it exists: defined above
	}
	return c
}

// check settles the defaults that depend on one another.
func (o *overheadOptions) check(chosen bool) error {
	if o.requests < 0 || o.fullSpeed < 0 {
		return errors.New("the number of requests is negative")
	}
	if o.fullSpeed > 0 && !chosen {
		o.concurrency = []int{64}
	}
	for _, n := range o.concurrency {
		if n < 1 || n > 4096 {
			return fmt.Errorf("concurrency %d, want 1 to 4096", n)
		}
	}
	return nil
}

// schedule is what the server is asked to do.
func (o *overheadOptions) schedule() loopback.Schedule {
	if o.fullSpeed > 0 {
		return loopback.Schedule{Events: 128, Bytes: fullSpeedBytes}
	}
	return loopback.GroundTruth
}

// fullSpeedBytes makes an event of 190 bytes.
const fullSpeedBytes = 32

func (o *overheadOptions) probe(concurrency int) loopback.Probe {
	n := max(2*concurrency, 5)
	switch {
	case o.fullSpeed > 0:
		n = o.fullSpeed
	case o.requests > 0:
		n = o.requests
	}
	return loopback.Probe{Concurrency: concurrency, Requests: n}
}

func (a *app) overhead(ctx context.Context, o overheadOptions) (err error) {
	if o.url == "" {
		p, err := startLoopback(o.schedule())
		if err != nil {
			return fail(exitOutside, err)
		}
		defer p.close()
		o.url = p.url
	}
	if o.profile != "" {
		stop, err := profileTo(o.profile)
		if err != nil {
			return fail(exitOutside, err)
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	report := overheadReport{Schedule: o.schedule(), Machine: thisMachine()}
	if !a.json {
		a.printf("%s", report.head())
	}
	for _, n := range o.concurrency {
		row, err := readOverhead(ctx, o.url, o.probe(n))
		switch {
		case ctx.Err() != nil:
			return fail(exitInterrupted, errors.New("interrupted"))
		case err != nil:
			return fail(exitOutside, err)
		}
		report.Rows = append(report.Rows, row)
		if !a.json {
			a.printf("%s", row.line())
		}
	}
	if a.json {
		if err := a.printJSON(report); err != nil {
			return err
		}
	}
	return exit(report.code())
}

// readOverhead takes one row, with the memory of earlier rows given back.
func readOverhead(ctx context.Context, url string, p loopback.Probe) (overheadRow, error) {
	debug.FreeOSMemory()
	resetPeak()
	load := loadAverage()
	r, err := loopback.Read(ctx, url, p)
	if err != nil {
		return overheadRow{}, err
	}
	return newOverheadRow(r, peakRSS(), load), nil
}

// profileTo profiles until stop.
func profileTo(file string) (stop func() error, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
