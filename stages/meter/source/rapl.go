package source

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

const powercap = "sys/class/powercap"

// rootOnly is why energy_uj is unreadable for most, and what to do about it.
const rootOnly = "the kernel lets only root read energy_uj; run as root, or make it readable with chmod a+r or a udev rule: docs/meter-sources.md"

// zoneName is a zone of the MSR or TPMI interface: intel-rapl:0 a package or the
// platform, intel-rapl:0:1 a part of a package. intel-rapl-mmio:0 is the same
// package once more, and is not read.
var zoneName = regexp.MustCompile(`^intel-rapl:(\d+)(?::(\d+))?$`)

// zone is one powercap zone.
type zone struct {
	id, dir, name string
	parent, child int // child -1: a zone of its own
}

// RAPL reads the energy counters of processors below root (/ of this machine):
// packages, their memory, and the platform. core and uncore are within package and
// are not read; package is without memory; psys has both and more in it. AMD's
// processors are in the same tree. There is no Source when nothing can be read, and
// then the reasons are returned; else they are in its Description.
func RAPL(root string) (Source, []trace.Missing) { return rapl(newTree(root)) }

func rapl(t tree) (Source, []trace.Missing) {
	zones := raplZones(t)
	if len(zones) == 0 {
		return nil, []trace.Missing{{Domain: trace.RAPLPackage, What: "/" + powercap, Reason: hardware.NotReadable, Detail: "there are no intel-rapl zones: a virtual machine, a container, or a kernel without them"}}
	}
	s := &files{}
	var missing []trace.Missing
	used := map[string]bool{}
	for _, z := range zones {
		c, kind, ok := raplChannel(z, zones)
		if !ok {
			continue
		}
		if used[c.Device+" "+string(c.Domain)] {
			missing = append(missing, trace.Missing{Device: c.Device, Domain: c.Domain, What: z.id, Reason: hardware.Implausible, Detail: "a second zone of the same name"})
			continue
		}
		used[c.Device+" "+string(c.Domain)] = true
		missing = append(missing, s.openZone(t, z, c, kind)...)
	}
	missing = append(missing, withoutDRAM(zones, used)...)
	return s.done(missing)
}

// raplZones lists what is there. The class folder has links to all of them, and each
// package's folder has its parts once more.
func raplZones(t tree) []zone {
	seen := map[string]zone{}
	look := func(dir string) {
		for _, name := range t.list(dir) {
			m := zoneName.FindStringSubmatch(name)
			if m == nil || seen[name].id != "" {
				continue
			}
			z := zone{id: name, dir: t.path(dir, name), child: -1}
			z.parent, _ = strconv.Atoi(m[1])
			if m[2] != "" {
				z.child, _ = strconv.Atoi(m[2])
			}
			z.name = t.line(filepath.Join(z.dir, "name"))
			seen[name] = z
		}
	}
	look(powercap)
	for _, z := range seen {
		if z.child < 0 {
			look(filepath.Join(powercap, z.id))
		}
	}
	var out []zone
	for _, z := range seen {
		out = append(out, z)
	}
	slices.SortFunc(out, func(a, b zone) int { return cmp.Or(a.parent-b.parent, a.child-b.child) })
	return out
}

// raplChannel says what a zone is. ok is false for those that are within another.
func raplChannel(z zone, all []zone) (c trace.Channel, kind string, ok bool) {
	c = trace.Channel{Quantity: trace.Energy, Unit: "uJ", Source: z.id + "/energy_uj"}
	switch {
	case z.child < 0 && z.name == "psys":
		c.Device, c.Domain = "psys", trace.RAPLPsys
		return c, trace.Machine, true
	case z.child < 0 && isPackage(z.name):
		c.Device, c.Domain = z.name, trace.RAPLPackage
		return c, trace.CPU, true
	case z.child >= 0 && z.name == "dram":
		for _, p := range all {
			if p.parent == z.parent && p.child < 0 && isPackage(p.name) {
				c.Device, c.Domain = p.name, trace.RAPLDRAM
				return c, trace.CPU, true
			}
		}
	}
	return c, "", false
}

// packageName is package-0, or package-0-die-1 where packages have several.
var packageName = regexp.MustCompile(`^package-\d{1,4}(-die-\d{1,4})?$`)

func isPackage(name string) bool { return packageName.MatchString(name) }

// openZone makes a channel of a zone, or says why it cannot be read.
func (s *files) openZone(t tree, z zone, c trace.Channel, kind string) (missing []trace.Missing) {
	f, m := t.openCounter(filepath.Join(z.dir, "energy_uj"))
	if m != nil {
		m.Device, m.Domain = c.Device, c.Domain
		if m.Reason == hardware.NoPermission {
			m.Detail = rootOnly
		}
		return []trace.Missing{*m}
	}
	top, code := t.rangeOf(z)
	now, _ := number(f)
	if code == "" && now > top {
		top, code = 0, hardware.Implausible
	}
	if code != "" {
		missing = append(missing, trace.Missing{Device: c.Device, What: z.id + "/max_energy_range_uj", Reason: code, Detail: "a counter of unknown range is refused when it wraps"})
	}
	c.Range = top
	s.device(trace.Device{ID: c.Device, Kind: kind, Name: z.name, Index: indexOf(z)})
	s.add(c, f, counts(top))
	return missing
}

// rangeOf reads the last value of a zone before it goes on at 0. 0 is no range.
func (t tree) rangeOf(z zone) (int64, string) {
	f, err := t.open(filepath.Join(z.dir, "max_energy_range_uj"))
	if err != nil {
		return 0, codeOf(err)
	}
	defer f.Close()
	n, code := number(f)
	if code == "" && n <= 0 {
		code = hardware.Implausible
	}
	return n, code
}

// indexOf is the number in package-1; the platform is the first of its kind.
func indexOf(z zone) int {
	digits, ok := strings.CutPrefix(z.name, "package-")
	if !ok {
		return 0
	}
	digits, _, _ = strings.Cut(digits, "-")
	n, _ := strconv.Atoi(digits)
	return n
}

// withoutDRAM notes the packages that have no counter of their memory: a sum with
// their memory in it is not to be had.
func withoutDRAM(zones []zone, used map[string]bool) (missing []trace.Missing) {
	for _, z := range zones {
		if z.child < 0 && isPackage(z.name) && !used[z.name+" "+string(trace.RAPLDRAM)] {
			missing = append(missing, trace.Missing{Device: z.name, Domain: trace.RAPLDRAM, What: z.id, Reason: hardware.NotSupported, Detail: "this processor has no dram zone"})
		}
	}
	return missing
}
