package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// metered is the metrics of one energy workload; its GPU drew 480 W.
func metered(change func(*energy.Cell)) *evidence.LoadMetrics {
	c := energy.Cell{Name: "c=1", Trials: 1, PowerCapShare: metric.Of(0.02, "share"), ThermalShare: metric.Of(0, "share"),
		Asiai: energy.Asiai{Base: "nv.gpu", Rails: []string{"nvml.gpu"}, Window: "turn", PowerWatts: metric.Of(480, "W"), TokPerSecPerWatt: metric.Of(0.2, "tok/s/W"),
			SoCWatts: metric.Of(470, "W"), EnergyPerToken: metric.Of(5.5, "J"), IdleSoCWatts: metric.Null("idle-cv", "W"), ActivePerToken: metric.Null("idle-cv", "J")},
		Bases: []energy.Of{{Base: "nv.gpu", Digest: strings.Repeat("ab", 32), LoadedIdleW: metric.Null("idle-cv", "W"), Windows: map[energy.Window]energy.Measured{
			energy.Whole:  {W: metric.Of(480, "W"), J: metric.Of(28800, "J"), JPerRequest: metric.Of(720, "J"), JPerOutputToken: metric.Of(5.6, "J"), JPerTotalToken: metric.Of(1.4, "J"), NetJPerOutputToken: metric.Null("idle-cv", "J")},
			energy.Decode: {JPerOutputInterval: metric.Of(5.2, "J")},
		}}}}
	if change != nil {
		change(&c)
	}
	return &evidence.LoadMetrics{Workload: "power", Kind: "energy", Protocol: "capacity-v3", Cells: []metric.Cell{{Name: "c=1", Concurrency: 1, Attempted: 40, Completed: 40}}, Energy: []energy.Cell{c},
		Calibration: &energy.Calibration{Base: "nv.gpu", A: 61.5, B: -1.31, R2: 0.9987, N: 40, Meter: "shelf meter", SHA256: strings.Repeat("cd", 32)}}
}

func meteredRecord(t *testing.T, change func(*energy.Cell)) *Record {
	t.Helper()
	b, err := json.Marshal(metered(change))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Read(b, Options{})
	if err != nil || len(doc.Records) != 1 || len(doc.Records[0].Invalid) > 0 {
		t.Fatalf("%v, %+v", err, doc)
	}
	return doc.Records[0]
}

func energyFields(r *Record) map[string]string {
	out := map[string]string{}
	for _, f := range r.Fields() {
		if name, ok := strings.CutPrefix(f.Name, "energy."); ok {
			out[name] = f.Show()
		}
	}
	return out
}

func TestEnergyOfMetrics(t *testing.T) {
	want := map[string]string{
		"base": "nv.gpu", "rails": "nvml.gpu", "set_sha256": strings.Repeat("ab", 32), "window": "turn",
		"power_watts": "480", "tok_per_sec_per_watt": "0.2", "soc_watts": "470", "energy_per_token_j": "5.5",
		"idle_soc_watts": "unknown: idle-cv", "energy_per_token_active_j": "unknown: idle-cv",
		"cell_w": "480", "cell_j": "28800", "cell_j_per_request": "720", "cell_j_per_output_token": "5.6", "cell_j_per_total_token": "1.4",
		"cell_net_j_per_output_token": "unknown: idle-cv", "decode_j_per_output_interval": "5.2", "loaded_idle_w": "unknown: idle-cv",
		"power_cap_share": "0.02", "thermal_share": "0",
		"wall_base": "nv.gpu", "wall_a_w": "61.5", "wall_b": "-1.31", "wall_r2": "0.9987", "wall_n": "40", "wall_meter": "shelf meter", "wall_sha256": strings.Repeat("cd", 32),
	}
	if diff := cmp.Diff(want, energyFields(meteredRecord(t, nil))); diff != "" {
		t.Error(diff)
	}
	plain := metered(nil)
	plain.Energy, plain.Calibration = nil, nil
	for i := range reflect.TypeFor[Energy]().NumField() {
		e := energyOf(plain, "c=1")
		if _, why := reflect.ValueOf(e).Field(i).Interface().(field).get(); why != "the workload measures no energy" {
			t.Errorf("%s: %q", reflect.TypeFor[Energy]().Field(i).Name, why)
		}
	}
}

// What asiai's form has a place for comes back as it was, and what is not known is
// null there.
func TestAsiaiRoundTrip(t *testing.T) {
	r := meteredRecord(t, nil)
	content, lost, err := Convert("asiai", []*Record{r})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Wall      map[string]any `json:"wall_calibration"`
		Benchmark struct {
			Engines map[string]map[string]any
		}
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	e := doc.Benchmark.Engines["power/c=1"]
	wantBlock := map[string]any{"base": "nv.gpu", "rails": []any{"nvml.gpu"}, "window": "turn", "soc_watts": 470.0, "energy_per_token_j": 5.5, "idle_soc_watts": nil, "energy_per_token_active_j": nil}
	if diff := cmp.Diff(wantBlock, e["energy"]); diff != "" {
		t.Error(diff)
	}
	if e["avg_power_watts"] != 480.0 || e["avg_tok_per_sec_per_watt"] != 0.2 || e["avg_energy_per_token_j"] != nil || e["avg_soc_watts"] != nil {
		t.Errorf("%v", e)
	}
	wantWall := map[string]any{"base": "nv.gpu", "a": 61.5, "b": -1.31, "r2": 0.9987, "n": 40.0, "meter": "shelf meter", "sha256": strings.Repeat("cd", 32)}
	if diff := cmp.Diff(wantWall, doc.Wall); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(lost, "energy.set_sha256") || !slices.Contains(lost, "energy.cell_j") {
		t.Errorf("lost %q", lost)
	}
	back, err := Read(content, Options{})
	if err != nil || len(back.Records) != 1 || len(back.Records[0].Invalid) > 0 {
		t.Fatalf("%v, %+v", err, back)
	}
	before, after := energyFields(r), energyFields(back.Records[0])
	for name, was := range before {
		switch {
		case strings.HasPrefix(name, "cell_"), name == "set_sha256", name == "decode_j_per_output_interval", strings.HasSuffix(name, "_share"), strings.HasPrefix(was, "unknown: "):
			if !strings.HasPrefix(after[name], "unknown: ") {
				t.Errorf("%s = %s from nothing", name, after[name])
			}
		case after[name] != was:
			t.Errorf("%s: %s, then %s", name, was, after[name])
		}
	}
	again, _, err := Convert("asiai", back.Records)
	if err != nil || !bytes.Contains(again, []byte(`"soc_watts": 470`)) {
		t.Errorf("%v: %s", err, again)
	}
}

// What an export of asiai says of energy it says again after it was read.
func TestSoC5RoundTrip(t *testing.T) {
	doc, err := Read(asiaiWith(soc5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, _, err := Convert("asiai", doc.Records)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"base": "soc5"`, `"ANE"`, `"DCS"`, `"window": "turn"`, `"soc_watts": 32`, `"energy_per_token_j": 0.7`, `"idle_soc_watts": null`, `"avg_power_watts": 21.5`, `"avg_tok_per_sec_per_watt": 2.3`} {
		if !bytes.Contains(content, []byte(want)) {
			t.Errorf("there is no %s in %s", want, content)
		}
	}
}

// Without energy every place for it is null, not 0 and not an empty block.
func TestAsiaiWithoutEnergy(t *testing.T) {
	r := meteredRecord(t, func(c *energy.Cell) {
		no := metric.Null("no-meter", "W")
		c.Asiai = energy.Asiai{Base: "nv.gpu", Window: "turn", PowerWatts: no, TokPerSecPerWatt: no, SoCWatts: no, EnergyPerToken: no, IdleSoCWatts: no, ActivePerToken: no}
	})
	content, _, err := Convert("asiai", []*Record{r})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"energy": null`, `"avg_power_watts": null`, `"avg_tok_per_sec_per_watt": null`, `"avg_energy_per_token_j": null`, `"avg_soc_watts": null`} {
		if !bytes.Contains(content, []byte(want)) {
			t.Errorf("there is no %s in %s", want, content)
		}
	}
}

// asiaiWith is an export of one engine with these members.
func asiaiWith(members string) []byte {
	return fmt.Appendf(nil, `{"schema_version": 2, "asiai_version": "2.0.0", "timestamp": "2026-11-01T10:00:00+00:00", "machine": {"chip": "Apple M5 Max", "os_version": "26.5"},
 "benchmark": {"model": "m", "runs_per_prompt": 3, "prompts": ["code"], "context_size": 0, "engines": {"ollama": {"median_tok_s": 50.0, "median_ttft_ms": 120.0, "runs_count": 3, "engine_version": "1", %s}}}}`, members)
}

const soc5 = `"avg_power_watts": 21.5, "avg_tok_per_sec_per_watt": 2.3, "energy": {"base": "soc5", "rails": ["GPU", "CPU", "DRAM", "DCS", "ANE"], "window": "turn", "soc_watts": 32.0, "energy_per_token_j": 0.7, "idle_soc_watts": 0.0, "energy_per_token_active_j": null}`

func TestReadAsiaiEnergy(t *testing.T) {
	for name, tt := range map[string]struct {
		members string
		want    map[string]string
		invalid string
	}{
		"soc5": {soc5, map[string]string{"base": "apple.soc5", "rails": "apple.ane, apple.cpu, apple.dcs, apple.dram, apple.gpu", "window": "turn", "power_watts": "21.5", "tok_per_sec_per_watt": "2.3",
			"soc_watts": "32", "energy_per_token_j": "0.7", "idle_soc_watts": "unknown: 0 there is not measured", "energy_per_token_active_j": "unknown: not recorded"}, ""},
		"before 0.5.0": {`"avg_power_watts": 0.0, "avg_soc_watts": 32.0, "avg_energy_per_token_j": 0.9`, map[string]string{"base": "unknown: exports before 0.5.0 do not name the rails that were read",
			"window": "run", "soc_watts": "32", "energy_per_token_j": "0.9", "power_watts": "unknown: 0 there is not measured"}, ""},
		"none":         {`"avg_power_watts": null, "energy": null`, map[string]string{"base": "unknown: a file of asiai/export does not tell", "soc_watts": "unknown: not recorded"}, ""},
		"no base":      {`"energy": {"window": "turn", "soc_watts": 3.0}`, nil, "without its base and window"},
		"no window":    {`"energy": {"base": "soc5", "energy_per_token_j": 3.0}`, nil, "without its base and window"},
		"other window": {`"energy": {"base": "soc5", "window": "session", "soc_watts": 3.0}`, nil, "want turn or decode"},
		"negative":     {`"energy": {"base": "soc5", "window": "turn", "soc_watts": -3.0}`, nil, "is negative"},
		"a text":       {`"energy": "much"`, nil, "must be an object"},
		"not a number": {`"avg_power_watts": "21"`, nil, "must be a finite number"},
	} {
		doc, err := Read(asiaiWith(tt.members), Options{})
		if err != nil || len(doc.Records) != 1 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := doc.Records[0]
		if bad := strings.Join(r.Invalid, "; "); (tt.invalid == "") != (bad == "") || !strings.Contains(bad, tt.invalid) {
			t.Errorf("%s: invalid %q, want %q", name, bad, tt.invalid)
		}
		got := energyFields(r)
		for field, want := range tt.want {
			if got[field] != want {
				t.Errorf("%s: %s = %s, want %s", name, field, got[field], want)
			}
		}
	}
}

// Two bases, two sets of rails, two windows and two shares of the power cap are not
// held against each other; the reason is the field.
func TestEnergiesOfTwoBasesDoNotCompare(t *testing.T) {
	read := func(members string) Unit {
		doc, err := Read(asiaiWith(members), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return Unit{members[:20], doc.Records[0]}
	}
	same := Compare([]Unit{read(soc5), read(soc5 + ` , "x": 1`)})
	for field := range same.Differences {
		if strings.HasPrefix(field, "energy.") {
			t.Errorf("the same base differs: %v", same.Differences)
		}
	}
	for field, other := range map[string]string{
		"energy.base":   strings.Replace(soc5, `"base": "soc5"`, `"base": "soc7"`, 1),
		"energy.rails":  strings.Replace(soc5, `, "ANE"`, ``, 1),
		"energy.window": strings.Replace(soc5, `"turn"`, `"decode"`, 1),
	} {
		got := Compare([]Unit{read(soc5), read(other)})
		if got.Comparable || got.Differences[field] == nil {
			t.Errorf("%s: %+v", field, got.Differences)
		}
	}
	a, b := Unit{"a", meteredRecord(t, nil)}, Unit{"b", meteredRecord(t, func(c *energy.Cell) { c.PowerCapShare = metric.Of(0.3, "share") })}
	if got := Compare([]Unit{a, b}); got.Differences["energy.power_cap_share"] == nil {
		t.Errorf("%+v", got.Differences)
	}
	none := Unit{"none", meteredRecord(t, nil)}
	none.Record.Energy = Energy{}
	none.Record.Energy.because("the workload measures no energy")
	if got := Compare([]Unit{a, none}); got.Differences["energy.base"] != nil || !slices.Contains(got.Cautions, "energy.base is not known of none") {
		t.Errorf("%+v, %q", got.Differences, got.Cautions)
	}
}

func TestCalibrationsOfOneExport(t *testing.T) {
	a, b := meteredRecord(t, nil), meteredRecord(t, nil)
	a.Part, b.Part = "a", "b"
	if _, _, err := Convert("asiai", []*Record{a, b}); err != nil {
		t.Error(err)
	}
	b.Energy.WallA = is(3.0)
	if _, _, err := Convert("asiai", []*Record{a, b}); err == nil || !strings.Contains(err.Error(), "different calibrations") {
		t.Errorf("%v", err)
	}
}

// Records of the earlier schema are read; their energy told neither base nor window.
func TestEarlierRecordsAreRead(t *testing.T) {
	r := meteredRecord(t, nil)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var was map[string]any
	if err := json.Unmarshal(b, &was); err != nil {
		t.Fatal(err)
	}
	was["schema"] = "cupel/evidence/v1"
	delete(was, "energy")
	for name, tt := range map[string]struct {
		energy any
		want   map[string]string
	}{
		"a value": {map[string]any{"value": 0.9}, map[string]string{"energy_per_token_j": "0.9", "base": "unknown: cupel/evidence/v1 does not tell it", "window": "run"}},
		"none":    {map[string]any{"unknown": "not recorded"}, map[string]string{"energy_per_token_j": "unknown: not recorded", "window": "unknown: not recorded"}},
	} {
		was["results"].(map[string]any)["energy_per_token_j"] = tt.energy
		one, _ := json.Marshal(was)
		list, _ := json.Marshal(map[string]any{"format": "cupel/metrics", "records": []any{was}})
		for _, content := range [][]byte{one, list} {
			doc, err := Read(content, Options{})
			if err != nil || len(doc.Records) != 1 || len(doc.Records[0].Invalid) > 0 {
				t.Fatalf("%s: %v, %+v", name, err, doc)
			}
			got := energyFields(doc.Records[0])
			for field, want := range tt.want {
				if got[field] != want {
					t.Errorf("%s: %s = %s, want %s", name, field, got[field], want)
				}
			}
			if doc.Records[0].Schema != Schema || doc.Records[0].Source.Format != "cupel/metrics" {
				t.Errorf("%+v", doc.Records[0].Source)
			}
		}
	}
}

func TestMeteredRecordIsOfTheSchema(t *testing.T) {
	def := evidenceDef(t)
	doc := Document{Format: "cupel/metrics", Records: []*Record{meteredRecord(t, nil)}}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := def.Unify(def.Context().CompileBytes(b)).Validate(cue.Concrete(true)); err != nil {
		t.Error(err)
	}
}
