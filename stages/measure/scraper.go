package measure

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

const (
	scrapeEvery   = time.Second
	scrapeTimeout = 5 * time.Second
	scrapeBudget  = 64 << 20 // of the looks during one cell; later ones are left out
)

// scraper looks at the engine's own metrics before, during and after a timed
// block. The client has a connection of its own for it.
type scraper struct {
	ep     Endpoint
	log    func(format string, args ...any)
	rows   *spool
	first  []byte // the look before, until the block's clock runs
	at     time.Time
	why    string // why there are no metrics, "" = there are
	budget int
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// before takes the first look. An engine without metrics is never asked again.
func (s *scraper) before(ctx context.Context) {
	s.rows, s.budget = newSpool(), scrapeBudget
	s.at = time.Now()
	s.first, s.why = s.look(ctx)
}

func (s *scraper) look(ctx context.Context) ([]byte, string) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	body, err := s.ep.Scrape(ctx)
	switch {
	case errors.Is(err, llm.ErrNoMetrics):
		return nil, "the engine has no /metrics"
	case err != nil:
		s.log("metrics of the engine: %v", err)
		return nil, "the engine's /metrics could not be read" // its words name addresses
	}
	return body, ""
}

// start begins to look once a second. start is the zero of the block's clock.
func (s *scraper) start(ctx context.Context, start time.Time) {
	if s.why != "" {
		return
	}
	s.keep("before", s.at.Sub(start), s.first)
	s.first = nil
	ctx, s.cancel = context.WithCancel(ctx)
	s.wg.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			at := time.Now()
			body, why := s.look(ctx)
			if s.budget -= len(body); why == "" && s.budget > 0 {
				s.keep("during", at.Sub(start), body)
			}
		}
	})
}

// after takes the last look.
func (s *scraper) after(ctx context.Context, start time.Time) {
	if s.why != "" {
		return
	}
	s.cancel()
	s.wg.Wait()
	at := time.Now()
	body, why := s.look(ctx)
	if s.why = why; why == "" {
		s.keep("after", at.Sub(start), body)
	}
}

func (s *scraper) keep(phase string, at time.Duration, body []byte) {
	line, err := encode(evidence.ScrapeRow{AtNS: int64(at), Phase: phase, Body: string(body)})
	if err != nil {
		s.rows.err = err
		return
	}
	s.rows.put(line)
}
