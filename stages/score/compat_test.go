package score

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
)

// testdata/compat.jsonl holds what the Python functions that the compat scorers
// stand for gave (CPython 3, re and float), on texts made to differ: scripts
// with their own digits and cases, commas, numbers out of range.
func TestCompatAgreesWithPython(t *testing.T) {
	f, err := os.Open("testdata/compat.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type vector struct {
		Scorer string `json:"scorer"`
		Item   struct {
			Answer json.RawMessage `json:"answer"`
			Tol    json.RawMessage `json:"tol"`
			Facts  []string        `json:"facts"`
		} `json:"item"`
		Text   string  `json:"text"`
		Value  float64 `json:"value"`
		Reason string  `json:"reason"`
	}
	n := 0
	err = items.ReadRows("compat.jsonl", f, func(v vector) error {
		n++
		it := &items.Item{ID: "i", Scorer: items.Scorers{{Name: v.Scorer}}, Answer: v.Item.Answer, Tol: v.Item.Tol, Facts: v.Item.Facts}
		c, err := compiler(t).Compile(it)
		if err != nil {
			return err
		}
		s := c.Score(Output{Text: v.Text})
		if !s.Scored || s.Value != v.Value || !strings.HasPrefix(v.Reason, strings.TrimSuffix(s.Reason, "…")) {
			t.Errorf("%s %s %q: %+v, Python says %v %q", v.Scorer, v.Item.Answer, v.Text, s, v.Value, v.Reason)
		}
		return nil
	})
	if err != nil || n < 400 {
		t.Fatalf("%d vectors: %v", n, err)
	}
}
