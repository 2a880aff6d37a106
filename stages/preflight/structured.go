package preflight

import (
	"context"
	"encoding/json"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// labelSchema is nothing that an answer to tomatoPrompt would be by itself.
const labelSchema = `{"type":"object","properties":{` +
	`"shelf":{"type":"string","enum":["teal-17","mauve-42"]},` +
	`"crates":{"type":"integer"},` +
	`"sealed":{"type":"boolean"}},` +
	`"required":["shelf","crates","sealed"],"additionalProperties":false}`

const tomatoPrompt = "Describe in one sentence what a ripe tomato looks like."

var label = mustCompile(labelSchema)

// structured asks for prose under a schema of something else: only an endpoint
// that holds its output to the schema can answer so.
func structured(ctx context.Context, s *session) (evidence.Check, error) {
	r := s.own(tomatoPrompt)
	r.Format = json.RawMessage(`{"type":"json_schema","json_schema":{"name":"label","strict":true,"schema":` + labelSchema + `}}`)
	a, err := s.ask(ctx, question{what: "the request", request: r})
	if err != nil {
		return evidence.Check{}, err
	}
	return a.check(func(a answer) string { return violation(label, a.Text, "the answer") }), nil
}
