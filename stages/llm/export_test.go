package llm

import "time"

// SetClock replaces the clock that stamps reads.
func (c *Client) SetClock(now func() time.Time) { c.clock = now }

// DrainTimeout is how long a finished stream is waited for.
const DrainTimeout = drainTimeout
