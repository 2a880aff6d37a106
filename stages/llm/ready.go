package llm

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Ready reports by a nil error that the endpoint can be used: it answers at path
// below its root (path "" = it is not asked), and lists the served model. It
// wraps step.ErrUnreachable or step.ErrOutside as Identity does.
func (c *Client) Ready(ctx context.Context, path string) error {
	if path != "" {
		if err := c.answers(ctx, c.known.Load().where.root+path); err != nil {
			return fmt.Errorf("ready: %w", err)
		}
	}
	_, err := c.Identity(ctx)
	return err
}

// answers wants a status of success; pages about health are of any type.
func (c *Client) answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, min(c.timeout, askTimeout))
	defer cancel()
	resp, f := c.openVia(ctx, c.transport, url, nil, "*/*")
	if f != nil && f.Status/100 == 2 {
		return nil // such as 204: there is nothing to be read
	}
	if f != nil {
		return problem(http.MethodGet+" "+url, f)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxSaid))
	return resp.Body.Close()
}
