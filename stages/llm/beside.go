package llm

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
)

// Beside returns a client of another protocol at the same server, for the same
// model and with the same credentials and connections. The model must be known:
// after Identity or Health it is. It opens nothing; the server need not speak
// the protocol.
func (c *Client) Beside(api API) (*Client, error) {
	k := *c.known.Load()
	if _, ok := api.protocol(); !ok {
		return nil, step.WithHint(fmt.Errorf("api %q is not known", api), "use "+apiNames)
	}
	if k.served == "" {
		return nil, errors.New("the model to ask for is not known yet")
	}
	switch at := k.where; {
	case api.ollama():
		k.where = place{base: at.root, root: at.root}
	case k.api.ollama():
		k.where = place{base: at.root + "/v1", root: at.root, v1: true}
	}
	k.api = api
	b := &Client{
		header: c.header, host: c.host, redact: c.redact, timeout: c.timeout, maxConns: c.maxConns,
		transport: c.transport, beside: c.beside, clock: c.clock,
	}
	b.known.Store(&k)
	return b, nil
}
