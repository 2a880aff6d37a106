package source

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

const hwmonClass = "sys/class/hwmon"

// gpuDrivers are the drivers whose hwmon folder is one whole GPU. i915_gt0 and the
// like are parts of one, and are not read.
var gpuDrivers = []string{"amdgpu", "xe", "i915"}

// meterDriver is that of ACPI power meters, which boards have (Grace, servers).
const meterDriver = "power_meter"

// monitor is one folder of hwmon.
type monitor struct {
	tree
	dir    string // the folder
	driver string
	device string // what it belongs to: 0000:03:00.0 of a GPU, ACPI000D:00 of a meter
}

// Hwmon reads GPUs of AMD and Intel, and boards with ACPI power meters, below root
// (/ of this machine). Not a GPU: no channel of domain hwmon.gpu. There is no Source
// when nothing can be read; the reasons are returned, or are in its Description.
func Hwmon(root string) (Source, []trace.Missing) { return hwmon(newTree(root)) }

func hwmon(t tree) (Source, []trace.Missing) {
	all := monitors(t)
	h := &hwmonSource{}
	var missing []trace.Missing
	gpus, meters, seen := 0, 0, map[string]bool{}
	for _, m := range all {
		id := m.device
		if m.driver == meterDriver {
			id = "power-meter-" + cmp.Or(m.device, filepath.Base(m.dir))
		}
		switch {
		case id == "" || seen[id]:
			missing = append(missing, trace.Missing{Domain: trace.HwmonGPU, What: filepath.Base(m.dir), Reason: hardware.Implausible, Detail: "no device of its own"})
		case m.driver == meterDriver:
			missing = append(missing, h.board(m, id, meters)...)
			meters++
		default:
			missing = append(missing, h.gpu(m, id, gpus)...)
			gpus++
		}
		seen[id] = true
	}
	if len(all) == 0 {
		return nil, []trace.Missing{{Domain: trace.HwmonGPU, What: "/" + hwmonClass, Reason: hardware.NoGPU, Detail: "no hwmon folder of amdgpu, xe or i915"}}
	}
	if len(h.about.Channels) == 0 {
		return nil, missing
	}
	h.about.Missing = missing
	h.states = h.limits
	return h, nil
}

// monitors lists the folders that are of interest, by device.
func monitors(t tree) []monitor {
	var out []monitor
	for _, name := range t.list(hwmonClass) {
		m := monitor{tree: t, dir: t.path(hwmonClass, name)}
		m.driver = m.text("name")
		if m.driver != meterDriver && !slices.Contains(gpuDrivers, m.driver) {
			continue
		}
		if to, err := os.Readlink(filepath.Join(m.dir, "device")); err == nil {
			m.device = filepath.Base(to)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b monitor) int { return strings.Compare(a.device, b.device) })
	return out
}

// text returns the content of a file of the folder, "" when there is none.
func (m monitor) text(name string) string { return m.line(filepath.Join(m.dir, name)) }

// source names a file as a channel's source: amdgpu/power1_input (PPT).
func (m monitor) source(file string) string {
	out := m.driver + "/" + file
	stem, _, _ := strings.Cut(file, "_")
	if label := m.text(stem + "_label"); label != "" && hardware.Text(label) {
		out += " (" + label + ")"
	}
	return out
}

// hwmonSource also tells the limits of GPUs, which change seldom.
type hwmonSource struct {
	files
	caps []capFile
}

type capFile struct {
	device string
	file   file
}

func (h *hwmonSource) limits() (out []trace.State) {
	for _, c := range h.caps {
		s := trace.State{Device: c.device, Unknown: []trace.Unread{
			{Field: "processes", Reason: hardware.NotSupported}, {Field: "mig", Reason: hardware.NotApplicable},
		}}
		if c.file == nil {
			s.Unknown = append(s.Unknown, trace.Unread{Field: "limit_mw", Reason: hardware.NotSupported})
		} else if v, code := number(c.file); code != "" {
			s.Unknown = append(s.Unknown, trace.Unread{Field: "limit_mw", Reason: code})
		} else {
			s.LimitMW = new(v / 1000)
		}
		out = append(out, s)
	}
	return out
}

func (h *hwmonSource) Close() error {
	err := h.files.Close()
	for _, c := range h.caps {
		if c.file != nil {
			err = cmp.Or(err, c.file.Close())
		}
	}
	return err
}

// numbered is energy1_input and the like.
var numbered = regexp.MustCompile(`^(energy|power|temp)(\d{1,3})_(input|average)$`)

// pick returns the file of a kind that is about the whole card: the one with the
// first of these labels, else the first without a label, else the first of all.
// Intel's xe counts card and, within it, pkg.
func (m monitor) pick(kind, ending string, labels ...string) string {
	best, rank := "", len(labels)+2
	for _, name := range m.names() {
		p := numbered.FindStringSubmatch(name)
		if p == nil || p[1] != kind || p[3] != ending {
			continue
		}
		label := m.text(kind + p[2] + "_label")
		r := slices.Index(labels, label)
		if r < 0 {
			r = len(labels)
			if label != "" {
				r++
			}
		}
		if r < rank {
			best, rank = name, r
		}
	}
	return best
}

// names lists the folder with temp2 before temp10.
func (m monitor) names() []string {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return out
}
