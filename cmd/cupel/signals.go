package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that the first Ctrl-C (or SIGTERM) cancels:
// requests in flight are finished and written. The second one exits at once,
// which loses nothing that was finished: journals are durable line by line.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-ch; !ok {
			return
		}
		fmt.Fprintln(stderr, "\ncupel: interrupted; finishing requests in flight (Ctrl-C again stops now; running again continues)")
		cancel()
		if _, ok := <-ch; ok {
			os.Exit(int(exitInterrupted))
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel() }
}
