package measure

import (
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// What one workload sends does not warm a cache for another one, not even at a
// point of the same name; the candidates of one workload get the same prompts.
func TestWorkloadsShareNoPrompt(t *testing.T) {
	first := func(w spec.Capacity, who spec.Candidate) string {
		p := newCellParams(who, spec.Workload{Kind: "capacity", Capacity: &w}, nil, spec.Point{Cell: "c=2", Concurrency: 2})
		c, err := newCapacity(&p, evidence.CellHeader{Trial: 1}, p.Workload.Capacity)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.block(c.prompts())
		if err != nil {
			t.Fatal(err)
		}
		a, err := b.prompts.Build(0)
		if err != nil {
			t.Fatal(err)
		}
		return a.Text[:min(64, len(a.Text))]
	}
	w := spec.Capacity{Protocol: "capacity-v3", Requests: 4, Prompt: spec.CapacityPrompt{Tokens: 256, Cache: "unique"}}
	longer := w
	longer.Requests = 8
	base := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 16}}
	warm := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 16, Temperature: 1}}
	if first(w, base) == first(longer, base) {
		t.Error("two workloads begin with the same bytes")
	}
	if first(w, base) != first(w, warm) {
		t.Error("two candidates get different prompts")
	}
}
