package store

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// The examples in docs/format.md are what this package writes.
func TestFormatDocument(t *testing.T) {
	doc := string(must[[]byte](t)(os.ReadFile("../../docs/format.md")))
	p := must[step.Preimage](t)(step.NewPreimage(step.Step{
		Kind: "score", Revision: 1, Params: json.RawMessage(`{"scorer": "exact"}`),
	}, map[string]step.Digest{"responses": step.Sum([]byte("hello\n"))}))
	k := must[step.Key](t)(p.Key())
	for what, want := range map[string]string{
		"format":   strings.TrimSpace(formatFile),
		"digest":   step.Sum([]byte("hello\n")).String(),
		"preimage": string(must[[]byte](t)(p.Canonical())) + "\n",
		"key":      k.String(),
		"family":   must[step.Digest](t)(p.Family(step.Growth{Inputs: []string{"responses"}})).String(),
		"sealed": string(must[[]byte](t)(seal(struct {
			Format int `json:"format"`
		}{Format}))),
		"frame": string(segmentID{key: k, n: 1}.appendFrame(nil, 0, []byte("hello"))),
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("docs/format.md lacks the %s:\n%s", what, want)
		}
	}
}
