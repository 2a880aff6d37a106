package llm

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/cupel-dev/cupel/engine/step"
)

// dialing is how many connections Warm opens at once: many at once are
// themselves a load that a server may refuse.
const dialing = 8

// Warm makes sure that n connections are open and idle, so that n timed
// requests at once each find one. It asks for a small page n times and leaves
// every answer unread until all are there, which keeps net/http from using one
// connection twice. Idle connections are dropped after 4 seconds: warm up
// right before the cell.
func (c *Client) Warm(ctx context.Context, n int) error {
	if n > c.maxConns {
		return step.WithHint(fmt.Errorf("warm-up of %d connections: only %d are kept", n, c.maxConns), "raise MaxConns to the highest concurrency")
	}
	url, err := c.cheapest(ctx)
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, min(c.timeout, askTimeout))
	defer cancel()
	held := make([]*http.Response, max(n, 0))
	var g errgroup.Group
	g.SetLimit(dialing)
	for i := range held {
		g.Go(func() error {
			resp, f := c.open(ctx, url, nil)
			if f != nil {
				return fmt.Errorf("warm-up: %w", problem(http.MethodGet+" "+url, f))
			}
			held[i] = resp
			return nil
		})
	}
	err = g.Wait()
	for _, resp := range held {
		if resp != nil {
			drain(resp.Body, func() {}) // ctx bounds it
		}
	}
	return err
}
