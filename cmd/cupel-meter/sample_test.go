package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// program is the real cupel-meter with FAKE_ variables, and nothing but NVML to read.
func program(t *testing.T, env string, args ...string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	c = exec.Command(tools(t).meter, append(args, "--rapl", "off", "--hwmon", "off")...)
	c.Env = append(os.Environ(), strings.Fields(env)...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	c.Stdout, c.Stderr = stdout, stderr
	return c, stdout, stderr
}

// exited runs it, or waits for it, and returns its exit code.
func exited(t *testing.T, c *exec.Cmd, run func() error) int {
	t.Helper()
	if err := run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// sampled runs cupel-meter sample and reads the trace.
func sampled(t *testing.T, library, env string, args ...string) (tr *trace.Trace, code int, words string) {
	t.Helper()
	c, stdout, stderr := program(t, env, append([]string{"sample", "--nvml-library", library}, args...)...)
	code = exited(t, c, c.Run)
	tr, err := trace.Read(stdout)
	if err != nil {
		t.Fatalf("%v: exit %d, stderr %s", err, code, stderr)
	}
	return tr, code, stderr.String()
}

// channel finds a channel by its source.
func channel(t *testing.T, tr *trace.Trace, device int, source string) int {
	t.Helper()
	i := slices.IndexFunc(tr.Channels, func(c trace.Channel) bool {
		return c.Device == tr.Devices[device].ID && c.Source == source
	})
	if i < 0 {
		t.Fatalf("no %s of GPU %d in %+v", source, device, tr.Channels)
	}
	return i
}

// integral is the square wave of fakenvml.c in closed form: microjoules from 0 to ms.
func integral(idle, busy, wave, ms int64) int64 {
	half, rest := wave/2, ms%wave
	sum := ms / wave * (half*busy + (wave-half)*idle)
	if rest < half {
		return sum + rest*busy
	}
	return sum + half*busy + (rest-half)*idle
}

// Every value of a counter is one that the library had published when it was asked,
// and between two steps a whole number of waves apart lie exactly their joules.
func TestJoules(t *testing.T) {
	const idle, busy, wave, publish = 75_000, 450_000, 200, 20
	tr, code, stderr := sampled(t, tools(t).normal, "FAKE_CLOCK=real FAKE_WAVE_MS=200 FAKE_PUBLISH_MS=20 FAKE_STEP_MW=10000", "--hz", "100", "--for", "700ms")
	if code != 0 || stderr != "" || tr.End == nil || tr.End.Why != "duration" || len(tr.Devices) != 2 {
		t.Fatalf("exit %d, %s%+v", code, stderr, tr.End)
	}
	for gpu := range 2 {
		more := int64(10_000 * gpu)
		at := map[int64]int64{} // step -> its value, mJ
		before := tr.WallNS/1e6/publish - 1
		for _, s := range tr.Samples[channel(t, tr, gpu, "nvmlDeviceGetTotalEnergyConsumption")] {
			last := (tr.WallNS + s.T) / 1e6 / publish
			found := false
			for step := before; step <= last+1; step++ { // one more: the wall clock may be slewed
				if integral(idle+more, busy+more, wave, step*publish)/1000 == s.V {
					at[step], found = s.V, true
				}
			}
			if !found {
				t.Fatalf("GPU %d: %d mJ at %d ns was never published", gpu, s.V, s.T)
			}
			before = last - 1
		}
		waves := 0
		for step, v := range at {
			if w, ok := at[step+wave/publish]; ok {
				waves++
				if w-v != wave*(idle+busy+2*more)/2/1000 {
					t.Errorf("GPU %d: a wave of %d mJ", gpu, w-v)
				}
			}
		}
		if waves == 0 {
			t.Errorf("GPU %d: no whole wave in %d steps", gpu, len(at))
		}
	}
}

// What is read of a GPU depends on its kind, its driver, and what answers.
func TestChannels(t *testing.T) {
	b := tools(t)
	const fields = "power field 186|power-average field 185|"
	const times = "power-cap-time field 74|thermal-time field 269|thermal-time field 270|brake-time field 271|"
	const rest = times + "temperature nvmlDeviceGetTemperature"
	const total = "energy nvmlDeviceGetTotalEnergyConsumption|"
	for name, c := range map[string]struct{ library, env, channels, missing string }{
		"normal":        {b.normal, "", total + fields + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"with memory":   {b.normal, "FAKE_SCOPES=memory", total + fields + "nvml.memory power field 186 scope 2|nvml.memory power-average field 185 scope 2|nvml.memory energy field 191 scope 2|" + rest, "nvml.module field 186 scope 1 not-supported"},
		"no function":   {b.noEnergy, "", "energy field 191|" + fields + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"only field 83": {b.noEnergy, "FAKE_FIELDS=191:2", "energy field 83|" + fields + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"no counter":    {b.normal, "FAKE_FAIL=energy:3 FAKE_FIELDS=191:3,83:3", fields + rest, "nvml.gpu nvmlDeviceGetTotalEnergyConsumption not-supported|nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"forbidden":     {b.normal, "FAKE_FIELDS=269:4,74:999", total + fields + "thermal-time field 270|brake-time field 271|temperature nvmlDeviceGetTemperature", "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported|nvml.gpu field 74 nvml-error|nvml.gpu field 269 no-permission"},
		"one by one":    {b.normal, "FAKE_ONE_BY_ONE=1 FAKE_FIELDS=269:2,270:2,271:2", total + fields + "power-cap-time field 74|temperature nvmlDeviceGetTemperature", "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported|nvml.gpu field 269 not-supported|nvml.gpu field 270 not-supported|nvml.gpu field 271 not-supported"},
		"untouched":     {b.normal, "FAKE_SKIP=185", total + "power field 186|" + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"absurd":        {b.normal, "FAKE_TEMP=4294967295", total + fields + strings.TrimSuffix(times, "|"), "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported|nvml.gpu nvmlDeviceGetTemperature implausible"},

		// nvmlDeviceGetPowerUsage is the power now on old GPUs and GA100 alone.
		"hopper": {b.noFields, "", total + "power-average nvmlDeviceGetPowerUsage|temperature nvmlDeviceGetTemperature", "nvml.gpu field 186 missing-symbol|nvml.module field 186 scope 1 missing-symbol|nvml.memory field 186 scope 2 missing-symbol|nvml.gpu field 74 missing-symbol|nvml.gpu field 269 missing-symbol|nvml.gpu field 270 missing-symbol|nvml.gpu field 271 missing-symbol"},
		"GA100":  {b.normal, "FAKE_ARCH=7 FAKE_CC=8.0 FAKE_FIELDS=186:3,185:3", total + "power nvmlDeviceGetPowerUsage|" + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"GA102":  {b.normal, "FAKE_ARCH=7 FAKE_CC=8.6 FAKE_FIELDS=186:3,185:3", total + "power-average nvmlDeviceGetPowerUsage|" + rest, "nvml.gpu field 186 not-supported|nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"volta":  {b.normal, "FAKE_ARCH=5 FAKE_CC=7.0 FAKE_FIELDS=186:2,185:2", total + "power nvmlDeviceGetPowerUsage|" + rest, "nvml.module field 186 scope 1 not-supported|nvml.memory field 186 scope 2 not-supported"},
		"old":    {b.old, "", "power-average nvmlDeviceGetPowerUsage|temperature nvmlDeviceGetTemperature", "nvml.gpu nvmlDeviceGetTotalEnergyConsumption missing-symbol|nvml.gpu field 186 missing-symbol|nvml.module field 186 scope 1 missing-symbol|nvml.memory field 186 scope 2 missing-symbol|nvml.gpu field 74 missing-symbol|nvml.gpu field 269 missing-symbol|nvml.gpu field 270 missing-symbol|nvml.gpu field 271 missing-symbol"},

		// A counter of a whole module is never called the GPU's.
		"GH200":         {b.normal, "FAKE_NAME=GH200 FAKE_FIELDS=186:3,185:3", "nvml.module " + total + rest, "nvml.gpu nvmlDeviceGetTotalEnergyConsumption not-supported|nvml.gpu field 186 not-supported|nvml.gpu nvmlDeviceGetPowerUsage not-applicable|nvml.memory field 186 scope 2 not-supported"},
		"GH200, scoped": {b.normal, "FAKE_NAME=GH200 FAKE_SCOPES=module", "nvml.module energy field 191 scope 1|" + fields + "nvml.module power field 186 scope 1|nvml.module power-average field 185 scope 1|" + rest, "nvml.gpu nvmlDeviceGetTotalEnergyConsumption not-supported|nvml.memory field 186 scope 2 not-supported"},
		"GH200, apart":  {b.normal, "FAKE_NAME=GH200 FAKE_SCOPES=module,apart", "nvml.module energy field 191 scope 1|energy field 191|" + fields + "nvml.module power field 186 scope 1|nvml.module power-average field 185 scope 1|" + rest, "nvml.memory field 186 scope 2 not-supported"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, code, stderr := sampled(t, c.library, "FAKE_COUNT=1 "+c.env, "--for", "1ms")
			if code != 0 || stderr != "" || tr.None != nil {
				t.Fatalf("exit %d, stderr %s, none %+v", code, stderr, tr.None)
			}
			var channels, missing []string
			for i, of := range tr.Channels {
				channels = append(channels, strings.TrimPrefix(fmt.Sprintf("%s %s %s", of.Domain, of.Quantity, of.Source), "nvml.gpu "))
				if len(tr.Samples[i]) < 2 || slices.ContainsFunc(tr.Samples[i], func(s trace.Sample) bool { return s.E != "" }) {
					t.Errorf("%s: %+v", of.Source, tr.Samples[i])
				}
			}
			for _, m := range tr.Missing {
				missing = append(missing, fmt.Sprintf("%s %s %s", m.Domain, m.What, m.Reason))
			}
			if d := cmp.Diff(strings.Split(c.channels, "|"), channels); d != "" {
				t.Error("channels (-want +got):", d)
			}
			if d := cmp.Diff(strings.Split(c.missing, "|"), missing); d != "" {
				t.Error("missing (-want +got):", d)
			}
		})
	}
}

// Counters that stand still, begin again or fall are recorded as they are.
func TestOddCounters(t *testing.T) {
	for env, want := range map[string]func([]int64) bool{
		"FAKE_ENERGY=frozen": func(v []int64) bool { return slices.Min(v) == 123456789 && slices.Max(v) == 123456789 },
		"FAKE_ENERGY=reset:500": func(v []int64) bool {
			i := slices.IndexFunc(v, func(x int64) bool { return x < v[0] })
			return i > 0 && v[i] < 450_000 && slices.IsSorted(v[:i]) && slices.IsSorted(v[i:])
		},
		"FAKE_ENERGY=backwards:500": func(v []int64) bool {
			for i := 1; i < len(v); i++ {
				if v[i] < v[i-1] {
					return (v[i]-v[i-1]+50_000)%9000 == 0 // 450 W for 20 ms are a step of 9 J
				}
			}
			return false
		},
	} {
		tr, code, _ := sampled(t, tools(t).normal, "FAKE_COUNT=1 FAKE_PUBLISH_MS=20 "+env, "--hz", "100", "--for", "700ms")
		var v []int64
		for _, s := range tr.Samples[0] {
			v = append(v, s.V)
		}
		if code != 0 || !want(v) {
			t.Errorf("%s: exit %d, %v", env, code, v)
		}
	}
}

// The counters of slowdowns are nanoseconds, each with its quantity.
func TestThrottle(t *testing.T) {
	tr, _, _ := sampled(t, tools(t).normal, "FAKE_COUNT=1 FAKE_SW_THERMAL=30 FAKE_HW_THERMAL=20 FAKE_BRAKE=10 FAKE_CAP=50", "--hz", "100", "--for", "100ms")
	for source, percent := range map[string]int64{"field 269": 30, "field 270": 20, "field 271": 10, "field 74": 50} {
		s := tr.Samples[channel(t, tr, 0, source)]
		n := len(s) - 1
		held := 100 * (s[n].V - s[0].V) / percent
		// It was read after the look before had been stamped, and before it was stamped itself.
		if least, most := s[n-1].T-s[0].T-1e6, s[n].T+1e6; held < least || held > most {
			t.Errorf("%s: %d ns of %d to %d", source, held, least, most)
		}
	}
}

// One GPU that is lost in the middle is samples with a reason; the other goes on.
func TestLostInTheMiddle(t *testing.T) {
	tr, code, stderr := sampled(t, tools(t).normal, "FAKE_DROP=0:500", "--hz", "100", "--for", "700ms")
	if code != 0 || stderr != "" || tr.End == nil {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for i, c := range tr.Channels {
		s := tr.Samples[i]
		first := slices.IndexFunc(s, func(x trace.Sample) bool { return x.E != "" })
		switch lost := c.Device == tr.Devices[0].ID; {
		case lost && (first < 1 || slices.ContainsFunc(s[first:], func(x trace.Sample) bool { return x.E != hardware.GPULost })):
			t.Errorf("%s: %+v", c.Source, s)
		case !lost && first >= 0:
			t.Errorf("%s of the other: %+v", c.Source, s[first])
		}
	}
	last := tr.States[len(tr.States)-2].V // of GPU 0 at the end
	if last.LimitMW != nil || !slices.Contains(last.Unknown, trace.Unread{Field: "limit_mw", Reason: hardware.GPULost}) {
		t.Errorf("%+v", last)
	}
}

// States: partition, processes that come, another limit.
func TestStates(t *testing.T) {
	tr, _, _ := sampled(t, tools(t).normal, "FAKE_COUNT=1 FAKE_MIG=1 FAKE_PIDS=9,7 FAKE_PIDS_AFTER_MS=500 FAKE_POWER_AFTER=500000:500", "--for", "700ms")
	none, two, on, before, after := 0, 2, true, int64(700_000), int64(500_000)
	id := tr.Devices[0].ID
	want := []trace.State{
		{Device: id, Processes: &none, MIG: &on, LimitMW: &before, Driver: "570.86.10"},
		{Device: id, Processes: &two, PIDs: []int{7, 9}, MIG: &on, LimitMW: &after, Driver: "570.86.10"},
	}
	var got []trace.State
	for _, s := range tr.States {
		got = append(got, s.V)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	tr, _, _ = sampled(t, tools(t).old, "FAKE_COUNT=1 FAKE_DRIVER=", "--for", "1ms")
	unread := []trace.Unread{{Field: "processes", Reason: "missing-symbol"}, {Field: "mig", Reason: "missing-symbol"}, {Field: "driver", Reason: "implausible"}}
	if d := cmp.Diff(unread, tr.States[0].V.Unknown); d != "" || tr.States[0].V.Processes != nil {
		t.Error(d)
	}
}

// GPUs by UUID and index; one that is named and not there is an error.
func TestSelect(t *testing.T) {
	b := tools(t)
	const one, three = "GPU-00000000-0000-0000-0000-000000000001", "GPU-00000000-0000-0000-0000-000000000003"
	for args, want := range map[string]string{
		"":                            one + " GPU-00000000-0000-0000-0000-000000000002 " + three,
		"--gpu 2":                     three,
		"--gpu " + three + " --gpu 0": one + " " + three,
		"--gpu 0 --gpu " + one:        one,
	} {
		tr, code, _ := sampled(t, b.normal, "FAKE_COUNT=3", append(strings.Fields(args), "--for", "1ms")...)
		var got []string
		for _, d := range tr.Devices {
			got = append(got, d.ID)
		}
		if code != 0 || strings.Join(got, " ") != want {
			t.Errorf("%q: exit %d, %s", args, code, got)
		}
	}
	tr, code, _ := sampled(t, b.normal, "FAKE_COUNT=3 FAKE_MIG=1", "--gpu", "MIG-00000000-0000-0000-0003-000000000001", "--for", "1ms")
	if code != 0 || len(tr.Devices) != 1 || tr.Devices[0].ID != three || !*tr.States[0].V.MIG {
		t.Errorf("an instance: exit %d, %+v", code, tr.Devices)
	}
	for args, want := range map[string]struct {
		env   string
		code  int
		words string
	}{
		"--gpu 3":     {"", 4, "--gpu 3: there is no such GPU"},
		"--gpu MIG-1": {"FAKE_MIG=1", 4, "--gpu MIG-1: there is no such GPU"},
		"--gpu 0":     {"FAKE_LOST=0", 4, "--gpu gpu-0 cannot be read: gpu-lost (NVML 15): the GPU has fallen off the bus"},
		"--gpu 1":     {"FAKE_FAIL=init:9", 4, "--gpu 1 cannot be read: driver-not-loaded"},
		"--gpu=":      {"", 2, "--gpu is empty"},
	} {
		c, stdout, stderr := program(t, "FAKE_COUNT=3 "+want.env, append([]string{"sample", "--for", "1ms", "--nvml-library", b.normal}, strings.Fields(args)...)...)
		if code := exited(t, c, c.Run); code != want.code || stdout.Len() > 0 || !strings.Contains(stderr.String(), want.words) {
			t.Errorf("%q: exit %d, %s, %s", args, code, stderr, stdout)
		}
	}
}

// Where nothing can be read, the trace says why; what was demanded is an error, and
// leaves no file.
func TestNothing(t *testing.T) {
	b := tools(t)
	for name, c := range map[string]struct{ library, env, reason string }{
		"no library":    {"libno-such-nvml.so.1", "", hardware.NoNVML},
		"not NVML":      {b.bare, "", hardware.NotNVML},
		"no driver":     {b.normal, "FAKE_FAIL=init:9", hardware.DriverMissing},
		"no GPU":        {b.normal, "FAKE_COUNT=0", hardware.NoGPU},
		"too many":      {b.normal, "FAKE_COUNT=4294967295", hardware.Implausible},
		"cannot count":  {b.normal, "FAKE_FAIL=count:999", hardware.NVMLError},
		"hangs":         {b.normal, "FAKE_HANG=init", hardware.Timeout},
		"all lost":      {b.normal, "FAKE_FAIL=handle:15", hardware.GPULost},
		"no counters":   {b.normal, "FAKE_FAIL=energy:3,fields:3,power-usage:3", hardware.NotSupported},
		"not looked at": {"off", "", hardware.NotReadable},
	} {
		t.Run(name, func(t *testing.T) {
			tr, code, stderr := sampled(t, c.library, c.env, "--timeout", "200ms")
			if code != 0 || stderr != "" || tr.None == nil || tr.None.Reason != c.reason || tr.End != nil || len(tr.Channels) > 0 {
				t.Errorf("exit %d, %s%+v", code, stderr, tr.Header)
			}
			for _, demand := range []string{"--require-gpu", "--require=nvml.gpu"} {
				if name == "no counters" && demand == "--require-gpu" {
					continue // there is one
				}
				out := filepath.Join(t.TempDir(), "t")
				cmd, _, words := program(t, c.env, "sample", "--nvml-library", c.library, "--timeout", "200ms", "--out", out, demand)
				if code := exited(t, cmd, cmd.Run); code != 4 || !strings.Contains(words.String(), "required") || name != "not looked at" && !strings.Contains(words.String(), c.reason) {
					t.Errorf("%s: exit %d, %s", demand, code, words)
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("%s left a file", demand)
				}
			}
		})
	}
}

// --out makes a new file, and what is there is left alone unless that is said.
func TestOut(t *testing.T) {
	b := tools(t)
	out := filepath.Join(t.TempDir(), "energy.trace.jsonl")
	for i, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--out", out}, 0, ""},
		{[]string{"--out", out}, 2, "there is such a file"},
		{[]string{"--out", out, "--force"}, 0, ""},
		{[]string{"--out", filepath.Join(out, "x")}, 4, "not a directory"},
		{[]string{"--out", "/dev/full", "--force"}, 4, "writing the trace: "},
	} {
		before, _ := os.ReadFile(out)
		cmd, stdout, stderr := program(t, "", append([]string{"sample", "--nvml-library", b.normal, "--for", "1ms"}, c.args...)...)
		if code := exited(t, cmd, cmd.Run); code != c.code || !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
			t.Errorf("%d: exit %d, %s%s", i, code, stderr, stdout)
		}
		after, err := os.ReadFile(out)
		if changed := !bytes.Equal(before, after); err != nil || changed != (c.code == 0) {
			t.Errorf("%d: %v, the file changed: %v", i, err, changed)
		}
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if tr, err := trace.Read(f); err != nil || tr.End == nil {
		t.Errorf("%v %+v", err, tr)
	}
}

// started runs cupel-meter sample until its first sample can be read.
func started(t *testing.T, args ...string) (c *exec.Cmd, stdin io.WriteCloser, stdout *bufio.Reader, head string, stderr *bytes.Buffer) {
	t.Helper()
	c, _, stderr = program(t, "FAKE_COUNT=1", append([]string{"sample", "--nvml-library", tools(t).normal}, args...)...)
	c.Stdout = nil
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	stdout = bufio.NewReader(out)
	for !strings.Contains(head, `,"c":0,"v":`) {
		line, err := stdout.ReadString('\n')
		if head += line; err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
	}
	return c, stdin, stdout, head, stderr
}

// The end of the input, and signals, end a recording properly.
func TestEnds(t *testing.T) {
	tr, code, _ := sampled(t, tools(t).normal, "", "--until-eof", "--for", "1h") // of an input that is at its end
	if code != 0 || tr.End == nil || tr.End.Why != "input-ended" {
		t.Errorf("exit %d, %+v", code, tr.End)
	}
	for name, c := range map[string]struct {
		args []string
		end  func(*exec.Cmd, io.Closer) error
		why  string
	}{
		"input":   {[]string{"--until-eof"}, func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() }, "input-ended"},
		"SIGTERM": {[]string{"--until-eof"}, func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGTERM) }, "asked"},
		"SIGINT":  {nil, func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(os.Interrupt) }, "asked"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stdin, stdout, head, stderr := started(t, c.args...)
			if err := c.end(cmd, stdin); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			code := exited(t, cmd, cmd.Wait)
			tr, err := trace.Read(strings.NewReader(head + string(rest)))
			if err != nil || code != 0 || stderr.Len() > 0 || tr.End == nil || tr.End.Why != c.why {
				t.Errorf("%v, exit %d, %s%+v", err, code, stderr, tr)
			}
		})
	}
}

// A killed meter leaves whole lines, and no end.
func TestKilled(t *testing.T) {
	cmd, _, stdout, head, _ := started(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	_ = cmd.Wait()
	if tr, err := trace.Read(strings.NewReader(head + string(rest))); err != nil || tr.End != nil || len(tr.Samples[0]) == 0 {
		t.Errorf("%v %+v", err, tr)
	}
}

// Who reads along and goes away ends the recording with an error.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c, _, stderr := program(t, "FAKE_COUNT=1", "sample", "--nvml-library", tools(t).normal)
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if code := exited(t, c, c.Wait); code != 4 || !strings.Contains(stderr.String(), "writing the trace: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// A driver that hangs in the middle leaves a trace that was cut, and an error.
func TestStall(t *testing.T) {
	c, stdout, stderr := program(t, "FAKE_COUNT=1 FAKE_STALL_MS=1", "sample", "--nvml-library", tools(t).normal, "--for", "100ms", "--timeout", "1s")
	code := exited(t, c, c.Run)
	tr, err := trace.Read(stdout)
	if code != 4 || err != nil || tr.End != nil || !strings.Contains(stderr.String(), "the recording did not end within 1s") {
		t.Errorf("exit %d, %v, %s", code, err, stderr)
	}
}

// What the flags cannot mean.
func TestSampleUsage(t *testing.T) {
	for args, want := range map[string]string{
		"sample --hz 0":                         "--hz 0, want 1 to 200",
		"sample --hz NaN":                       "--hz NaN, want 1 to 200",
		"sample --hz 201":                       "--hz 201, want 1 to 200",
		"sample --for -1s":                      "--for -1s, want a time above zero",
		"sample --until-eof --wall -":           "both want standard input",
		"sample --require nvml.cpu":             `--require "nvml.cpu", want one of nvml.gpu, nvml.module,`,
		"sample --timeout 0s":                   "--timeout 0s, want a time above zero",
		"sample --gpu 0 --nvml-library off":     "no GPU is read then",
		"sample now":                            "unknown command",
		"probe --for 2m":                        "--for 2m0s, want at most 1m0s",
		"probe --out x":                         "unknown flag",
		"probe --for 1s --hz 0.5":               "--hz 0.5, want 1 to 200",
		"sample --for 10":                       "invalid argument",
		"sample --until-eof=perhaps --for 10ms": "invalid argument",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr)
		if code != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%q: exit %d, %s%s", args, code, &stdout, &stderr)
		}
	}
}

// Every flag is described where people look for it.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/meter.md")
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{}
	for _, c := range m.root().Commands() {
		if !strings.Contains(string(text), "`"+c.Name()+"`") {
			t.Errorf("docs/meter.md lacks the command %s", c.Name())
		}
		if c.Name() != "sample" && c.Name() != "probe" {
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(string(text), "`--"+f.Name) {
				t.Errorf("docs/meter.md lacks --%s of %s", f.Name, c.Name())
			}
		})
	}
}
