package measure

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// slow builds prompts of 1,000 bytes, each after took.
type slow struct {
	took   time.Duration
	breaks int
}

func (slow) ID() string { return "slow" }

func (s slow) Build(i int) (prompts.Prompt, error) {
	time.Sleep(s.took) // of the bubble's clock
	if i == s.breaks {
		return prompts.Prompt{}, errors.New("no words left")
	}
	return prompts.Prompt{Text: strings.Repeat("x", 1000), Words: []string{"a"}}, nil
}

func feed(t *testing.T, b prompts.Builder, n int, ahead int64) *feeder {
	f := newFeeder(endpoint(echo), b, n, func(_ int, p prompts.Prompt) llm.Request {
		return llm.Request{Messages: []llm.Message{{Content: p.Text}}}
	})
	f.ahead = ahead
	go f.run(t.Context())
	return f
}

// TestFeederBuildsFirst: what fits is built before the first request is taken.
func TestFeederBuildsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed(t, slow{took: time.Second, breaks: -1}, 20, 1<<20)
		began := time.Now()
		if err := f.ready(); err != nil || time.Since(began) != 20*time.Second {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
		for i := range 20 {
			if f.take(i) == nil {
				t.Fatal("nothing to send")
			}
			if p, waited := f.back(i); waited != 0 || p.Text != "" || len(p.Words) != 1 {
				t.Errorf("%d: waited %s", i, waited)
			}
		}
		if n, err := f.stalls(); n != 0 || err != nil || f.held != 0 || len(f.flying) != 0 {
			t.Errorf("%d waits, %v, %d bytes", n, err, f.held)
		}
	})
}

// TestFeederKeepsAhead: what does not fit is built while others are sent, and
// one that comes late is counted, with the time.
func TestFeederKeepsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed(t, slow{took: time.Second, breaks: -1}, 10, 5000)
		began := time.Now()
		if err := f.ready(); err != nil || time.Since(began) > 5*time.Second || f.held > 5000 {
			t.Fatalf("%v after %s, %d bytes", err, time.Since(began), f.held)
		}
		late := 0
		for i := range 10 {
			if f.take(i) == nil {
				t.Fatal("nothing to send")
			}
			if _, waited := f.back(i); waited > 0 {
				late++
			}
		}
		if n, _ := f.stalls(); n == 0 || n != late {
			t.Errorf("%d waits, %d known of", n, late)
		}
	})
}

// TestFeederEnds: an error, or the end of the cell, lets nobody wait.
func TestFeederEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed(t, slow{breaks: 3}, 10, 1<<20)
		if err := f.ready(); err == nil || !strings.Contains(err.Error(), "no words left") || f.take(9) != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		long := newFeeder(endpoint(echo), slow{took: time.Hour, breaks: -1}, 10, func(int, prompts.Prompt) llm.Request { return llm.Request{} })
		ended := make(chan struct{})
		go func() { defer close(ended); long.run(ctx) }()
		time.AfterFunc(time.Second, cancel)
		if began := time.Now(); long.take(0) != nil || time.Since(began) != time.Second {
			t.Error("a request that nobody built")
		}
		<-ended
	})
}

// TestFeederFull: one prompt that is larger than the window is built all the
// same.
func TestFeederFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed(t, slow{breaks: -1}, 3, 10)
		if err := f.ready(); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if f.take(i) == nil {
				t.Fatalf("%d is not there", i)
			}
		}
	})
}
