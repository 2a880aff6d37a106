package llm

import (
	"context"
	"fmt"
	"net/http"
)

// Health asks for the cheapest page that the endpoint must have. It wraps
// step.ErrUnreachable or step.ErrOutside as Identity does.
func (c *Client) Health(ctx context.Context) error {
	url, err := c.cheapest(ctx)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if _, f := c.ask(ctx, url, nil); f != nil {
		return fmt.Errorf("health: %w", problem(http.MethodGet+" "+url, f))
	}
	return nil
}

func (c *Client) cheapest(ctx context.Context) (string, error) {
	api, err := c.resolve(ctx)
	where := c.known.Load().where
	if api.ollama() {
		return where.root + "/api/version", err
	}
	return where.base + "/models", err
}
