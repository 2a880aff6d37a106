package llm

import (
	"context"
	"net"
	"net/http"
	"time"
)

// SetClock replaces the clock that stamps reads.
func (c *Client) SetClock(now func() time.Time) { c.clock = now }

// Clock is the clock that stamps reads.
func (c *Client) Clock() func() time.Time { return c.clock }

// DrainTimeout is how long a finished stream is waited for.
const DrainTimeout = drainTimeout

// TransportOver is the client's own transport with connections from dial.
func TransportOver(dial func() net.Conn) *http.Transport {
	t := newTransport(1)
	t.DialContext = func(context.Context, string, string) (net.Conn, error) { return dial(), nil }
	return t
}

// NewTransport is the client's own transport.
var NewTransport = newTransport

// Dialing is how many connections Warm opens at once.
const Dialing = dialing

// What names of weights and file types come to.
var (
	WeightsFrom  = weightsFrom
	FileType     = ftype
	PythonFields = pythonFields
)
