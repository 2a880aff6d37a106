package imported

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/metric"
)

const kernelAB = "../../pipelines/kernel-ab"

// cellOf derives a side's cell from its three files.
func cellOf(t *testing.T, side, lane string) metric.Cell {
	t.Helper()
	p := params{Workload: lane, Protocol: "capacity-v3", Statistic: spec.MeanOfRuns}
	var files [][]byte
	for _, run := range []string{"1", "2", "3"} {
		name := "fp8-moe-ab-" + side + "-v3-" + lane + "-r" + run + ".json"
		b, err := os.ReadFile(filepath.Join(kernelAB, name))
		if err != nil {
			t.Fatal(err)
		}
		files, p.Names = append(files, b), append(p.Names, name)
	}
	c, doc, err := derive(p, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Records) != 3 || c.Trials != 3 || c.Failed != 0 {
		t.Fatalf("%d records, %+v", len(doc.Records), c)
	}
	return c
}

// The published comparison, number for number, from the rows alone: its means
// are rounded to six digits, its deltas to three decimals.
func TestKernelAB(t *testing.T) {
	var published struct {
		Default, Tuned map[string]struct {
			Means map[string]float64 `json:"means"`
		}
		Deltas map[string]float64 `json:"deltas_percent"`
	}
	b, err := os.ReadFile(filepath.Join(kernelAB, "fp8-moe-ab-comparison.json"))
	if err == nil {
		err = json.Unmarshal(b, &published)
	}
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]metric.Cell{}
	for side, lanes := range map[string]map[string]struct {
		Means map[string]float64 `json:"means"`
	}{"default": published.Default, "tuned": published.Tuned} {
		for _, lane := range []string{"primary", "protected"} {
			c := cellOf(t, side, lane)
			cells[side+lane] = c
			for name, got := range map[string]*float64{
				"throughput_tok_s": c.ThroughputTokS.Value, "ttft_p50_ms": c.TTFT.P50, "ttft_p95_ms": c.TTFT.P95,
				"e2e_p50_ms": c.E2E.P50, "e2e_p95_ms": c.E2E.P95, "generation_p50_ms": c.Generation.P50, "generation_p95_ms": c.Generation.P95,
				"effective_prefill_tok_s_p50": c.EffectivePrefill.P50, "effective_prefill_tok_s_p95": c.EffectivePrefill.P95,
			} {
				want := lanes[lane].Means[name]
				if got == nil || math.Abs(*got-want) > 1e-6*want+1e-6 {
					t.Errorf("%s %s %s: %v, published %v", side, lane, name, got, want)
				}
			}
		}
	}
	percent := func(a, b *float64) float64 { return 100 * (*b - *a) / *a }
	for name, got := range map[string]float64{
		"primary_throughput":           percent(cells["defaultprimary"].ThroughputTokS.Value, cells["tunedprimary"].ThroughputTokS.Value),
		"primary_e2e_p95_improvement":  -percent(cells["defaultprimary"].E2E.P95, cells["tunedprimary"].E2E.P95),
		"protected_e2e_p95_regression": percent(cells["defaultprotected"].E2E.P95, cells["tunedprotected"].E2E.P95),
	} {
		if math.Abs(got-published.Deltas[name]) > 0.0005 {
			t.Errorf("%s: %.4f %%, published %.3f %%", name, got, published.Deltas[name])
		}
	}
}

// What cannot be derived from, and what may not stand side by side, is said at
// once.
func TestRefused(t *testing.T) {
	file := func(name string) spec.File {
		return spec.File{Path: filepath.Join("../artifact/testdata/anvil", name), Name: name}
	}
	for _, c := range []struct {
		a, b spec.File
		want string
	}{
		{file("cb2be7-candidate-gemma4-e4b-llamacpp-throughput-8k.json"), file("cb2be7-candidate-gemma4-e4b-llamacpp-throughput-8k.json"), "it holds no rows"},
		{file("85157e-q-a-ranking.json"), file("85157e-q-a-ranking.json"), "a file of anvil/quality holds no rows"},
		{file("26b04a-cap-malformed.json"), file("26b04a-cap-malformed.json"), "it is no valid evidence"},
		{file("bbed01-qwen35-capacity-32k-c1-sequential.json"), file("14e96d-baseline-capacity-4k.json"), "hardware.gpu differs"},
		{file("nowhere.json"), file("nowhere.json"), "nowhere.json: it cannot be read"},
	} {
		campaign := &spec.Campaign{Measure: map[string]spec.Workload{"w": {Kind: "imported", Imported: &spec.Imported{
			Protocol: "capacity-v3", Files: map[string][]spec.File{"a": {c.a}, "b": {c.b}},
		}}}}
		if err := Check(campaign, "w"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: %v, want %q", c.a.Name, c.b.Name, err, c.want)
		}
	}
}
