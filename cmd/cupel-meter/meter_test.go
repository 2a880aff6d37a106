package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/hardware"
)

var update = flag.Bool("update", false, "write the golden files again")

// built is the real cupel-meter, with cgo, and libraries that play NVML.
type built struct{ meter, normal, old, bare, noFields, noEnergy string }

// builtIn is the folder of what was compiled, "" when nothing was.
var builtIn string

// build compiles them once. Without a C compiler there is nothing to test here.
var build = sync.OnceValues(func() (built, error) {
	dir, err := os.MkdirTemp("", "cupel-meter-test")
	if err != nil {
		return built{}, err
	}
	builtIn = dir
	at := func(name string) string { return filepath.Join(dir, name) }
	b := built{at("cupel-meter"), at("libnvidia-ml.so.1"), at("old.so"), at("bare.so"), at("nofields.so"), at("noenergy.so")}
	for lib, define := range map[string]string{b.normal: "-DNORMAL", b.old: "-DOLD", b.bare: "-DBARE", b.noFields: "-DNOFIELDS", b.noEnergy: "-DNOENERGY"} {
		if err := compile(exec.Command("gcc", "-O1", "-Wall", "-Wextra", "-Werror", define, "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o", lib, "testdata/fakenvml.c")); err != nil {
			return b, err
		}
	}
	c := exec.Command("go", "build", "-ldflags=-extldflags=-Wl,-z,lazy", "-o", b.meter, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O1 -w")
	return b, compile(c)
})

func compile(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return errors.New(strings.Join(c.Args, " ") + ": " + err.Error() + "\n" + string(out))
	}
	return nil
}

func tools(t *testing.T) built {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: cupel-meter with NVML needs Linux and gcc, and this machine lacks one")
	}
	b, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// identify runs the real program and returns its report; env are FAKE_ variables.
func identify(t *testing.T, library string, env string, args ...string) (r *hardware.Report, code int, stderr string) {
	t.Helper()
	b := tools(t)
	c := exec.Command(b.meter, append([]string{"identify", "--nvml-library", library}, args...)...)
	c.Env = append(os.Environ(), strings.Split(env, "\n")...)
	var out, words bytes.Buffer
	c.Stdout, c.Stderr = &out, &words
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	r, err := hardware.Read(&out)
	if err != nil {
		t.Fatalf("%v: exit %d, stderr %s", err, c.ProcessState.ExitCode(), &words)
	}
	return r, c.ProcessState.ExitCode(), words.String()
}

// Every way in which a driver was seen, or can be feared, to answer.
func TestIdentify(t *testing.T) {
	b := tools(t)
	for name, c := range map[string]struct{ library, env string }{
		"normal":          {b.normal, ""},
		"processes":       {b.normal, "FAKE_COUNT=1\nFAKE_PIDS=9,7,8"},
		"none":            {b.normal, "FAKE_COUNT=0"},
		"old":             {b.old, "FAKE_COUNT=1\nFAKE_NAME=Tesla K80"},
		"failing":         {b.normal, "FAKE_COUNT=1\nFAKE_FAIL=uuid:4,name:15,vbios:3,memory:3,power:3,power-default:10,power-range:999,power-enforced:17,persistence:3,ecc:3,mig:3,arch:13,cc:3,clock:3,app-clock:26,processes:4,pci:3,cuda:3,nvml:20"},
		"mig":             {b.normal, "FAKE_COUNT=1\nFAKE_MIG=1"},
		"gh200":           {b.normal, "FAKE_COUNT=1\nFAKE_NAME=NVIDIA GH200 480GB\nFAKE_MEMORY=102005473280\nFAKE_POWER=900000\nFAKE_FAIL=mig:3"},
		"new":             {b.normal, "FAKE_COUNT=1\nFAKE_ARCH=16\nFAKE_CC=12.1"},
		"lost":            {b.normal, "FAKE_LOST=0"},
		"mismatch":        {b.normal, "FAKE_FAIL=init:18"},
		"no-driver":       {b.normal, "FAKE_FAIL=init:9"},
		"cannot-count":    {b.normal, "FAKE_FAIL=count:999"},
		"too-many":        {b.normal, "FAKE_COUNT=4294967295"},
		"absurd":          {b.normal, "FAKE_COUNT=1\nFAKE_NAME=a\nb\nFAKE_VBIOS=\xff\xfe\nFAKE_MEMORY=18446744073709551615\nFAKE_POWER=4294967295\nFAKE_CC=-1.-1\nFAKE_CUDA=-5\nFAKE_ARCH=4294967295\nFAKE_DRIVER=\nFAKE_MIG=77"},
		"absurd-shares":   {b.normal, "FAKE_COUNT=1\nFAKE_MIG=1\nFAKE_MIG_COUNT=4294967295\nFAKE_PROCESSES=4294967295"},
		"not-nvml":        {b.bare, ""},
		"no-such-library": {"libno-such-nvml.so.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := c.env
			if name == "absurd" { // a line break inside a value
				env = strings.Replace(env, "FAKE_NAME=a\nb\n", "", 1)
				t.Setenv("FAKE_NAME", "a\nb")
			}
			r, code, stderr := identify(t, c.library, env)
			if code != 0 || stderr != "" {
				t.Errorf("exit %d, stderr %s", code, stderr)
			}
			if r.CPU.Threads == nil || r.OS.Kernel == nil {
				t.Errorf("no CPU: %+v %+v", r.CPU, r.OS)
			}
			golden(t, name, r)
		})
	}
}

// golden compares what NVML said.
func golden(t *testing.T, name string, r *hardware.Report) {
	t.Helper()
	for field := range r.Unknown {
		if strings.HasPrefix(field, "cpu.") || strings.HasPrefix(field, "os.") || field == "memory_bytes" {
			delete(r.Unknown, field) // of this machine
		}
	}
	got, err := json.MarshalIndent(map[string]any{"library": r.Library, "nvml": r.NVML, "driver": r.Driver, "cuda": r.CUDA, "gpus": r.GPUs, "unknown": r.Unknown}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte(hardware.NotSaid)) {
		t.Errorf("a null without a reason: %s", got)
	}
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.TrimSpace(string(want)), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// A driver that hangs costs the time that it was given, and not the CPU's part.
func TestHang(t *testing.T) {
	b := tools(t)
	for _, where := range []string{"init", "count", "memory"} {
		r, code, _ := identify(t, b.normal, "FAKE_HANG="+where, "--timeout", "50ms")
		if code != 0 || r.GPUs != nil || r.Unknown["gpus"].Code != hardware.Timeout || r.CPU.Threads == nil {
			t.Errorf("%s: exit %d, %+v", where, code, r)
		}
	}
}

func TestRequireGPU(t *testing.T) {
	b := tools(t)
	for env, want := range map[string]struct {
		code  int
		words string
	}{
		"FAKE_COUNT=1":      {0, ""},
		"FAKE_COUNT=0":      {4, "no-gpu"},
		"FAKE_FAIL=init:18": {4, "driver-mismatch (NVML 18)"},
	} {
		_, code, stderr := identify(t, b.normal, env, "--require-gpu")
		if code != want.code || !strings.Contains(stderr, want.words) {
			t.Errorf("%s: exit %d, stderr %s", env, code, stderr)
		}
	}
}

// Moving to another GPU of the same kind is no other identity; another power
// limit, driver or partition is.
func TestIdentityOfReports(t *testing.T) {
	b := tools(t)
	digest := func(env string) string {
		r, _, _ := identify(t, b.normal, env)
		d, err := r.Identity().Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	base := digest("FAKE_COUNT=1")
	for env, same := range map[string]bool{
		"FAKE_COUNT=1\nFAKE_UUID=GPU-11111111-0000-0000-0000-000000000009": true,
		"FAKE_COUNT=1\nFAKE_VBIOS=97":                                      true,
		"FAKE_COUNT=1\nFAKE_PIDS=1":                                        true,
		"FAKE_COUNT=2":                                                     false,
		"FAKE_COUNT=1\nFAKE_NAME=NVIDIA H100":                              false,
		"FAKE_COUNT=1\nFAKE_MEMORY=85899345920":                            false,
		"FAKE_COUNT=1\nFAKE_POWER=500000":                                  false,
		"FAKE_COUNT=1\nFAKE_DRIVER=580.1":                                  false,
		"FAKE_COUNT=1\nFAKE_CUDA=13000":                                    false,
		"FAKE_COUNT=1\nFAKE_MIG=1":                                         false,
	} {
		if (digest(env) == base) != same {
			t.Errorf("%q: same %v, want %v", env, !same, same)
		}
	}
}

// Without the real program: usage, and what a binary without cgo says.
func TestUsage(t *testing.T) {
	for args, want := range map[string]struct {
		code int
		out  string
	}{
		"":                         {0, "Usage:"},
		"identify -h":              {0, "Examples:"},
		"version":                  {0, "cupel/hardware/v1"},
		"version --json":           {0, `"trace": "cupel/energy-trace/v1"`},
		"identify --timeout 0s":    {2, "--timeout 0s, want a time above zero"},
		"identify now":             {2, "unknown command"},
		"watch":                    {2, "unknown command"},
		"identify --nvml-librarry": {2, "unknown flag"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr)
		if code != want.code || !strings.Contains(stdout.String()+stderr.String(), want.out) {
			t.Errorf("%q: exit %d, %s%s", args, code, &stdout, &stderr)
		}
	}
}

func TestWithoutNVML(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"identify", "--require-gpu", "--nvml-library", "libno-such-nvml.so.1"}, strings.NewReader(""), &stdout, &stderr)
	if code != 4 || !strings.HasPrefix(stderr.String(), "cupel-meter: no GPU, and one is required: no-") {
		t.Errorf("exit %d, %s", code, &stderr)
	}
	r, err := hardware.Read(&stdout)
	if err != nil || r.GPUs != nil || r.Unknown["gpus"].Code == "" || r.Schema != hardware.Schema {
		t.Errorf("%v %+v", err, r)
	}
}

func TestVendors(t *testing.T) {
	r := &hardware.Report{Unknown: none(hardware.Reason{Code: hardware.NoNVML})}
	vendors(r, []string{"0x1a03", "0x1002"})
	if got := r.Unknown["gpus"]; got.Code != hardware.OtherPlatform || !strings.Contains(got.Detail, "AMD") {
		t.Error(got)
	}
}
