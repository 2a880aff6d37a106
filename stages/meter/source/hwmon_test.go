package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/trace"
)

// card is a hwmon folder of a GPU at a PCI address.
func card(files map[string]string, hwmon, driver, pci, device string, more map[string]string) {
	dir := hwmonClass + "/" + hwmon
	files[dir+"/name"] = driver + "\n"
	files["sys/devices/"+pci+"/vendor"], files["sys/devices/"+pci+"/device"] = "0x1002\n", device+"\n"
	files[dir+"/device"] = "->../../../devices/" + pci
	for name, content := range more {
		files[dir+"/"+name] = content
	}
}

func TestAMDGPUs(t *testing.T) {
	f := map[string]string{}
	radeon := map[string]string{"power1_average": "35000000\n", "power1_label": "PPT\n", "power1_cap": "220000000\n", "temp1_input": "40000\n", "temp1_label": "edge\n", "temp2_input": "44000\n", "temp2_label": "junction\n", "in0_input": "1000\n"}
	card(f, "hwmon5", "amdgpu", "0000:0a:00.0", "0x744c", radeon)
	card(f, "hwmon2", "amdgpu", "0000:03:00.0", "0x74a1", map[string]string{"power1_input": "140000000\n", "power1_label": "PPT\n", "temp1_input": "38000\n"})
	f[hwmonClass+"/hwmon0/name"], f[hwmonClass+"/hwmon0/temp1_input"] = "coretemp\n", "50000\n"
	root := plant(t, f)
	s, missing := Hwmon(root)
	if s == nil || missing != nil {
		t.Fatal(missing)
	}
	defer s.Close()
	d := s.Describe()
	wantDevices := []trace.Device{
		{ID: "0000:03:00.0", Kind: trace.GPU, Name: "amdgpu 0x1002:0x74a1", Architecture: "amdgpu"},
		{ID: "0000:0a:00.0", Kind: trace.GPU, Name: "amdgpu 0x1002:0x744c", Architecture: "amdgpu", Index: 1},
	}
	if diff := cmp.Diff(wantDevices, d.Devices); diff != "" {
		t.Error(diff)
	}
	want := []trace.Channel{
		{Device: "0000:03:00.0", Domain: trace.HwmonGPU, Quantity: trace.Power, Unit: "uW", Source: "amdgpu/power1_input (PPT)"},
		{Device: "0000:03:00.0", Domain: trace.HwmonGPU, Quantity: trace.Temperature, Unit: "mC", Source: "amdgpu/temp1_input"},
		{Device: "0000:0a:00.0", Domain: trace.HwmonGPU, Quantity: trace.PowerAverage, Unit: "uW", Source: "amdgpu/power1_average (PPT)"},
		{Device: "0000:0a:00.0", Domain: trace.HwmonGPU, Quantity: trace.Temperature, Unit: "mC", Source: "amdgpu/temp2_input (junction)"},
	}
	if diff := cmp.Diff(want, d.Channels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]one{0: {V: 140000000}, 1: {V: 38000}, 2: {V: 35000000}, 3: {V: 44000}}, look(s)); diff != "" {
		t.Error(diff)
	}
	states := s.States()
	if len(states) != 2 || states[0].LimitMW != nil || states[1].LimitMW == nil || *states[1].LimitMW != 220000 {
		t.Errorf("%+v", states)
	}
	// A sensor that says 0 W of a GPU that answers has nothing to say.
	set(t, root, hwmonClass+"/hwmon2/power1_input", "0\n")
	if got := look(s)[0]; got != (one{E: "implausible"}) {
		t.Error(got)
	}
}

// Both dies of a card are GPUs to the system; the first one's sensor is the card's.
func TestTwoDies(t *testing.T) {
	f := map[string]string{}
	card(f, "hwmon0", "amdgpu", "0000:c1:00.0", "0x7408", map[string]string{"power1_average": "237000000", "temp2_input": "51000", "temp2_label": "junction"})
	card(f, "hwmon1", "amdgpu", "0000:c6:00.0", "0x7408", map[string]string{"power1_average": "0", "temp2_input": "50000", "temp2_label": "junction"})
	card(f, "hwmon2", "amdgpu", "0000:c9:00.0", "0x740c", map[string]string{"temp2_input": "50000"}) // a kernel that hides it
	s, _ := Hwmon(plant(t, f))
	defer s.Close()
	d := s.Describe()
	if len(d.Devices) != 1 || d.Devices[0].ID != "0000:c1:00.0" || !strings.Contains(d.Devices[0].Name, "whole card of two dies") {
		t.Errorf("%+v", d.Devices)
	}
	if got := reasons(d.Missing); got["0000:c6:00.0 "] != "not-applicable" || got["0000:c9:00.0 "] != "not-applicable" {
		t.Errorf("%v", got)
	}
	// MI210 has one die: 0 W there is a fault, not the other half of a card.
	f = map[string]string{}
	card(f, "hwmon0", "amdgpu", "0000:c1:00.0", "0x740f", map[string]string{"power1_average": "0"})
	s, _ = Hwmon(plant(t, f))
	defer s.Close()
	if got := look(s)[0]; got != (one{E: "implausible"}) {
		t.Error(got)
	}
}

// Intel's xe counts the card and, within it, the chip; parts of an i915 card are not
// cards.
func TestIntelGPUs(t *testing.T) {
	f := map[string]string{}
	card(f, "hwmon7", "xe", "0000:03:00.0", "0xe223", map[string]string{"energy1_input": "22000000", "energy1_label": "pkg", "energy2_input": "33000000", "energy2_label": "card", "power1_cap": "275000000"})
	card(f, "hwmon8", "i915", "0000:04:00.0", "0x56a1", map[string]string{"energy1_input": "44"})
	card(f, "hwmon9", "i915_gt0", "0000:04:00.0", "0x56a1", map[string]string{"energy1_input": "40"})
	s, _ := Hwmon(plant(t, f))
	defer s.Close()
	want := map[string]int{"0000:03:00.0 hwmon.gpu energy": 0, "0000:04:00.0 hwmon.gpu energy": 1}
	if diff := cmp.Diff(want, named(s)); diff != "" {
		t.Error(diff)
	}
	if got := look(s); got[0].V != 33000000 || got[1].V != 44 {
		t.Error(got)
	}
	if got := s.Describe().Channels[0].Source; got != "xe/energy2_input (card)" {
		t.Error(got)
	}
}

func TestBoardMeter(t *testing.T) {
	f := map[string]string{}
	for hwmon, name := range map[string]string{"hwmon1": "ACPI000D:00", "hwmon2": "ACPI000D:01"} {
		dir := hwmonClass + "/" + hwmon
		f[dir+"/name"], f[dir+"/power1_average"], f[dir+"/power1_oem_info"] = "power_meter", "512000000", "Module Power Socket 0"
		f[dir+"/device"] = "->../../../devices/" + name
		f["sys/devices/"+name+"/hid"] = "ACPI000D"
	}
	s, _ := Hwmon(plant(t, f))
	defer s.Close()
	d := s.Describe()
	if len(d.Devices) != 2 || d.Devices[1].ID != "power-meter-ACPI000D:01" || d.Devices[0].Name != "Module Power Socket 0" || d.Devices[0].Kind != trace.Machine {
		t.Errorf("%+v", d.Devices)
	}
	for _, c := range d.Channels {
		if c.Domain != trace.HwmonBoard || c.Quantity != trace.PowerAverage {
			t.Errorf("a board is no GPU and no wall: %+v", c)
		}
	}
}

func TestNoHwmon(t *testing.T) {
	f := map[string]string{}
	if s, missing := Hwmon(plant(t, f)); s != nil || reasons(missing)[" hwmon.gpu"] != "no-gpu" {
		t.Error(missing)
	}
	card(f, "hwmon3", "amdgpu", "0000:03:00.0", "0x1", map[string]string{"fan1_input": "0"})
	if s, missing := Hwmon(plant(t, f)); s != nil || reasons(missing)["0000:03:00.0 hwmon.gpu"] != "not-supported" {
		t.Error(missing)
	}
	card(f, "hwmon3", "amdgpu", "0000:03:00.0", "0x1", map[string]string{"power1_input": "many"})
	if s, missing := Hwmon(plant(t, f)); s != nil || reasons(missing)["0000:03:00.0 hwmon.gpu"] != "implausible" {
		t.Error(missing)
	}
	f = map[string]string{hwmonClass + "/hwmon1/name": "amdgpu", hwmonClass + "/hwmon1/power1_input": "5"}
	if s, missing := Hwmon(plant(t, f)); s != nil || len(missing) != 1 || missing[0].Reason != "implausible" {
		t.Error("a GPU that is no device", missing)
	}
}

// Temperatures may be below zero; counters may not.
func TestColdGPU(t *testing.T) {
	f := map[string]string{}
	card(f, "hwmon3", "amdgpu", "0000:03:00.0", "0x1", map[string]string{"power1_input": "5000000", "temp1_input": "-3000"})
	s, missing := Hwmon(plant(t, f))
	if s == nil {
		t.Fatal(missing)
	}
	defer s.Close()
	if got := look(s)[1]; got != (one{V: -3000}) {
		t.Error(got)
	}
}
