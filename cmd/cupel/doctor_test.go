package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/hardware/host"
)

// machineOf makes a machine of files.
func machineOf(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return host.At(root)
}

// well is a system without a fault.
func well() system {
	return system{
		resolution: func() (time.Duration, error) { return time.Nanosecond, nil },
		synced:     func() (bool, time.Duration, error) { return true, 1234567 * time.Nanosecond, nil },
		files:      func() (uint64, uint64, error) { return 65536, 65536, nil },
		free:       func(string) (uint64, error) { return 40 << 30, nil },
		networkFS:  func(string) (string, error) { return "", nil },
	}
}

const cpu0 = "sys/devices/system/cpu/"

func TestDoctorOnFiles(t *testing.T) {
	for name, c := range map[string]struct {
		look  string
		files map[string]string
		state string
		says  string
	}{
		"no RAPL":        {"rapl", nil, doctorMissing, "no RAPL counters"},
		"RAPL":           {"rapl", map[string]string{"sys/class/powercap/intel-rapl:0/energy_uj": "1", "sys/class/powercap/intel-rapl:0:0/energy_uj": "1"}, doctorOK, "2 RAPL domains can be read"},
		"no governor":    {"governor", nil, doctorMissing, "the host sets it"},
		"performance":    {"governor", map[string]string{cpu0 + "cpu0/cpufreq/scaling_governor": "performance\n", cpu0 + "cpu1/cpufreq/scaling_governor": "performance\n"}, doctorOK, "performance on 2 CPUs"},
		"mixed":          {"governor", map[string]string{cpu0 + "cpu0/cpufreq/scaling_governor": "performance\n", cpu0 + "cpu1/cpufreq/scaling_governor": "powersave\n"}, doctorWarn, "performance on 1 CPUs, powersave on 1 CPUs"},
		"Intel turbo":    {"turbo", map[string]string{cpu0 + "intel_pstate/no_turbo": "0\n"}, doctorWarn, "turbo is on"},
		"no Intel turbo": {"turbo", map[string]string{cpu0 + "intel_pstate/no_turbo": "1\n"}, doctorOK, "turbo is off"},
		"AMD boost":      {"turbo", map[string]string{cpu0 + "cpufreq/boost": "1\n"}, doctorWarn, "turbo is on"},
		"no AMD boost":   {"turbo", map[string]string{cpu0 + "cpufreq/boost": "0\n"}, doctorOK, "turbo is off"},
		"turbo untold":   {"turbo", map[string]string{cpu0 + "cpufreq/boost": "maybe"}, doctorMissing, "not shown"},
		"no quota":       {"cpu-limit", map[string]string{"sys/fs/cgroup/cpu.max": "max 100000\n"}, doctorOK, "no CPU quota"},
		"quota":          {"cpu-limit", map[string]string{"sys/fs/cgroup/cpu.max": "150000 100000\n"}, doctorWarn, "a quota of 1.5 CPUs"},
		"quota above": {"cpu-limit", map[string]string{"proc/self/cgroup": "0::/kube/pod\n", "sys/fs/cgroup/kube/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/kube/pod/cpu.max": "max 100000\n"}, doctorWarn, "a quota of 4 CPUs"},
		"version 1":    {"cpu-limit", map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, doctorWarn, "a quota of 3 CPUs"},
		"no version 1": {"cpu-limit", map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, doctorOK, "no CPU quota"},
		"nonsense":     {"cpu-limit", map[string]string{"proc/self/cgroup": "0::../../x", "sys/fs/cgroup/cpu.max": "0 0"}, doctorOK, "no CPU quota"},
		"TSC":          {"clock", map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n"}, doctorOK, "monotonic clock of 1ns, by tsc"},
		"HPET":         {"clock", map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"}, doctorWarn, "slow to read"},
	} {
		d := &doctor{host: machineOf(t, c.files), system: well()}
		expectLine(t, name, d, c.look, c.state, c.says)
	}
}

func TestDoctorOnSystems(t *testing.T) {
	broken := errors.New("no such call")
	for name, c := range map[string]struct {
		look   string
		change func(*system)
		state  string
		says   string
	}{
		"clock":          {"clock", func(s *system) { s.resolution = func() (time.Duration, error) { return 4 * time.Millisecond, nil } }, doctorWarn, "cannot be timed"},
		"clock untold":   {"clock", func(s *system) { s.resolution = func() (time.Duration, error) { return 0, broken } }, doctorWarn, "not known: no such call"},
		"NTP":            {"ntp", func(*system) {}, doctorOK, "at most 1.235ms off"},
		"no NTP":         {"ntp", func(s *system) { s.synced = func() (bool, time.Duration, error) { return false, 0, nil } }, doctorWarn, "not synchronised"},
		"NTP untold":     {"ntp", func(s *system) { s.synced = func() (bool, time.Duration, error) { return false, 0, broken } }, doctorWarn, "not known"},
		"few files":      {"files", func(s *system) { s.files = func() (uint64, uint64, error) { return 1024, 524288, nil } }, doctorWarn, "1024 open files at most"},
		"files":          {"files", func(*system) {}, doctorOK, "65536 open files"},
		"store":          {"store", func(*system) {}, doctorOK, "40.0 GiB free"},
		"NFS":            {"store", func(s *system) { s.networkFS = func(string) (string, error) { return "NFS", nil } }, doctorWarn, "is on NFS"},
		"full":           {"store", func(s *system) { s.free = func(string) (uint64, error) { return 100 << 20, nil } }, doctorWarn, "0.1 GiB free"},
		"disk untold":    {"store", func(s *system) { s.free = func(string) (uint64, error) { return 0, broken } }, doctorWarn, "free space is not known"},
		"store not seen": {"store", func(s *system) { s.networkFS = func(string) (string, error) { return "", broken } }, doctorWarn, "no such call"},
	} {
		d := &doctor{host: machineOf(t, nil), system: well(), store: "here"}
		c.change(&d.system)
		expectLine(t, name, d, c.look, c.state, c.says)
	}
}

func TestDoctorOnMeters(t *testing.T) {
	gpu := func(change func(*hardware.GPU)) *hardware.Report {
		g := hardware.GPU{Name: new("NVIDIA H200"), UUID: new("GPU-0000000a"), Persistence: new(true), Unknown: hardware.Unknown{}}
		change(&g)
		return &hardware.Report{Meter: "1.2", Driver: new("570"), GPUs: []hardware.GPU{g}}
	}
	for name, c := range map[string]struct {
		meter meterFinding
		look  string
		state string
		says  string
	}{
		"none":          {meterFinding{err: &meterError{hardware.NoMeter, ""}}, "meter", doctorMissing, "there is no cupel-meter next to cupel"},
		"none, no GPU":  {meterFinding{err: &meterError{hardware.NoMeter, ""}}, "gpu", doctorMissing, "not known without the meter"},
		"failed":        {meterFinding{err: &meterError{hardware.MeterFailed, "exit status 1"}}, "meter", doctorWarn, "cupel-meter: exit status 1"},
		"works":         {meterFinding{path: "/x", report: gpu(func(*hardware.GPU) {})}, "meter", doctorOK, "cupel-meter 1.2 at /x"},
		"GPU":           {meterFinding{report: gpu(func(*hardware.GPU) {})}, "gpu", doctorOK, "0: NVIDIA H200, GPU-0000000a, driver 570"},
		"busy":          {meterFinding{report: gpu(func(g *hardware.GPU) { g.Processes = []hardware.Process{{PID: 7, Name: new("vllm")}, {PID: 8}} })}, "gpu", doctorWarn, "7 vllm, 8 ?"},
		"sleepy":        {meterFinding{report: gpu(func(g *hardware.GPU) { g.Persistence = new(false) })}, "gpu", doctorWarn, "persistence mode is off"},
		"lost":          {meterFinding{report: gpu(func(g *hardware.GPU) { g.Name = nil; g.Unknown["name"] = hardware.Reason{Code: hardware.GPULost} })}, "gpu", doctorWarn, "gpu-lost"},
		"no GPU":        {meterFinding{report: &hardware.Report{GPUs: []hardware.GPU{}}}, "gpu", doctorMissing, "and no GPU"},
		"other version": {meterFinding{report: &hardware.Report{Unknown: hardware.Unknown{"gpus": {Code: hardware.DriverMismatch, Detail: "NVML 18"}}}}, "gpu", doctorMissing, "a reboot is due: driver-mismatch (NVML 18)"},
	} {
		expectLine(t, name, &doctor{host: machineOf(t, nil), system: well(), meter: c.meter}, c.look, c.state, c.says)
	}
}

func expectLine(t *testing.T, name string, d *doctor, look, state, says string) {
	t.Helper()
	for _, c := range doctorChecks {
		if c.name != look {
			continue
		}
		got := c.look(t.Context(), d)
		if len(got) != 1 || got[0].State != state || !strings.Contains(got[0].Says, says) {
			t.Errorf("%s: %+v, want %s: %s", name, got, state, says)
		}
		return
	}
	t.Errorf("%s: no check %s", name, look)
}

func TestDoctorPlaces(t *testing.T) {
	d := &doctor{ports: []int{8000, 8080}, bindings: map[string]spec.Binding{
		"b": {URL: "http://127.0.0.1:8000/v1", Replicas: []string{"http://127.0.0.1:8001/v1"}}, "a": {URL: "embedded:tiny-f16"},
	}}
	var got []string
	for _, p := range d.places() {
		got = append(got, p.of+" "+p.url)
	}
	if s := strings.Join(got, ", "); s != "b http://127.0.0.1:8000/v1, b http://127.0.0.1:8001/v1,  http://127.0.0.1:8080" {
		t.Error(s)
	}
}

func TestLoopbackURL(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8000/v1": true, "http://127.3.2.1": true, "http://[::1]:8000": true, "http://localhost:11434": true,
		"http://10.0.0.1": false, "https://example.org/v1": false, "http://localhost.example.org": false, "http://[fe80::1]": false, "embedded:x": false, "://": false,
	} {
		if loopbackURL(url) != want {
			t.Errorf("%s: %v", url, !want)
		}
	}
}

func TestAged(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "", -time.Hour: "", 29 * 24 * time.Hour: "", 31 * 24 * time.Hour: "31 days old", -72 * time.Hour: "3 days from now"} {
		got := strings.Join(aged("host.json", age), "")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", age, got)
		}
	}
}

// A meter that hangs, floods or cannot be a meter costs its time and no more.
func TestIdentifyWith(t *testing.T) {
	script := func(text string) string {
		at := filepath.Join(t.TempDir(), "cupel-meter")
		if err := os.WriteFile(at, []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		return at
	}
	for text, want := range map[string]string{
		"exec sleep 600":              "no answer within",
		"echo no >&2; echo x; exit 3": "exit status 3: no",
		"true":                        "it is empty",
		"echo hello":                  "no hardware report",
		"head -c 20000000 /dev/zero":  "no hardware report",
		`echo '{"schema":"cupel/x"}'`: `schema is "cupel/x"`,
	} {
		patience := 20 * time.Second
		if strings.Contains(text, "sleep") {
			patience = 20 * time.Millisecond
		}
		_, err := identifyWith(t.Context(), script(text), patience)
		var failed *meterError
		if !errors.As(err, &failed) || failed.code != hardware.MeterFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
