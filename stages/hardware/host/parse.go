package host

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// processors is what /proc/cpuinfo says.
type processors struct {
	model   string
	threads int
	sockets map[string]bool // physical ids
	cores   map[string]bool // physical id and core id
	flags   []string
}

// parseCPUInfo reads /proc/cpuinfo of x86-64 and arm64 kernels. arm64 names no
// model, only the numbers of its implementer and part.
func parseCPUInfo(text string) processors {
	p := processors{sockets: map[string]bool{}, cores: map[string]bool{}}
	one := map[string]string{}
	end := func() {
		if _, ok := one["processor"]; ok {
			p.add(one)
		}
		one = map[string]string{}
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			end()
			continue
		}
		one[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	end()
	return p
}

func (p *processors) add(one map[string]string) {
	p.threads++
	if p.model == "" {
		p.model = modelOf(one)
	}
	if id, ok := one["physical id"]; ok {
		p.sockets[id] = true
		if core, ok := one["core id"]; ok {
			p.cores[id+"/"+core] = true
		}
	}
	if p.flags == nil {
		p.flags = known(one["flags"] + " " + one["Features"])
	}
}

func modelOf(one map[string]string) string {
	if m := one["model name"]; m != "" {
		return strings.Join(strings.Fields(m), " ")
	}
	if one["CPU implementer"] == "" || one["CPU part"] == "" {
		return ""
	}
	return "Arm implementer " + one["CPU implementer"] + " part " + one["CPU part"]
}

// known keeps the flags that engines choose kernels by, sorted.
func known(text string) []string {
	out := []string{}
	for _, f := range strings.Fields(text) {
		if slices.Contains(hardware.KnownFlags, f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parseMemTotal reads the line MemTotal of /proc/meminfo, in bytes; 0 = none.
func parseMemTotal(text string) uint64 {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 53)
		if err != nil {
			return 0
		}
		return kb << 10
	}
	return 0
}

// parseRelease reads PRETTY_NAME of /etc/os-release.
func parseRelease(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}
