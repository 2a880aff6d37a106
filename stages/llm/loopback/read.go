package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Probe says how a reading is taken.
type Probe struct {
	Concurrency int // requests in flight, 1 and up
	Requests    int // 0 = one per stream
}

// Reading is what the client and the server saw of one probe. Times are
// nanoseconds; those of every event are single precision (exact to 16 ms, then
// to 1/2^24), as the client's own memory is part of what is looked at.
type Reading struct {
	Concurrency int
	Requests    int
	Events      int // with text, received
	Coalesced   int // of these, in one read with an earlier one
	TTFT        []float64
	Gaps        []float32 // between events of one stream, as the client stamped them
	Lags        []float32 // from the server's write of an event to the client's stamp for it; empty at full speed
	CPU         int64     // of this process while the requests ran, -1 = not known
	Wall        int64
	Server      Stats
}

// timeout is how much longer than its schedule a stream may take.
const timeout = 30 * time.Second

// Read sends a probe's requests to a server of this package at url, as a
// measured cell does: bodies are prepared and connections opened before, and a
// closed loop of workers sends them. A failed request is an error: then there
// is nothing to compare. So are clocks that disagree in two readings in a row.
func Read(ctx context.Context, url string, p Probe) (Reading, error) {
	r, err := read(ctx, url, p)
	if errors.Is(err, errClock) {
		r, err = read(ctx, url, p)
	}
	return r, err
}

func read(ctx context.Context, url string, p Probe) (Reading, error) {
	if p.Concurrency < 1 || p.Requests < 0 {
		return Reading{}, fmt.Errorf("loopback: %d requests at concurrency %d cannot be read", p.Requests, p.Concurrency)
	}
	if p.Requests == 0 {
		p.Requests = p.Concurrency
	}
	before, err := askStats(ctx, url, http.MethodPost)
	if err != nil {
		return Reading{}, err
	}
	s := before.Schedule
	c, err := llm.New(llm.Options{URL: url + "/v1", API: llm.OpenAI, Model: Model, MaxConns: p.Concurrency,
		Timeout: s.First + time.Duration(s.Events)*s.Gap + timeout})
	if err != nil {
		return Reading{}, fmt.Errorf("loopback: %w", err)
	}
	defer c.Close()
	body, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "Count."}},
		Sampling: llm.Sampling{TopP: 1, MaxTokens: s.Events}})
	if err != nil {
		return Reading{}, fmt.Errorf("loopback: %w", err)
	}
	if err := c.Warm(ctx, p.Concurrency); err != nil {
		return Reading{}, fmt.Errorf("loopback: %w", err)
	}
	in := newReading(p, s)
	in.take(ctx, func(ctx context.Context) llm.Response { return c.Do(ctx, body) })
	if err := errors.Join(ctx.Err(), in.err); err != nil {
		return Reading{}, fmt.Errorf("loopback: %w", err)
	}
	if in.Server, err = askStats(ctx, url, http.MethodGet); err != nil {
		return Reading{}, err
	}
	return in.Reading, in.agree()
}

// reading is a Reading in the making.
type reading struct {
	Reading
	schedule Schedule
	mu       sync.Mutex
	err      error // the first
}

func newReading(p Probe, s Schedule) *reading {
	n := p.Requests * s.Events
	in := &reading{schedule: s, Reading: Reading{Concurrency: p.Concurrency, Requests: p.Requests,
		TTFT: make([]float64, 0, p.Requests), Gaps: make([]float32, 0, n-p.Requests)}}
	if s.Gap > 0 {
		in.Lags = make([]float32, 0, n)
	}
	return in
}

// take runs the closed loop, until the first error. No answer is kept: memory
// is for stamps.
func (in *reading) take(ctx context.Context, do func(context.Context) llm.Response) {
	var next atomic.Int64
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cpu, began := CPUTime(), time.Now()
	for range min(in.Concurrency, in.Requests) {
		wg.Go(func() {
			for next.Add(1) <= int64(in.Requests) && ctx.Err() == nil {
				r := do(ctx)
				if err := in.add(&r); err != nil {
					stop()
				}
			}
		})
	}
	wg.Wait()
	in.Wall = int64(time.Since(began))
	if in.CPU = -1; cpu >= 0 {
		in.CPU = CPUTime() - cpu
	}
}

// add takes one answer's stamps.
func (in *reading) add(r *llm.Response) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.judge(r); err != nil {
		if in.err == nil {
			in.err = err
		}
		return err
	}
	at := r.Times.StartUnixNS
	for i, ns := range r.OutputNS {
		if at += ns; i > 0 {
			in.Gaps = append(in.Gaps, float32(ns))
		}
		if in.schedule.Gap == 0 {
			continue
		}
		lag, err := lagOf(r, i, in.schedule, at)
		if err != nil && in.err == nil {
			in.err = err
		}
		in.Lags = append(in.Lags, float32(lag))
	}
	in.TTFT = append(in.TTFT, float64(r.Times.FirstVisible))
	in.Events += len(r.OutputNS)
	in.Coalesced += r.Coalesced
	return in.err
}

// judge says why an answer's stamps cannot be used, nil = they can.
func (in *reading) judge(r *llm.Response) error {
	s := in.schedule
	switch {
	case r.Failure != nil:
		return step.WithHint(fmt.Errorf("a request ended as %s: %s", r.Failure.Class, r.Failure.Message),
			"the server is on this machine: see whether it still runs, and how many files may be open (ulimit -n)")
	case len(r.OutputNS) != s.Events || len(r.Text) != s.Events*s.width():
		return fmt.Errorf("%d events with %d bytes of text arrived, %d with %d were sent",
			len(r.OutputNS), len(r.Text), s.Events, s.Events*s.width())
	}
	return nil
}

// agree holds the server's counts against the client's: who else reads from
// the server shifts its truth.
func (in *reading) agree() error {
	s := in.Server
	if s.Requests == int64(in.Requests) && s.Events == int64(in.Events) && s.Cut == 0 {
		return nil
	}
	return fmt.Errorf("loopback: the server counted %d requests and %d events (%d streams cut), the client %d and %d: another client reads from it",
		s.Requests, s.Events, s.Cut, in.Requests, in.Events)
}

// askStats reads what the server says of itself; POST also starts it anew.
func askStats(ctx context.Context, url, method string) (Stats, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	fail := func(err error) (Stats, error) {
		return Stats{}, fmt.Errorf("loopback: %s %s/stats: %w", method, url, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, url+"/stats", http.NoBody)
	if err != nil {
		return fail(err)
	}
	req.Close = true
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	var s Stats
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&s); err != nil {
		return fail(err)
	}
	if err := s.Schedule.Check(); err != nil || resp.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("status %d: not a loopback server: %w", resp.StatusCode, err))
	}
	return s, nil
}
