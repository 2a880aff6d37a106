package history

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// metered makes the load of a finding one of energy.
func metered(joules float64, digest string) func(*evidence.Record, map[string]any) {
	return func(r *evidence.Record, s map[string]any) {
		l := r.Candidates["prod"].Load["load"]
		l.Kind = "energy"
		l.Energy = []energy.Cell{{Name: "c=4", StartC: metric.Of(41, "C"), Asiai: energy.Asiai{PowerWatts: metric.Of(300, "W"), PowerDigest: "gpu", SoCWatts: metric.Of(400, "W")}, Bases: []energy.Of{{
			Base: "nv.gpu", Digest: digest, LoadedIdleW: metric.Null("idle-cv", "W"),
			Windows: map[energy.Window]energy.Measured{energy.Whole: {J: metric.Of(100*joules, "J"), JPerOutputToken: metric.Of(joules, "J")}},
		}}}}
		r.Candidates["prod"].Load["power"] = l
		delete(r.Candidates["prod"].Load, "load")
		s["measure"].(map[string]any)["power"] = map[string]any{"kind": "energy", "of": "load", "traces": map[string]any{"prod": []string{digest}}, "wallCalibration": map[string]any{"a": joules}}
	}
}

func TestEnergySeries(t *testing.T) {
	for name, want := range map[string]struct {
		value        float64
		unit, better string
		reason       string
	}{
		"energy.nv_gpu.cell.j_per_output_token": {0.5, "J", "lower", ""},
		"energy.nv_gpu.cell.j":                  {50, "J", "lower", ""},
		"energy.asiai.power_watts":              {300, "W", "lower", ""},
		"energy.start_c":                        {41, "C", "", ""},
		"energy.nv_gpu.loaded_idle_w":           {0, "W", "lower", "idle-cv"},
	} {
		// Recordings and a declared calibration differ and are no controls.
		got := follow(t, name, finding("a", "2026-01-01", "1", 10, metered(0.5, "x")), finding("b", "2026-01-02", "1", 10, func(r *evidence.Record, s map[string]any) {
			metered(0.5, "x")(r, s)
			s["measure"].(map[string]any)["power"].(map[string]any)["traces"] = nil
		}))
		if len(got) != 1 || len(got[0].Rows) != 2 || got[0].Workload != "power" || got[0].Better != want.better {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		r := got[0].Rows[0]
		if r.Unit != want.unit || r.Reason != want.reason || want.reason == "" && (r.Value == nil || *r.Value != want.value) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, none := range []string{"energy.nv_gpu.cell.joules", "energy.wall.cell.j", "energy.nv.cell.j", "energy.nv_gpu", "energy.", "energy.nv_gpu.decode.j"} {
		if got := follow(t, none, finding("a", "2026-01-01", "1", 10, metered(0.5, "x"))); len(got) != 0 {
			t.Errorf("%s: %+v", none, got[0])
		}
	}
}

// Another set of counters, and another workload below, are another series.
func TestEnergiesOfTwoSetsStayApart(t *testing.T) {
	const name = "energy.nv_gpu.cell.j_per_output_token"
	got := follow(t, name, finding("a", "2026-01-01", "1", 10, metered(0.5, "x")), finding("b", "2026-01-02", "1", 10, metered(0.5, "y")))
	if len(got) != 2 || got[1].Apart != "another set of counters" {
		t.Errorf("%+v", got)
	}
	got = follow(t, name, finding("a", "2026-01-01", "1", 10, metered(0.5, "x")), finding("b", "2026-01-02", "1", 10, func(r *evidence.Record, s map[string]any) {
		metered(0.5, "x")(r, s)
		s["measure"].(map[string]any)["load"].(map[string]any)["requests"] = 9
	}))
	if len(got) != 2 || got[1].Apart != "another workload" {
		t.Errorf("%+v", got)
	}
}

// asiai's power is of the GPUs: a wall meter beside them is no other series of it.
func TestPowerIsASeriesOfTheGPUs(t *testing.T) {
	gpus := func(digest string) func(*evidence.Record, map[string]any) {
		return func(r *evidence.Record, s map[string]any) {
			metered(0.5, "x")(r, s)
			r.Candidates["prod"].Load["power"].Energy[0].Asiai.PowerDigest = digest
		}
	}
	for _, tt := range []struct {
		name  string
		other func(*evidence.Record, map[string]any)
		want  int
	}{
		{"energy.asiai.power_watts", metered(0.5, "y"), 1},
		{"energy.asiai.power_watts", gpus("another"), 2},
		{"energy.asiai.soc_watts", metered(0.5, "y"), 2},
		{"energy.asiai.soc_watts", gpus("another"), 1},
	} {
		if got := follow(t, tt.name, finding("a", "2026-01-01", "1", 10, metered(0.5, "x")), finding("b", "2026-01-02", "1", 10, tt.other)); len(got) != tt.want {
			t.Errorf("%s: %d series, want %d", tt.name, len(got), tt.want)
		}
	}
}
