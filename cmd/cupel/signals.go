package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interruptible returns a context that the first Ctrl-C (or SIGTERM) cancels:
// requests in flight are finished and written. The second one exits as soon as
// servers that were started are stopped, which loses nothing that was finished:
// journals are durable line by line. The third one exits at once.
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
		if _, ok := <-ch; !ok {
			return
		}
		ended := make(chan struct{})
		go func() { lastActs.do(); close(ended) }()
		select {
		case <-ended:
		case <-ch:
			fmt.Fprintln(stderr, "cupel: stopped at once; servers that this run started may still be up: the next run with --serve stops them, and one without says which")
		}
		os.Exit(int(exitInterrupted))
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel() }
}

// lastActs are done before a second Ctrl-C ends the process.
var lastActs acts

type acts struct {
	mu  sync.Mutex
	all map[int]func()
	n   int
}

// atOnce has f done by a second Ctrl-C, until the returned function is called.
func atOnce(f func()) (forget func()) {
	lastActs.mu.Lock()
	defer lastActs.mu.Unlock()
	if lastActs.all == nil {
		lastActs.all = map[int]func(){}
	}
	lastActs.n++
	id := lastActs.n
	lastActs.all[id] = f
	return func() {
		lastActs.mu.Lock()
		defer lastActs.mu.Unlock()
		delete(lastActs.all, id)
	}
}

func (a *acts) do() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.all {
		f()
	}
}
