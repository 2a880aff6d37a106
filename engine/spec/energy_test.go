package spec

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// meteredCampaign is base.yaml with an energy workload of each kind that can have
// one, in a folder with a recording and the data of a calibration.
func meteredCampaign(t *testing.T, energy string) *Loaded {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "host.jsonl", "a recording\n")
	write(t, dir, "pairs.csv", "x,wall\n")
	write(t, dir, "items.jsonl", "{\"id\":\"a\"}\n")
	write(t, dir, "campaign.yaml", `
apiVersion: cupel/v1
campaign: joules
decision: {question: Fewer, kind: quantisation}
candidates:
  a: {role: baseline, model: {repo: o/n, revision: 0123456789abcdef0123456789abcdef01234567}}
  b: {from: a, quantization: {weights: fp8}}
measure:
  load: {kind: capacity, concurrency: [1, 4], requests: 8, trials: 3}
  stream: {kind: open-loop, arrivals: {process: poisson, rates: [2, 5], duration: 40s}, trials: 2}
  exact: {kind: decode, outputTokens: 64, requests: 2}
  four: {kind: bench, prompts: [code, long_gen]}
  items: {kind: quality, suite: items.jsonl}
`+energy+"\ndecide: {guards: {fast: {on: load, rule: \"true\"}}}\n")
	return mustLoad(t, filepath.Join(dir, "campaign.yaml"))
}

func TestEnergyDefaults(t *testing.T) {
	e := meteredCampaign(t, "  power: {kind: energy, of: load}\n").Campaign.Measure["power"].Energy
	want := &Energy{Of: "load", Bases: []string{"nv.gpu"}, Window: defaultWindow, Settle: "3s", Idle: "10s", Coarsest: 5, Processes: 1, StartBand: 5, Cooling: "5m"}
	if d := cmp.Diff(want, e); d != "" {
		t.Error(d)
	}
}

// The cells of an energy workload are those of the workload whose requests it sends.
func TestEnergyPoints(t *testing.T) {
	l := meteredCampaign(t, `
  of-load: {kind: energy, of: load}
  of-stream: {kind: energy, of: stream, window: 30s}
  of-exact: {kind: energy, of: exact}
  of-four: {kind: energy, of: four}
`)
	all := l.Campaign.Measure
	for name, want := range map[string]struct {
		results []string
		trials  int
	}{
		"load": {[]string{"c=1", "c=4"}, 3}, "stream": {[]string{"rate=2", "rate=5"}, 2},
		"exact": {[]string{"c=1"}, 1}, "four": {[]string{"code", "long_gen", "all"}, 1},
	} {
		w := all["of-"+name]
		if got := w.Results(all); !slices.Equal(got, want.results) || w.Repeats(all) != want.trials || !w.Serving() {
			t.Errorf("%s: %v, %d trials", name, got, w.Repeats(all))
		}
		if d := cmp.Diff(all[name].Points(all), w.Points(all)); d != "" || len(w.Points(all)) == 0 {
			t.Errorf("%s: %s", name, d)
		}
	}
	if w := (Workload{Kind: "energy", Energy: &Energy{Of: "items"}}); w.Points(all) != nil || w.Repeats(all) != 1 {
		t.Error("items have no points")
	}
	if len(l.Warnings) != 0 {
		t.Error(l.Warnings)
	}
}

func TestEnergyOfShortOpenLoop(t *testing.T) {
	l := meteredCampaign(t, "  power: {kind: energy, of: stream}\n")
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0].Error(), "measure.power.window: stream sends for 40s, which is shorter than the window of 1m0s") {
		t.Error(l.Warnings)
	}
}

// Recordings and calibration data are in the hash, and known by it afterwards.
func TestEnergyFiles(t *testing.T) {
	const power = `
  power:
    kind: energy
    of: load
    traces: {b: [{file: host.jsonl, offset: -12ms, offsetError: 0.5ms}, {file: host.jsonl}]}
    wallCalibration: {base: nv.gpu, a: 41.5, b: 1.08, r2: 0.998, n: 12, meter: plug, data: pairs.csv}
`
	l := meteredCampaign(t, power)
	e := l.Campaign.Measure["power"].Energy
	list := e.Traces["b"]
	if sum := step.Sum([]byte("a recording\n")); len(list) != 2 || list[0].File.Digest != sum || list[1].File.Digest != sum || list[0].Offset != "-12ms" || list[0].OffsetError != "0.5ms" {
		t.Errorf("%+v", list)
	}
	if c := e.Calibration; c.Data.Digest != step.Sum([]byte("x,wall\n")) || c.A != 41.5 || c.B != 1.08 || c.N != 12 || c.Meter != "plug" {
		t.Errorf("%+v", c)
	}
	if len(l.Files) != 3 {
		t.Errorf("%v", l.Files)
	}
	again, err := FromCanonical(l.Canonical, "")
	if err != nil || again.Digest != l.Digest || again.Campaign.Measure["power"].Energy.Traces["b"][0].File.Digest != list[0].File.Digest {
		t.Errorf("%v", err)
	}
	if other := meteredCampaign(t, strings.Replace(power, "host.jsonl}", "pairs.csv}", 1)); other.Digest == l.Digest {
		t.Error("another recording is the same campaign")
	}
}

// Every kind of workload can be metered, or says why it cannot.
func TestMeteredKinds(t *testing.T) {
	for _, alt := range alternatives(compiled().def("Workload")) {
		kind := kindOf(alt)
		if _, refused := unmetered[kind]; refused == Metered(kind) {
			t.Errorf("%s is metered: %v, refused: %v", kind, Metered(kind), refused)
		}
	}
}
