package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/llm/loopback"
)

// loopbackCmd is the hidden command that serves the endpoint of known timing,
// for the self-check before a cell and for `cupel overhead`. It runs as a
// process of its own, so that the client's CPU time does not contain the
// server's, and neither waits for the other's garbage collector.
func (a *app) loopbackCmd() *cobra.Command {
	s := loopback.CheckSchedule
	c := &cobra.Command{
		Use:    "loopback",
		Short:  "serve an endpoint of known timing until standard input ends",
		Hidden: true,
		Args:   exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			// Ctrl-C reaches the whole group: a check in flight is to be finished.
			signal.Ignore(os.Interrupt)
			if err := s.Check(); err != nil {
				return fail(exitUsage, err)
			}
			if s.Gap > 0 { // else it is to be as fast as its readers, not faster
				loopback.Prefer()
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return fail(exitOutside, err)
			}
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			go func() {
				defer cancel() // when the parent ends, however it does
				_, _ = io.Copy(io.Discard, a.stdin)
			}()
			a.printf("http://%s\n", l.Addr())
			return fail(exitOutside, loopback.Serve(ctx, l, s))
		},
	}
	f := c.Flags()
	f.DurationVar(&s.First, "first", s.First, "from a request to its first event")
	f.DurationVar(&s.Gap, "gap", s.Gap, "between events, 0 = full speed")
	f.IntVar(&s.Events, "events", s.Events, "events per stream")
	f.IntVar(&s.Bytes, "bytes", s.Bytes, "length of each event's text, 0 = shortest")
	return c
}

// startLoopback starts a server of that schedule. It ends with close, and with
// this process.
func startLoopback(s loopback.Schedule) (*child, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return startChild("loopback server", "loopback", "--first", s.First.String(), "--gap", s.Gap.String(),
		"--events", strconv.Itoa(s.Events), "--bytes", strconv.Itoa(s.Bytes))
}
