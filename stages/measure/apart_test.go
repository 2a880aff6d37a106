package measure

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// TestApart: candidates that cannot take turns are measured one after the other,
// in cells of the same keys, unless the campaign asks for an order.
func TestApart(t *testing.T) {
	load := capacityOf([]int{1}, 3)
	c := &spec.Campaign{Candidates: map[string]spec.Candidate{"a": {}, "b": {}}, Measure: map[string]spec.Workload{"load": load}}
	turns, apart := Steps(c), Planner{Apart: "candidates share GPUs"}.Steps(c)
	for i, s := range apart {
		was := turns[i]
		if s.Name != was.Name || !bytes.Equal(s.Params, was.Params) || s.Revision != was.Revision || s.Trial != was.Trial {
			t.Errorf("%s: the order is in the key", s.Name)
		}
		if s.Kind != KindCell {
			continue
		}
		var h cellHints
		if err := json.Unmarshal(s.Hints, &h); err != nil || h.Apart != "candidates share GPUs" || s.Behind != nil {
			t.Errorf("%s: %+v, behind %v, %v", s.Name, h, s.Behind, err)
		}
	}
	if got := (Planner{Apart: "x"}).turns(c, "load", load); got[0].cand != "a" || got[2].cand != "a" || got[3].cand != "b" {
		t.Errorf("%+v", got)
	}
	if Interleaved(c) != nil {
		t.Error("the default is taken for a demand")
	}
	for _, order := range []string{"interleaved", "sequential"} {
		load.Capacity.Order = order
		if got := (Planner{Apart: "x"}).apart(load); got != "" {
			t.Errorf("%s: apart is %q although an order was asked for", order, got)
		}
		if got := Interleaved(c); slices.Equal(got, []string{"load"}) != (order == "interleaved") {
			t.Errorf("%s: %v", order, got)
		}
	}
}

// TestArranged: what the blocks say of their circumstances is said once.
func TestArranged(t *testing.T) {
	var out evidence.LoadMetrics
	arranged([]measured{
		{head: evidence.CellHeader{Beside: []string{"d", "b"}}},
		{head: evidence.CellHeader{Apart: "candidates share GPUs", Beside: []string{"b"}}},
	}, &out)
	arranged([]measured{{}}, &out)
	if out.Apart != "candidates share GPUs" || !slices.Equal(out.Beside, []string{"b", "d"}) {
		t.Errorf("%+v", out)
	}
}
