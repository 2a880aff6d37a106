package measure

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/scrape"
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
	failed string // why there is none
	at     time.Time
	seen   int  // looks that were kept
	none   bool // the engine has no metrics
	budget int
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// before takes the first look. An engine without metrics is never asked again.
func (s *scraper) before(ctx context.Context) {
	s.rows, s.budget = newSpool(), scrapeBudget
	s.at = time.Now()
	s.first, s.failed = s.look(ctx)
}

// why says why there are no metrics, "" = there are some.
func (s *scraper) why() string {
	switch {
	case s.seen > 0:
		return ""
	case s.none:
		return "the engine has no /metrics"
	}
	return unread
}

// unread stands for the client's own words, which name addresses.
const unread = "the engine's /metrics could not be read"

func (s *scraper) look(ctx context.Context) ([]byte, string) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	body, err := s.ep.Scrape(ctx)
	switch {
	case errors.Is(err, llm.ErrNoMetrics):
		s.none = true
		return nil, unread
	case err != nil:
		s.log("metrics of the engine: %v", err)
		return nil, unread
	}
	return body, ""
}

// start begins to look once a second. start is the zero of the block's clock.
func (s *scraper) start(ctx context.Context, start time.Time) {
	if s.none {
		return
	}
	s.keep(scrape.PhaseBefore, s.at.Sub(start), s.first, s.failed)
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
			if s.budget -= len(body); ctx.Err() == nil && s.budget > 0 {
				s.keep(scrape.PhaseDuring, at.Sub(start), body, why)
			}
		}
	})
}

// after takes the last look.
func (s *scraper) after(ctx context.Context, start time.Time) {
	if s.cancel == nil {
		return
	}
	s.cancel()
	s.wg.Wait()
	at := time.Now()
	body, why := s.look(ctx)
	s.keep(scrape.PhaseAfter, at.Sub(start), body, why)
}

// keep adds a look, or that there was to be one: the others count without it.
func (s *scraper) keep(phase string, at time.Duration, body []byte, failed string) {
	if failed == "" {
		s.seen++
	}
	line, err := encode(evidence.ScrapeRow{AtNS: int64(at), Phase: phase, Body: string(body), Failed: failed})
	if err != nil {
		s.rows.err = err
		return
	}
	s.rows.put(line)
}
