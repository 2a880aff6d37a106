package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/trace"
)

// zoneFiles are the files of one zone.
func zoneFiles(files map[string]string, zone, name, energy, top string) {
	dir := powercap + "/" + zone
	files[dir+"/name"] = name + "\n"
	files[dir+"/energy_uj"] = energy + "\n"
	files[dir+"/max_energy_range_uj"] = top + "\n"
}

// twoSockets is a server: packages with memory, cores within them, the platform, and
// the second door to the first package that some kernels show.
func twoSockets() map[string]string {
	f := map[string]string{}
	zoneFiles(f, "intel-rapl:0", "package-0", "1000", "262143328850")
	zoneFiles(f, "intel-rapl:0:0", "dram", "500", "65712999613")
	zoneFiles(f, "intel-rapl:0:1", "core", "700", "262143328850")
	zoneFiles(f, "intel-rapl:1", "package-1", "2000", "262143328850")
	zoneFiles(f, "intel-rapl:1:0", "dram", "600", "65712999613")
	zoneFiles(f, "intel-rapl:2", "psys", "9000", "262143328850")
	zoneFiles(f, "intel-rapl-mmio:0", "package-0", "1000", "262143328850")
	f[powercap+"/intel-rapl/enabled"] = "1"
	return f
}

func TestTwoSockets(t *testing.T) {
	root := plant(t, twoSockets())
	s, missing := RAPL(root)
	if s == nil || missing != nil {
		t.Fatal(s, missing)
	}
	defer s.Close()
	d := s.Describe()
	wantDevices := []trace.Device{{ID: "package-0", Kind: trace.CPU, Name: "package-0"}, {ID: "package-1", Kind: trace.CPU, Name: "package-1", Index: 1}, {ID: "psys", Kind: trace.Machine, Name: "psys"}}
	if diff := cmp.Diff(wantDevices, d.Devices); diff != "" {
		t.Error(diff)
	}
	channel := func(device string, domain trace.Domain, zone string, top int64) trace.Channel {
		return trace.Channel{Device: device, Domain: domain, Quantity: trace.Energy, Unit: "uJ", Source: zone + "/energy_uj", Range: top}
	}
	want := []trace.Channel{
		channel("package-0", trace.RAPLPackage, "intel-rapl:0", 262143328850),
		channel("package-0", trace.RAPLDRAM, "intel-rapl:0:0", 65712999613),
		channel("package-1", trace.RAPLPackage, "intel-rapl:1", 262143328850),
		channel("package-1", trace.RAPLDRAM, "intel-rapl:1:0", 65712999613),
		channel("psys", trace.RAPLPsys, "intel-rapl:2", 262143328850),
	}
	if diff := cmp.Diff(want, d.Channels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]one{0: {V: 1000}, 1: {V: 500}, 2: {V: 2000}, 3: {V: 600}, 4: {V: 9000}}, look(s)); diff != "" {
		t.Error(diff)
	}
}

// A counter that goes on at 0 is handed on as it is: the range lets the formulas
// add what is missing.
func TestWrap(t *testing.T) {
	f := map[string]string{}
	zoneFiles(f, "intel-rapl:0", "package-0", "990", "1000")
	root := plant(t, f)
	s, _ := RAPL(root)
	defer s.Close()
	first := look(s)[0]
	set(t, root, powercap+"/intel-rapl:0/energy_uj", "15\n")
	if second := look(s)[0]; first != (one{V: 990}) || second != (one{V: 15}) {
		t.Error(first, second)
	}
	set(t, root, powercap+"/intel-rapl:0/energy_uj", "1001\n")
	if got := look(s)[0]; got != (one{E: "implausible"}) {
		t.Errorf("a value beyond the range: %v", got)
	}
}

func TestRangeUnknown(t *testing.T) {
	for what, c := range map[string]struct {
		change func(map[string]string)
		reason string
	}{
		"unreadable":      {func(f map[string]string) { delete(f, powercap+"/intel-rapl:0/max_energy_range_uj") }, "not-readable"},
		"not a number":    {func(f map[string]string) { f[powercap+"/intel-rapl:0/max_energy_range_uj"] = "lots" }, "implausible"},
		"nothing":         {func(f map[string]string) { f[powercap+"/intel-rapl:0/max_energy_range_uj"] = "0" }, "implausible"},
		"below the value": {func(f map[string]string) { f[powercap+"/intel-rapl:0/max_energy_range_uj"] = "999" }, "implausible"},
	} {
		f := map[string]string{}
		zoneFiles(f, "intel-rapl:0", "package-0", "1000", "262143328850")
		c.change(f)
		s, _ := RAPL(plant(t, f))
		d := s.Describe()
		if d.Channels[0].Range != 0 || reasons(d.Missing)["package-0 "] != c.reason || look(s)[0] != (one{V: 1000}) {
			t.Errorf("%s: %+v", what, d)
		}
		s.Close()
	}
}

// AMD's processors are in the same tree, without memory.
func TestAMD(t *testing.T) {
	f := map[string]string{}
	zoneFiles(f, "intel-rapl:0", "package-0", "123", "65532610987")
	zoneFiles(f, "intel-rapl:0:0", "core", "45", "65532610987")
	s, _ := RAPL(plant(t, f))
	defer s.Close()
	d := s.Describe()
	if len(d.Channels) != 1 || d.Channels[0].Domain != trace.RAPLPackage || d.Channels[0].Range != 65532610987 {
		t.Errorf("%+v", d.Channels)
	}
	if got := reasons(d.Missing); got["package-0 rapl.dram"] != "not-supported" {
		t.Errorf("%v", got)
	}
}

// Packages with several dies have a zone for each; in the real tree the class folder
// has links, and the parts are in their package's folder only.
func TestDiesAndLinks(t *testing.T) {
	f := map[string]string{}
	for zone, name := range map[string]string{"intel-rapl:0": "package-0-die-0", "intel-rapl:1": "package-0-die-1"} {
		dir := "sys/devices/virtual/powercap/intel-rapl/" + zone
		f[dir+"/name"], f[dir+"/energy_uj"], f[dir+"/max_energy_range_uj"] = name, "7", "100"
		f[dir+"/"+zone+":0/name"], f[dir+"/"+zone+":0/energy_uj"], f[dir+"/"+zone+":0/max_energy_range_uj"] = "dram", "8", "100"
		f[powercap+"/"+zone] = "->../../devices/virtual/powercap/intel-rapl/" + zone
	}
	s, missing := RAPL(plant(t, f))
	if s == nil {
		t.Fatal(missing)
	}
	defer s.Close()
	want := map[string]int{"package-0-die-0 rapl.package energy": 0, "package-0-die-0 rapl.dram energy": 1, "package-0-die-1 rapl.package energy": 2, "package-0-die-1 rapl.dram energy": 3}
	if diff := cmp.Diff(want, named(s)); diff != "" {
		t.Error(diff)
	}
	if got := look(s); got[0].V != 7 || got[1].V != 8 || got[3].V != 8 {
		t.Error(got)
	}
}

func TestNoRAPL(t *testing.T) {
	for what, files := range map[string]map[string]string{
		"empty":     {},
		"no zones":  {powercap + "/intel-rapl/enabled": "0"},
		"mmio only": {powercap + "/intel-rapl-mmio:0/name": "package-0", powercap + "/intel-rapl-mmio:0/energy_uj": "1"},
	} {
		s, missing := RAPL(plant(t, files))
		if s != nil || reasons(missing)[" rapl.package"] != "not-readable" {
			t.Errorf("%s: %v %v", what, s, missing)
		}
	}
}

// Two zones of one name: the energy of one package is not counted twice.
func TestSameName(t *testing.T) {
	f := twoSockets()
	f[powercap+"/intel-rapl:1/name"] = "package-0"
	s, _ := RAPL(plant(t, f))
	defer s.Close()
	d := s.Describe()
	if len(d.Channels) != 3 || reasons(d.Missing)["package-0 rapl.package"] != "implausible" {
		t.Errorf("%+v", d)
	}
}

// denied opens everything but energy_uj, as for whom is not root.
func denied(root string) tree {
	t := newTree(root)
	t.open = func(name string) (file, error) {
		if strings.HasSuffix(name, "energy_uj") {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
		}
		return os.Open(name)
	}
	return t
}

func TestNoPermission(t *testing.T) {
	s, missing := rapl(denied(plant(t, twoSockets())))
	if s != nil || len(missing) != 5 {
		t.Fatal(s, missing)
	}
	for _, m := range missing {
		if m.Reason != "no-permission" || !strings.Contains(m.Detail, "chmod") || m.Device == "" || m.Domain == "" {
			t.Errorf("%+v", m)
		}
	}
}

// gone is a file whose device was taken away.
type gone struct{ err error }

func (g *gone) ReadAt(p []byte, _ int64) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	return copy(p, "42\n"), nil
}
func (g *gone) Close() error { return nil }

func TestVanished(t *testing.T) {
	root := plant(t, twoSockets())
	for err, code := range map[error]string{syscall.ENODEV: "not-readable", syscall.EACCES: "no-permission", syscall.EINVAL: "not-supported", syscall.ETIMEDOUT: "timeout"} {
		g := &gone{}
		tr := newTree(root)
		tr.open = func(name string) (file, error) {
			if strings.HasSuffix(name, filepath.Join("intel-rapl:1", "energy_uj")) {
				return g, nil
			}
			return os.Open(name)
		}
		s, _ := rapl(tr)
		before := look(s)
		g.err = err
		after := look(s)
		if before[2] != (one{V: 42}) || after[2] != (one{E: code}) || after[0] != (one{V: 1000}) {
			t.Errorf("%v: %v %v", err, before, after)
		}
		s.Close()
	}
	s, _ := RAPL(root)
	defer s.Close()
	for text, code := range map[string]string{"": "not-readable", "x": "implausible", "-1": "implausible", "99999999999999999999": "implausible"} {
		set(t, root, powercap+"/intel-rapl:0/energy_uj", text)
		if got := look(s)[0]; got != (one{E: code}) {
			t.Errorf("%q: %v, want %s", text, got, code)
		}
	}
}

// Here: whatever this machine shows, nothing is read that was not described.
func TestThisMachine(t *testing.T) {
	for _, open := range []func(string) (Source, []trace.Missing){RAPL, Hwmon, Load} {
		s, missing := open("/")
		if s == nil {
			if len(missing) == 0 {
				t.Error("neither a source nor a reason")
			}
			continue
		}
		for c := range look(s) {
			if c >= len(s.Describe().Channels) {
				t.Errorf("channel %d", c)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
