package hardware

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func two() *Report {
	gpu := func(i int, id string) GPU {
		return GPU{Index: i, UUID: new(id), Name: new("NVIDIA H200"), Architecture: new("hopper"), Compute: new("9.0"),
			Memory: new(uint64(150754820096)), PowerLimit: new(uint32(700000)), MIG: new(false), ECC: new(true), Instances: []MIG{}}
	}
	r := &Report{Schema: Schema, Made: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Meter: "1",
		CPU:    CPU{Model: new("Xeon"), Sockets: new(2), Cores: new(112)},
		Driver: new("570.86.10"), CUDA: new("12.8"), GPUs: []GPU{gpu(0, "GPU-0000000a"), gpu(1, "GPU-0000000b")}}
	r.Settle()
	return r
}

// cut partitions a GPU in two.
func cut(g *GPU) {
	g.MIG = new(true)
	g.Instances = []MIG{{UUID: new("MIG-0000000c"), Name: new("NVIDIA H200 MIG 1g.18gb"), Memory: new(uint64(16 << 30))},
		{UUID: new("MIG-0000000d"), Name: new("NVIDIA H200 MIG 3g.71gb"), Memory: new(uint64(64 << 30))}}
}

func encode(t *testing.T, r *Report) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a meter writes is read back as it was.
func TestReadBack(t *testing.T) {
	r := two()
	cut(&r.GPUs[1])
	r.GPUs[0].Processes = []Process{{PID: 7, Name: new("vllm")}}
	r.Settle()
	got, err := Read(bytes.NewReader(encode(t, r)))
	if d := cmp.Diff(r, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestSettle(t *testing.T) {
	r := &Report{GPUs: []GPU{{Name: new("x"), Unknown: Unknown{"name": {Code: GPULost}, "uuid": {NoPermission, "NVML 4"}}}}}
	r.Settle()
	u := r.GPUs[0].Unknown
	if _, kept := u["name"]; kept || u["uuid"].String() != "no-permission (NVML 4)" || u["vbios"].Code != NotSaid || r.Unknown["cpu.model"].Code != NotSaid {
		t.Errorf("%v %v", u, r.Unknown)
	}
	if _, wrong := r.Unknown["gpus"]; wrong {
		t.Error("GPUs that are there have a reason why they are not")
	}
}

func TestReadRefuses(t *testing.T) {
	change := func(f func(*Report)) string {
		r := two()
		f(r)
		return string(encode(t, r))
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {" \n", "it is empty"},
		"no JSON":       {"GPU 0: NVIDIA H200", "no hardware report: "},
		"cut":           {`{"schema": "cupel/hardware/v1"`, "no hardware report: "},
		"twice":         {`{"schema": "cupel/hardware/v1", "schema": "cupel/hardware/v1"}`, "duplicate"},
		"no UTF-8":      {"{\"schema\": \"cupel/hardware/v1\", \"driver\": \"\xff\"}", "no hardware report: "},
		"other schema":  {change(func(r *Report) { r.Schema = "cupel/hardware/v2" }), `schema is "cupel/hardware/v2", want "cupel/hardware/v1"`},
		"no time":       {change(func(r *Report) { r.Made = time.Time{} }), "made is missing"},
		"name":          {change(func(r *Report) { r.GPUs[1].Name = new("a\nb") }), "gpus[1].name is no text of one line"},
		"empty name":    {change(func(r *Report) { r.GPUs[0].Name = new(" ") }), "gpus[0].name is no text"},
		"memory":        {change(func(r *Report) { r.GPUs[0].Memory = new(uint64(0)) }), "gpus[0].memory_bytes is no size"},
		"power":         {change(func(r *Report) { r.GPUs[0].PowerLimit = new(uint32(4294967295)) }), "gpus[0].power_limit_mw is no power limit"},
		"clock":         {change(func(r *Report) { r.GPUs[0].MaxMemory = new(uint32(0)) }), "gpus[0].clock_max_memory_mhz is no clock"},
		"same UUID":     {change(func(r *Report) { r.GPUs[1].UUID = r.GPUs[0].UUID }), "gpus[1]: UUID GPU-0000000a is there twice"},
		"same index":    {change(func(r *Report) { r.GPUs[1].Index = 0 }), "gpus[1]: index 0 is there twice"},
		"too many":      {change(func(r *Report) { r.GPUs = make([]GPU, MaxGPUs+1) }), "gpus has 1025 entries"},
		"cores":         {change(func(r *Report) { r.CPU.Cores = new(-1) }), "cpu.cores is no number of processors"},
		"negative":      {strings.Replace(string(encode(t, two())), "150754820096", "-1", 1), "no hardware report: "},
		"MIG":           {change(func(r *Report) { cut(&r.GPUs[0]); r.GPUs[0].Instances[0].Name = new("\x00") }), "gpus[0].mig_instances holds"},
		"host memory":   {change(func(r *Report) { r.Memory = new(uint64(1 << 60)) }), "memory_bytes is no size"},
		"line in flags": {change(func(r *Report) { r.CPU.Flags = []string{"a\tb"} }), "cpu.flags is no text"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), Remake) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A newer meter says more, and one that says less says nothing wrong.
func TestReadLenient(t *testing.T) {
	r, err := Read(strings.NewReader(`{"schema": "cupel/hardware/v1", "made": "2026-01-01T00:00:00Z", "fans": 3, "gpus": [{"index": 0, "name": "X", "fans": 2}]}`))
	if err != nil || *r.GPUs[0].Name != "X" || r.GPUs[0].Unknown["uuid"].Code != NotSaid {
		t.Errorf("%v %+v", err, r)
	}
}

func TestIdentity(t *testing.T) {
	want := Identity{GPUs: []Class{{Count: 2, Name: "NVIDIA H200", Architecture: "hopper", Compute: "9.0", MemoryMiB: 143771, PowerLimitMW: 700000, MIG: "disabled", ECC: "on"}},
		Driver: "570.86.10", CUDA: "12.8", CPU: "Xeon", Sockets: 2, Cores: 112}
	if d := cmp.Diff(want, two().Identity()); d != "" {
		t.Error(d)
	}
	r := two()
	r.GPUs = []GPU{}
	if d := cmp.Diff(Identity{CPU: "Xeon", Sockets: 2, Cores: 112}, r.Identity()); d != "" {
		t.Errorf("without GPUs: %s", d)
	}
}

func TestIdentityOfInstances(t *testing.T) {
	r := two()
	cut(&r.GPUs[0])
	id := r.Identity()
	if id.Count() != 3 || len(id.GPUs) != 3 || id.GPUs[1].MIG != "1g.18gb" || id.GPUs[1].MemoryMiB != 16384 {
		t.Errorf("%+v", id)
	}
	r.GPUs[0].Instances = nil
	if id = r.Identity(); id.Count() != 2 || id.GPUs[0].MIG != "disabled" || id.GPUs[1].MIG != "enabled" {
		t.Errorf("instances that are not known: %+v", id)
	}
}

// The order of the bus, which devices they are, and what happens on them are no
// part of an identity; everything else of it is.
func TestDigest(t *testing.T) {
	of := func(f func(*Report)) string {
		r := two()
		cut(&r.GPUs[1])
		f(r)
		d, err := r.Identity().Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	base := of(func(*Report) {})
	same := map[string]func(*Report){
		"order": func(r *Report) {
			rand.Shuffle(len(r.GPUs), func(i, k int) { r.GPUs[i], r.GPUs[k] = r.GPUs[k], r.GPUs[i] })
		},
		"UUID": func(r *Report) { r.GPUs[0].UUID = new("GPU-0000000f") }, "VBIOS": func(r *Report) { r.GPUs[0].VBIOS = new("1") },
		"index": func(r *Report) { r.GPUs[0].Index = 5 }, "PCI": func(r *Report) { r.GPUs[0].PCI = new("0:1:0") },
		"persistence": func(r *Report) { r.GPUs[0].Persistence = new(true) }, "process": func(r *Report) { r.GPUs[0].Processes = []Process{{PID: 1}} },
		"kernel": func(r *Report) { r.OS.Kernel = new("6") }, "time": func(r *Report) { r.Made = time.Time{} }, "clocks": func(r *Report) { r.GPUs[0].AppMemory = new(uint32(1)) },
		"a few KiB": func(r *Report) { *r.GPUs[0].Memory += 4096 }, "memory of the host": func(r *Report) { r.Memory = new(uint64(1)) },
	}
	other := map[string]func(*Report){
		"name": func(r *Report) { r.GPUs[0].Name = new("NVIDIA H100") }, "unknown name": func(r *Report) { r.GPUs[0].Name = nil },
		"architecture": func(r *Report) { r.GPUs[0].Architecture = new("ada") }, "compute": func(r *Report) { r.GPUs[0].Compute = new("8.9") },
		"memory": func(r *Report) { r.GPUs[0].Memory = new(uint64(80 << 30)) }, "power": func(r *Report) { r.GPUs[0].PowerLimit = new(uint32(500000)) },
		"MIG": func(r *Report) { cut(&r.GPUs[0]) }, "profile": func(r *Report) { r.GPUs[1].Instances[0].Name = new("x MIG 2g.35gb") },
		"ECC": func(r *Report) { r.GPUs[0].ECC = new(false) }, "driver": func(r *Report) { r.Driver = new("1") }, "CUDA": func(r *Report) { r.CUDA = new("13.0") },
		"CPU": func(r *Report) { r.CPU.Model = new("EPYC") }, "sockets": func(r *Report) { r.CPU.Sockets = new(1) }, "cores": func(r *Report) { r.CPU.Cores = new(64) },
		"count": func(r *Report) { r.GPUs = r.GPUs[:1] },
	}
	for name, f := range same {
		if of(f) != base {
			t.Errorf("%s changes the identity", name)
		}
	}
	for name, f := range other {
		if of(f) == base {
			t.Errorf("%s does not change the identity", name)
		}
	}
}

func TestSelect(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		uuids string
		err   string
	}{
		"all":                {nil, "GPU-0000000a MIG-0000000c MIG-0000000d", ""},
		"index":              {[]string{"0"}, "GPU-0000000a", ""},
		"UUID":               {[]string{"GPU-0000000b"}, "MIG-0000000c MIG-0000000d", ""},
		"twice the same":     {[]string{"0", "GPU-0000000a"}, "GPU-0000000a", ""},
		"an instance":        {[]string{"MIG-0000000d"}, "MIG-0000000d", ""},
		"both instances":     {[]string{"MIG-0000000d", "MIG-0000000c"}, "MIG-0000000c MIG-0000000d", ""},
		"instance and whole": {[]string{"MIG-0000000d", "1"}, "MIG-0000000c MIG-0000000d", ""},
		"out of order":       {[]string{"1", "0"}, "GPU-0000000a MIG-0000000c MIG-0000000d", ""},
		"not there":          {[]string{"0", "2"}, "", "gpus names 2, and there is no such GPU; there are 0 GPU-0000000a, 1 GPU-0000000b"},
	} {
		r := two()
		cut(&r.GPUs[1])
		got, err := r.Select(c.names)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || strings.Join(got.UUIDs(), " ") != c.uuids:
			t.Errorf("%s: %v, %v", name, got.UUIDs(), err)
		case len(r.GPUs) != 2 || len(r.GPUs[1].Instances) != 2:
			t.Errorf("%s changed the report", name)
		}
	}
	unknown := &Report{Unknown: Unknown{"gpus": {Code: DriverMismatch}}}
	if _, err := unknown.Select([]string{"0"}); err == nil || !strings.Contains(err.Error(), DriverMismatch) {
		t.Error(err)
	}
}

// A machine without GPUs has an identity only where a file says so.
func TestSee(t *testing.T) {
	none := two()
	none.GPUs = []GPU{}
	for name, c := range map[string]struct {
		source string
		r      *Report
		id     bool
		code   string
	}{
		"file":              {FromFile, two(), true, ""},
		"meter":             {FromMeter, two(), true, ""},
		"file, no GPU":      {FromFile, none, true, NoGPU},
		"meter, no GPU":     {FromMeter, none, false, NoGPU},
		"meter, not known":  {FromMeter, &Report{Unknown: Unknown{"gpus": {Code: NoNVML}}}, false, NoNVML},
		"file of a CPU box": {FromFile, &Report{CPU: CPU{Model: new("x")}, Unknown: Unknown{"gpus": {Code: NoNVML}}}, true, NoNVML},
	} {
		s := See(c.source, c.r)
		code := ""
		if s.Shown.Unknown != nil {
			code = s.Shown.Unknown.Code
		}
		if (s.Identity != nil) != c.id || code != c.code || !s.Shown.Report.Made.IsZero() {
			t.Errorf("%s: %+v", name, s)
		}
	}
	r := two()
	r.GPUs[0].Processes = []Process{{PID: 7}}
	if s := See(FromMeter, r); s.Shown.Report.GPUs[0].Processes != nil || len(r.GPUs[0].Processes) != 1 {
		t.Error("processes are shown, or taken from the report")
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons {
		if seen[r.Code] || r.Means == "" || Means(r.Code) != r.Means {
			t.Errorf("%+v", r)
		}
		seen[r.Code] = true
	}
	if Means("new") != "new" {
		t.Error("an unknown code does not stand for itself")
	}
}

// The documentation has every reason in the words of the table.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "hardware.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Reasons {
		if !bytes.Contains(b, []byte("| `"+r.Code+"` | "+r.Means+" |")) {
			t.Errorf("docs/hardware.md lacks | `%s` | %s |", r.Code, r.Means)
		}
	}
}

// Whatever is read has an identity, can be selected from, and is the same when it
// is written and read again.
func FuzzRead(f *testing.F) {
	r := two()
	cut(&r.GPUs[1])
	b, _ := json.Marshal(r)
	f.Add(b)
	f.Add([]byte(`{"schema": "cupel/hardware/v1", "made": "2026-01-01T00:00:00Z", "gpus": [{"index": -1}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		if _, err := r.Identity().Digest(); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Select([]string{"0", "GPU-0000000a"}) // may well be an error
		if out := encode(t, See(FromFile, r).Shown.Report); !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		again, err := Read(bytes.NewReader(encode(t, r)))
		if err != nil {
			t.Fatalf("%v\n%s", err, encode(t, r))
		}
		a, _ := r.Identity().Digest()
		if b, _ := again.Identity().Digest(); a != b {
			t.Fatal("another identity after a round")
		}
	})
}
