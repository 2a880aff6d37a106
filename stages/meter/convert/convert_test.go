package convert

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/trace"
)

// start is 2026-09-21T14:13:20Z.
const start = int64(1_790_000_000_000_000_000)

// written converts and reads the trace that comes of it.
func written(t *testing.T, r *Recording, err error) *trace.Trace {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Made != "import" || tr.End == nil || tr.End.Why != "input-ended" || len(tr.Syncs) != 2 {
		t.Errorf("%+v %v", tr.Header, tr.End)
	}
	for _, s := range tr.Syncs {
		if s.V-s.T != tr.WallNS {
			t.Errorf("the wall clock at %d is %d", s.T, s.V)
		}
	}
	return tr
}

// channel finds one; its samples are returned.
func channel(t *testing.T, tr *trace.Trace, device string, q trace.Quantity) (trace.Channel, []trace.Sample) {
	t.Helper()
	for i, c := range tr.Channels {
		if c.Device == device && c.Quantity == q {
			return c, tr.Samples[i]
		}
	}
	t.Fatalf("no %s of %s in %+v", q, device, tr.Channels)
	return trace.Channel{}, nil
}

const smiText = `timestamp, uuid, name, driver_version, power.draw.instant [W], power.draw [W], temperature.gpu, mig.mode.current, power.limit [W]
2026/09/21 16:13:20.000, GPU-11111111-0000-0000-0000-000000000001, NVIDIA H200, 570.86.15, 75.10 W, 75.00 W, 31, Disabled, 700.00 W
2026/09/21 16:13:20.000, GPU-11111111-0000-0000-0000-000000000002, NVIDIA H200, 570.86.15, [N/A], 76.00 W, 32, Disabled, 700.00 W
2026/09/21 16:13:20.050, GPU-11111111-0000-0000-0000-000000000001, NVIDIA H200, 570.86.15, 650.25 W, 80.00 W, 33, Disabled, 600.00 W
2026/09/21 16:13:20.050, GPU-11111111-0000-0000-0000-000000000002, NVIDIA H200, 570.86.15, [GPU is lost], 80.00 W, [Unknown Error], Disabled, 700.00 W
2026/09/21 16:13:20.100, GPU-11111111-0000-0000-0000-000000000001, NVIDIA H200, 570.8`

func summer(t *testing.T) Options {
	return Options{Meter: "cupel-meter test", Zone: time.FixedZone("+02:00", 7200)}
}

func TestNvidiaSMI(t *testing.T) {
	r, err := NvidiaSMI(strings.NewReader(smiText), summer(t))
	tr := written(t, r, err)
	const one, two = "GPU-11111111-0000-0000-0000-000000000001", "GPU-11111111-0000-0000-0000-000000000002"
	if tr.WallNS != start || tr.Meter != "cupel-meter test, import of nvidia-smi" {
		t.Errorf("%+v", tr.Header)
	}
	wantDevices := []trace.Device{{ID: one, Kind: trace.GPU, Name: "NVIDIA H200"}, {ID: two, Kind: trace.GPU, Name: "NVIDIA H200", Index: 1}}
	if d := cmp.Diff(wantDevices, tr.Devices); d != "" {
		t.Error(d)
	}
	c, s := channel(t, tr, one, trace.Power)
	if d := cmp.Diff([]trace.Sample{{T: 0, V: 75100}, {T: 50e6, V: 650250}}, s); d != "" || c.Unit != "mW" || c.Domain != trace.NVGPU || c.Source != "nvidia-smi power.draw.instant" {
		t.Errorf("%+v %s", c, d)
	}
	c, s = channel(t, tr, one, trace.PowerAverage)
	if c.Source != "nvidia-smi power.draw" || s[1].V != 80000 {
		t.Errorf("power.draw is an average: %+v %v", c, s)
	}
	_, s = channel(t, tr, two, trace.Power)
	if d := cmp.Diff([]trace.Sample{{T: 0, E: "not-supported"}, {T: 50e6, E: "gpu-lost"}}, s); d != "" {
		t.Error(d)
	}
	_, s = channel(t, tr, two, trace.Temperature)
	if s[0].V != 32000 || s[1].E != "nvml-error" {
		t.Error(s)
	}
	if len(tr.States) != 3 || *tr.States[0].V.LimitMW != 700000 || *tr.States[2].V.LimitMW != 600000 || *tr.States[0].V.MIG || tr.States[2].V.Device != one || tr.States[0].V.Driver != "570.86.15" {
		t.Errorf("a limit that changed is a state: %+v", tr.States)
	}
}

// Without units, without names, with a second start in the middle, and a module.
func TestNvidiaSMIForms(t *testing.T) {
	text := "timestamp, uuid, power.draw [W]\n2026/09/21 16:13:20.000, GPU-1, 75.1\ntimestamp, uuid, power.draw [W]\n2026/09/21 16:13:21.000, GPU-1, 75\n"
	r, err := NvidiaSMI(strings.NewReader(text), summer(t))
	tr := written(t, r, err)
	if _, s := channel(t, tr, "GPU-1", trace.PowerAverage); len(s) != 2 || s[1] != (trace.Sample{T: 1e9, V: 75000}) {
		t.Error(s)
	}
	if u := tr.States[0].V.Unknown; len(u) != 3 {
		t.Errorf("what the file does not say: %+v", u)
	}
	r, err = NvidiaSMI(strings.NewReader("timestamp, gpu_uuid, name, power.draw.instant [W]\n1790000000, GPU-1, NVIDIA GH200 480GB, 300 W\n"), Options{})
	if c, _ := channel(t, written(t, r, err), "GPU-1", trace.Power); c.Domain != trace.NVModule {
		t.Errorf("%+v", c)
	}
}

func TestNvidiaSMIBad(t *testing.T) {
	head := "timestamp, uuid, power.draw [W]\n"
	for what, c := range map[string]struct {
		text, want string
		o          Options
	}{
		"no zone":       {head + "2026/09/21 16:13:20.000, GPU-1, 75 W\n", `line 2: the time "2026/09/21 16:13:20.000" has no zone: say which with --utc-offset`, Options{}},
		"empty":         {"", "there is no header", summer(t)},
		"only a header": {head, "there is not one value in it", summer(t)},
		"noheader":      {"2026/09/21 16:13:20.000, GPU-1, 75\n", "line 1: there is no header: leave noheader out of --format", summer(t)},
		"no uuid":       {"timestamp, index, power.draw [W]\n", "line 1: the columns timestamp and uuid are needed", summer(t)},
		"no power":      {"timestamp, uuid, utilization.gpu [%]\n", "line 1: there is no column of power", summer(t)},
		"a cell less":   {head + "2026/09/21 16:13:20.000, GPU-1\n", "line 2: 2 cells, and the header has 3", summer(t)},
		"no number":     {head + "2026/09/21 16:13:20.000, GPU-1, lots W\n", `line 2: "lots W" is no power-average`, summer(t)},
		"kilowatts":     {head + "2026/09/21 16:13:20.000, GPU-1, 1 kW\n", `line 2: "1 kW" is no power-average`, summer(t)},
		"no time":       {head + "soon, GPU-1, 75 W\n", `line 2: "soon" is no time`, summer(t)},
		"MIG uuid":      {head + "2026/09/21 16:13:20.000, MIG-1, 75 W\n", `line 2: "MIG-1" is no UUID of a GPU`, summer(t)},
		"back in time":  {head + "2026/10/25 02:59:59.000, GPU-1, 75 W\n2026/10/25 02:00:00.000, GPU-1, 75 W\n", "line 3: the time of power-average of GPU-1 goes back", summer(t)},
		"twice":         {head + "2026/09/21 16:13:20.000, GPU-1, 75 W\n2026/09/21 16:13:20.000, GPU-1, 76 W\n", "line 3: two values of power-average of GPU-1 at one moment", summer(t)},
		"long":          {head + strings.Repeat("x", maxLine+1), "line 2: longer than", summer(t)},
		"only reasons":  {head + "2026/09/21 16:13:20.000, GPU-1, [N/A]\n", "there is not one value in it", summer(t)},
	} {
		if _, err := NvidiaSMI(strings.NewReader(c.text), c.o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// The three rows of MIG instances are the counter of one GPU.
func TestDCGM(t *testing.T) {
	scrape := func(energy string) string {
		row := func(instance string) string {
			return `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-1",pci_bus_id="0",device="nvidia0",modelName="NVIDIA A30",GPU_I_PROFILE="1g.6gb",GPU_I_ID="` + instance + `",Hostname="a \"b\"",DCGM_FI_DRIVER_VERSION="535.1"} ` + energy + "\n"
		}
		return "# HELP DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION Total energy consumption since boot (in mJ).\n# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n" + row("3") + row("4") + row("5") +
			`DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-2",modelName="NVIDIA H100"} 75.5` + "\n" + `DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1"} 345` + "\n"
	}
	text := "# 2026-09-21T14:13:20Z\n" + scrape("126272101025") + "# time: 1790000030\n" + scrape("1.26272401025e+11")
	r, err := DCGM([]Scrape{{Name: "x", Text: strings.NewReader(text)}}, Options{})
	tr := written(t, r, err)
	c, s := channel(t, tr, "GPU-1", trace.Energy)
	if d := cmp.Diff([]trace.Sample{{T: 0, V: 126272101025}, {T: 30e9, V: 126272401025}}, s); d != "" || c.Unit != "mJ" {
		t.Errorf("%+v %s", c, d)
	}
	if _, s := channel(t, tr, "GPU-2", trace.PowerAverage); s[0].V != 75500 {
		t.Error(s)
	}
	if len(tr.States) != 2 || !*tr.States[0].V.MIG || tr.States[0].V.Driver != "535.1" || tr.States[1].V.MIG != nil {
		t.Errorf("%+v", tr.States)
	}
	if tr.End.MaxGap != 30e9 {
		t.Error(tr.End)
	}
}

func TestDCGMFolder(t *testing.T) {
	row := func(v string) io.Reader {
		return strings.NewReader(`DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} ` + v + "\n")
	}
	r, err := DCGM([]Scrape{{"1790000000.prom", "1790000000", row("1000")}, {"1790000001.prom", "1790000001", row("2000")}}, Options{})
	if _, s := channel(t, written(t, r, err), "GPU-1", trace.Energy); len(s) != 2 || s[1] != (trace.Sample{T: 1e9, V: 2000}) {
		t.Error(s)
	}
	// Moments on the metrics themselves.
	text := `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 1000 1790000000000` + "\n" + `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 2000 1790000002000` + "\n"
	r, err = DCGM([]Scrape{{Text: strings.NewReader(text)}}, Options{})
	if _, s := channel(t, written(t, r, err), "GPU-1", trace.Energy); len(s) != 2 || s[1].T != 2e9 {
		t.Error(s)
	}
	_, err = DCGM([]Scrape{{"a", "1790000000", row("1")}, {"b", "1790000001", strings.NewReader("x{\n")}}, Options{})
	if err == nil || err.Error() != `line 1: b: no label name at ""` {
		t.Error(err)
	}
}

func TestDCGMBad(t *testing.T) {
	at := "# 1790000000\n"
	for what, c := range map[string]struct{ text, want string }{
		"no moment":    {`DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"} 1` + "\n", "line 1: a metric without a moment"},
		"local":        {"# 2026-09-21 16:13:20\n", `line 1: the time "2026-09-21 16:13:20" has no zone`},
		"no UUID":      {at + `DCGM_FI_DEV_POWER_USAGE{gpu="0"} 1` + "\n", "line 2: DCGM_FI_DEV_POWER_USAGE has no UUID"},
		"two values":   {at + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"} 1` + "\n" + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"} 2` + "\n", "line 3: two values of DCGM_FI_DEV_POWER_USAGE of GPU-1 in one scrape"},
		"open quote":   {at + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1} 1` + "\n", `line 2: label "UUID": no closing quote`},
		"label twice":  {at + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1",UUID="GPU-2"} 1` + "\n", `line 2: label "UUID" stands twice`},
		"no value":     {at + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"}` + "\n", "line 2: no value"},
		"no number":    {at + `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"} NaN` + "\n", `line 2: "NaN" is no value of`},
		"HTML":         {"<html>\n", "line 1: no metric name"},
		"nothing":      {"", "there is not one value in it"},
		"blank values": {at + `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 9223372036854775794` + "\n", "there is not one value in it"},
	} {
		if _, err := DCGM([]Scrape{{Text: strings.NewReader(c.text)}}, Options{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

func TestWall(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		q    trace.Quantity
		want []trace.Sample
	}{
		"watts":         {"time,watts\n1790000000,100\n1790000001.5,512.25\n", trace.Power, []trace.Sample{{V: 100000}, {T: 1500e6, V: 512250}}},
		"watt-hours":    {"time,energy_wh\n1790000000,0.001\n1790000001,1.5\n", trace.Energy, []trace.Sample{{V: 3_600_000}, {T: 1e9, V: 5_400_000_000}}},
		"kWh, German":   {"time;Strom (A);Zaehler (kWh)\n2026-09-21T14:13:20Z;1,5;12,3456\n", trace.Energy, []trace.Sample{{V: 44_444_160_000_000}}},
		"an empty cell": {"# logger\ntime,watts,volts\n1790000000,,230\n1790000001,7,230", trace.Power, []trace.Sample{{V: 7000}}},
	} {
		r, err := Wall(strings.NewReader(c.text), Options{})
		ch, s := channel(t, written(t, r, err), "wall", c.q)
		if d := cmp.Diff(c.want, s); d != "" || ch.Domain != trace.Wall {
			t.Errorf("%s: %+v %s", what, ch, d)
		}
	}
	for what, c := range map[string]struct{ text, want string }{
		"no unit":        {"time,power\n1790000000,1\n", "line 1: no column names watts"},
		"no time":        {"watts\n1\n", "line 1: no column is called time"},
		"two":            {"time,p1_w,p2_w\n", `line 1: two columns of one kind: "p2_w" is the second`},
		"negative":       {"time,watts\n1790000000,-1\n", `line 2: "-1" in "watts": want a number that is not negative`},
		"local":          {"time,watts\n2026-09-21 16:13:20,1\n", `line 2: the time "2026-09-21 16:13:20" has no zone`},
		"too large":      {"time,MWh\n1790000000,99999\n", `line 2: "99999" in "MWh" is too large`},
		"a cell too few": {"time,watts\n1790000000\n", "line 2: 1 cells, and the header has 2"},
		"summer time":    {"time,watts\n1790000001,1\n1790000000,1\n", "line 3: the time of power of wall goes back"},
	} {
		if _, err := Wall(strings.NewReader(c.text), Options{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	text := `time,device,domain,quantity,unit,value,range
1790000000,package-0,rapl.package,energy,J,1.5,262143.32885
1790000000,GPU-1,nvml.gpu,power,W,350.125,
1790000000.1,GPU-1,nvml.gpu,power,W,gpu-lost,
1790000000.2,GPU-1,nvml.gpu,power,W,,
1790000000.1,package-0,rapl.package,energy,J,2,262143.32885
1790000000.1,box,system,load1,1,0.52,
`
	r, err := Table(strings.NewReader(text), Options{})
	tr := written(t, r, err)
	c, s := channel(t, tr, "package-0", trace.Energy)
	if d := cmp.Diff([]trace.Sample{{V: 1_500_000}, {T: 100e6, V: 2_000_000}}, s); d != "" || c.Unit != "uJ" || c.Range != 262143328850 {
		t.Errorf("%+v %s", c, d)
	}
	_, s = channel(t, tr, "GPU-1", trace.Power)
	if d := cmp.Diff([]trace.Sample{{V: 350_125_000}, {T: 100e6, E: "gpu-lost"}, {T: 200e6, E: "not-said"}}, s); d != "" {
		t.Error(d)
	}
	if _, s := channel(t, tr, "box", trace.Load1); s[0].V != 520 {
		t.Error(s)
	}
	if tr.Devices[0].Kind != trace.CPU || tr.Devices[1].Kind != trace.GPU || tr.Devices[2].Kind != trace.Machine {
		t.Errorf("%+v", tr.Devices)
	}
	head := "time,device,domain,quantity,unit,value\n"
	for what, c := range map[string]struct{ text, want string }{
		"a column less":    {"time,device,domain,quantity,value\n", "line 1: the column unit is not there"},
		"domain":           {head + "1790000000,a,gpu,power,W,1\n", `line 2: "gpu" is no domain`},
		"quantity":         {head + "1790000000,a,nvml.gpu,watts,W,1\n", `line 2: "watts" is no quantity`},
		"unit":             {head + "1790000000,a,nvml.gpu,energy,W,1\n", `line 2: "W" is no unit of energy`},
		"device":           {head + "1790000000,,nvml.gpu,energy,J,1\n", `line 2: "" is no name of a device`},
		"value":            {head + "1790000000,a,nvml.gpu,energy,J,much\n", `line 2: "much" is no energy`},
		"not a number":     {head + "1790000000,a,nvml.gpu,energy,J,nan\n", `line 2: "nan" is no energy`},
		"negative":         {head + "1790000000,a,nvml.gpu,energy,J,-1\n", `line 2: "-1" is no energy`},
		"two kinds":        {head + "1790000000,a,nvml.gpu,energy,J,1\n1790000000,a,rapl.package,energy,J,1\n", "line 3: a is of two kinds, gpu and cpu"},
		"two ranges":       {"time,device,domain,quantity,unit,value,range\n1790000000,a,nvml.gpu,energy,J,1,5\n1790000001,a,nvml.gpu,energy,J,2,6\n", "line 3: energy of a has two ranges"},
		"quotes":           {head + "1790000000,\"a,nvml.gpu,energy,J,1\n", "line 2: its quotes do not match"},
		"range of nothing": {"time,device,domain,quantity,unit,value,range\n1790000000,a,nvml.gpu,energy,J,1,0\n", `line 2: "0" is no range`},
	} {
		if _, err := Table(strings.NewReader(c.text), Options{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// What is converted is a trace that reads.
func check(t *testing.T, r *Recording, err error) {
	if err != nil {
		return
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range tr.Samples {
		n += len(s)
	}
	if n != r.Samples() {
		t.Fatalf("%d samples of %d", n, r.Samples())
	}
}

var utc = Options{Zone: time.UTC}

func FuzzNvidiaSMI(f *testing.F) {
	f.Add(smiText)
	f.Add("timestamp, uuid, power.draw [W]\n1790000000, GPU-1, 75\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NvidiaSMI(strings.NewReader(text), utc)
		check(t, r, err)
	})
}

func FuzzDCGM(f *testing.F) {
	f.Add("# 1790000000\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID=\"GPU-1\",GPU_I_ID=\"3\"} 1.5e3\n")
	f.Add("DCGM_FI_DEV_POWER_USAGE{UUID=\"GPU-1\",a=\"\\\"\"} 75.5 1790000000000\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := DCGM([]Scrape{{Text: strings.NewReader(text)}}, utc)
		check(t, r, err)
	})
}

func FuzzWall(f *testing.F) {
	f.Add("time;Leistung (kW);Wh\n1790000000;1,5;7\n")
	f.Add("time,watts\n2026-09-21 16:13:20,5\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Wall(strings.NewReader(text), utc)
		check(t, r, err)
	})
}

func FuzzTable(f *testing.F) {
	f.Add("time,device,domain,quantity,unit,value,range\n1790000000,package-0,rapl.package,energy,J,1.5,262143\n1790000001,\"a\",wall,power,W,stale,\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Table(strings.NewReader(text), utc)
		check(t, r, err)
	})
}

// Bytes that are no text do not get into a trace.
func TestNotUTF8(t *testing.T) {
	r, err := NvidiaSMI(strings.NewReader("timestamp, uuid, name, driver_version, power.draw [W]\n1790000000, GPU-1, N\xffVIDIA, 5\xfe, 75\n"), utc)
	if tr := written(t, r, err); tr.Devices[0].Name != "NVIDIA" || tr.States[0].V.Driver != "5" {
		t.Errorf("%+v", tr.Devices)
	}
}
