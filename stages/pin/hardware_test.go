package pin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

func h200() hardware.Identity {
	return hardware.Identity{GPUs: []hardware.Class{{Count: 2, Name: "NVIDIA H200", Architecture: "hopper", Compute: "9.0", MemoryMiB: 143771, PowerLimitMW: 700000, MIG: "disabled", ECC: "on"}},
		Driver: "570.86.10", CUDA: "12.8", CPU: "Intel(R) Xeon(R) Platinum 8480+", Sockets: 2, Cores: 112}
}

func on(id hardware.Identity, uuids ...string) hardware.Seen {
	r := &hardware.Report{GPUs: []hardware.GPU{}}
	for i, id := range uuids {
		r.GPUs = append(r.GPUs, hardware.GPU{Index: i, UUID: &id})
	}
	return hardware.Seen{Identity: &id, Shown: hardware.Doc{Source: hardware.FromMeter, Report: r}}
}

func states(fields []evidence.PinField) map[string]string {
	out := map[string]string{}
	for _, f := range fields {
		out[f.Name] = f.State
	}
	return out
}

func TestHardwareFields(t *testing.T) {
	all := spec.Hardware{GPU: "NVIDIA H200", Count: 2, Memory: "140.4GiB", Driver: "570", CUDA: "12.8", PowerLimit: "700W", MIG: "disabled", CPU: "intel xeon platinum 8480", UUIDs: []string{"GPU-b", "GPU-a"}}
	seen := on(h200(), "GPU-a", "GPU-b")
	for f, state := range states(hardwareFields(&all, seen)) {
		if want := map[bool]string{true: observedOnly, false: equal}[f == "hardware.architecture" || f == "hardware.ecc"]; state != want {
			t.Errorf("%s: %s, want %s", f, state, want)
		}
	}
	for f, state := range states(hardwareFields(&all, hardware.Unseen(hardware.NoMeter, ""))) {
		if state != declaredOnly {
			t.Errorf("%s: %s", f, state)
		}
	}
	if got := hardwareFields(nil, hardware.Unseen(hardware.NoMeter, "")); len(got) != 0 {
		t.Errorf("nothing is declared or known, and there are %+v", got)
	}
	if d := cmp.Diff(map[string]string{"hardware.cpu": observedOnly}, states(hardwareFields(nil, on(hardware.Identity{CPU: "EPYC"})))); d != "" {
		t.Error(d)
	}
}

func TestHardwareCompare(t *testing.T) {
	mixed := h200()
	mixed.GPUs = append(mixed.GPUs, hardware.Class{Count: 1, Name: "NVIDIA H100", MemoryMiB: 81559, PowerLimitMW: 350500})
	unread := h200()
	unread.GPUs[0].Name, unread.GPUs[0].MemoryMiB = "", 0
	for name, c := range map[string]struct {
		want  spec.Hardware
		id    hardware.Identity
		field string
		state string
	}{
		"name without the maker": {spec.Hardware{GPU: "H200"}, h200(), "gpu", equal},
		"another name":           {spec.Hardware{GPU: "NVIDIA H100"}, h200(), "gpu", differs},
		"a longer name":          {spec.Hardware{GPU: "NVIDIA H200 NVL"}, h200(), "gpu", differs},
		"one of two names":       {spec.Hardware{GPU: "NVIDIA H200"}, mixed, "gpu", differs},
		"name not readable":      {spec.Hardware{GPU: "NVIDIA H200"}, unread, "gpu", declaredOnly},
		"count":                  {spec.Hardware{Count: 3}, mixed, "count", equal},
		"another count":          {spec.Hardware{Count: 1}, h200(), "count", differs},
		"MiB":                    {spec.Hardware{Memory: "143771MiB"}, h200(), "memory", equal},
		"another MiB":            {spec.Hardware{Memory: "143770MiB"}, h200(), "memory", differs},
		"GiB":                    {spec.Hardware{Memory: "140GiB"}, h200(), "memory", equal},
		"what is printed on it":  {spec.Hardware{Memory: "141GiB"}, h200(), "memory", differs},
		"two sizes":              {spec.Hardware{Memory: "140GiB"}, mixed, "memory", differs},
		"branch of a driver":     {spec.Hardware{Driver: "570"}, h200(), "driver", equal},
		"half a number":          {spec.Hardware{Driver: "57"}, h200(), "driver", differs},
		"CUDA":                   {spec.Hardware{CUDA: "12"}, h200(), "cuda", equal},
		"power":                  {spec.Hardware{PowerLimit: "700W"}, h200(), "powerLimit", equal},
		"a little less power":    {spec.Hardware{PowerLimit: "699.5W"}, h200(), "powerLimit", differs},
		"MIG":                    {spec.Hardware{MIG: "1g.18gb"}, h200(), "mig", differs},
		"model":                  {spec.Hardware{CPU: "Intel(R) Xeon(R) Platinum 8480+"}, h200(), "cpu", equal},
		"another model":          {spec.Hardware{CPU: "AMD EPYC"}, h200(), "cpu", differs},
	} {
		if got := states(hardwareFields(&c.want, on(c.id)))["hardware."+c.field]; got != c.state {
			t.Errorf("%s: %s, want %s", name, got, c.state)
		}
	}
}

// Which devices they are is in no key, unless the campaign names them.
func TestHardwareInThePin(t *testing.T) {
	doc := func(c spec.Candidate, seen hardware.Seen) (string, *pintest.Job, error) {
		job, err := run(t, c, &pintest.Endpoint{ID: identity(), Probed: probe, Under: seen})
		return string(job.Output(evidence.OutPin)), job, err
	}
	a, job, err := doc(candidate(), on(h200(), "GPU-a"))
	b, _, err2 := doc(candidate(), on(h200(), "GPU-b"))
	if err != nil || err2 != nil || a != b || strings.Contains(a, "GPU-a") {
		t.Errorf("%v %v\n%s\n%s", err, err2, a, b)
	}
	if shown := string(job.Output(evidence.OutHardware)); !strings.Contains(shown, "GPU-a") {
		t.Errorf("hardware.json: %s", shown)
	}
	// Why nothing is known differs from machine to machine, and the pin does not.
	c, _, err := doc(candidate(), hardware.Unseen(hardware.NoMeter, ""))
	d, _, err2 := doc(candidate(), hardware.Unseen(hardware.NoGPU, "x"))
	if err != nil || err2 != nil || c != d || strings.Contains(c, "hardware") || c == a {
		t.Errorf("%v %v\n%s\n%s", err, err2, c, d)
	}
	named := candidate()
	named.Hardware = &spec.Hardware{UUIDs: []string{"GPU-a"}}
	if e, _, err := doc(named, on(h200(), "GPU-a")); err != nil || !strings.Contains(e, "GPU-a") {
		t.Errorf("%v\n%s", err, e)
	}
	if _, _, err := doc(named, on(h200(), "GPU-b")); !errors.Is(err, step.ErrOutside) || !strings.Contains(fmt.Sprint(err), "hardware.uuids: declared GPU-a, observed GPU-b") {
		t.Error(err)
	}
}

func TestHardwareFails(t *testing.T) {
	wrong := step.Mark(step.ErrOutside, errors.New("gpus names 3"))
	if _, err := run(t, candidate(), &pintest.Endpoint{ID: identity(), UnderErr: wrong}); !errors.Is(err, step.ErrOutside) || !strings.Contains(err.Error(), "pin fp8: hardware: gpus names 3") {
		t.Error(err)
	}
	seen := on(h200())
	seen.Warnings = []string{"it is old"}
	job, err := run(t, candidate(), &pintest.Endpoint{ID: identity(), Under: seen})
	if d := cmp.Diff([]string{"it is old"}, job.Remarks); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}

func TestRecheckHardware(t *testing.T) {
	before := h200()
	capped, other, upgraded := h200(), h200(), h200()
	capped.GPUs[0].PowerLimitMW = 500000
	other.Sockets = 1
	upgraded.Driver, upgraded.CUDA = "580.10", "13.0"
	for name, c := range map[string]struct {
		before *hardware.Identity
		now    hardware.Seen
		err    error
		want   string // of Before and After, "" = no drift
	}{
		"the same":         {&before, on(h200(), "GPU-b"), nil, ""},
		"not known before": {nil, on(h200()), nil, ""},
		"power limit":      {&before, on(capped), nil, "hardware.powerLimit 700 W -> hardware.powerLimit 500 W"},
		"driver":           {&before, on(upgraded), nil, "hardware.cuda 12.8, hardware.driver 570.86.10 -> hardware.cuda 13.0, hardware.driver 580.10"},
		"no row tells":     {&before, on(other), nil, "hardware "},
	} {
		err := Recheck(t.Context(), &pintest.Endpoint{ID: identity(), Under: c.now, UnderErr: c.err}, evidence.PinDoc{Observed: identity(), Hardware: c.before})
		var drift *step.Drift
		switch {
		case !errors.As(err, &drift):
			if err != nil || c.want != "" {
				t.Errorf("%s: %v", name, err)
			}
		case c.want == "" || !strings.HasPrefix(drift.Before+" -> "+drift.After, c.want):
			t.Errorf("%s: %+v", name, drift)
		}
	}
	gone := evidence.PinDoc{Observed: identity(), Hardware: &before}
	err := Recheck(t.Context(), &pintest.Endpoint{ID: identity(), Under: hardware.Unseen(hardware.MeterFailed, "exit status 1")}, gone)
	if !errors.Is(err, step.ErrOutside) || !strings.Contains(err.Error(), "hardware again: meter-failed (exit status 1)") {
		t.Error(err)
	}
	named := evidence.PinDoc{Observed: identity(), Hardware: &before, Declared: spec.Candidate{Hardware: &spec.Hardware{UUIDs: []string{"GPU-a"}}}}
	var drift *step.Drift
	if err := Recheck(t.Context(), &pintest.Endpoint{ID: identity(), Under: on(h200(), "GPU-b")}, named); !errors.As(err, &drift) || drift.After != "hardware.uuids GPU-b" {
		t.Errorf("%v", err)
	}
}

// Two machines with other hardware are other pins, whatever the endpoint says.
func TestHardwareSeparatesKeys(t *testing.T) {
	h100 := h200()
	h100.GPUs[0].Name = "NVIDIA H100"
	outputs := map[string]bool{}
	for _, seen := range []hardware.Seen{on(h200()), on(h100), hardware.Unseen(hardware.NotLocal, "")} {
		job, err := run(t, candidate(), &pintest.Endpoint{ID: identity(), Under: seen, Probed: llm.TokenProbe{}})
		if err != nil {
			t.Fatal(err)
		}
		outputs[string(job.Output(evidence.OutPin))] = true
		var doc evidence.PinDoc
		if err := json.Unmarshal(job.Output(evidence.OutPin), &doc); err != nil {
			t.Fatal(err)
		}
	}
	if len(outputs) != 3 {
		t.Errorf("%d pins of three machines", len(outputs))
	}
}
