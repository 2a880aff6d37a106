package llm_test

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// Every hostile answer, with exactly the reads that the case says.
func TestHostileInMemory(t *testing.T) {
	for _, h := range llmtest.Hostiles() {
		t.Run(h.Name, func(t *testing.T) {
			ctx, expire := llmtest.WithExpiry(t.Context())
			c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(expire))
			h.Check(t, c.Do(ctx, p))
		})
	}
}

// The same answers through net/http over TCP, where the ends that depend on
// chance are left out.
func TestHostileOverTCP(t *testing.T) {
	for _, h := range llmtest.Hostiles() {
		if h.End != llmtest.Close {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			c, p := h.Client(t, h.Listen(t), nil)
			h.Check(t, c.Do(t.Context(), p))
		})
	}
}
