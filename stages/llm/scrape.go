package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// maxScrape bounds a page of metrics; a large server's is about 1 MiB.
const maxScrape = 8 << 20

// ErrNoMetrics says that an endpoint has no page of metrics. Ollama has none,
// and llama.cpp only with --metrics.
var ErrNoMetrics = errors.New("the endpoint has no metrics page")

var metricsPage = pageKind{"text/plain;version=0.0.4, application/openmetrics-text;q=0.5",
	[]string{"text/plain", "application/openmetrics-text"}, maxScrape}

// Scrape returns the endpoint's page of metrics as it stands, at most 8 MiB;
// only the client's own keys are taken out of it. It is GET /metrics at the
// root, the base URL without /v1. It is not timed, and uses a connection of its
// own, so that it may be called while a cell runs.
//
// errors.Is(err, ErrNoMetrics) when there is no such page. Other errors wrap
// step.ErrUnreachable when nothing answered and step.ErrOutside when something
// else did.
func (c *Client) Scrape(ctx context.Context) ([]byte, error) {
	url := c.known.Load().where.root + "/metrics"
	body, f := c.page(ctx, c.beside, url, nil, metricsPage)
	switch {
	case f == nil:
		return c.redact.page(body), nil
	case f.absent():
		return nil, fmt.Errorf("scrape: GET %s: %w", url, ErrNoMetrics)
	}
	return nil, fmt.Errorf("scrape: %w", problem(http.MethodGet+" "+url, f))
}

// absent reports whether an optional page is not there: unknown, unknown for
// this method, or known and switched off.
func (f *Failure) absent() bool {
	switch f.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}
