package source

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Load reads the load average of one minute, times 1000, of the machine whose root
// is a folder: how many processes ran or waited for a processor or a disk.
func Load(root string) (Source, []trace.Missing) {
	t := newTree(root)
	missing := trace.Missing{Domain: trace.System, What: "/proc/loadavg"}
	f, err := t.open(t.path("proc", "loadavg"))
	if err != nil {
		missing.Reason = codeOf(err)
		return nil, []trace.Missing{missing}
	}
	if _, missing.Reason = load1(f); missing.Reason != "" {
		f.Close()
		return nil, []trace.Missing{missing}
	}
	return &load{f}, nil
}

type load struct{ file }

func (l *load) Describe() Description {
	return Description{
		Devices:  []trace.Device{{ID: "system", Kind: trace.Machine}},
		Channels: []trace.Channel{{Device: "system", Domain: trace.System, Quantity: trace.Load1, Unit: "milli", Source: "/proc/loadavg"}},
	}
}

func (l *load) Read(put Put) {
	v, code := load1(l.file)
	put(0, v, code)
}

func (l *load) States() []trace.State { return nil }

// load1 reads the first number of a line such as 0.52 0.58 0.59 1/467 12345.
func load1(f file) (int64, string) {
	s, err := text(f)
	if err != nil {
		return 0, codeOf(err)
	}
	first, _, ok := strings.Cut(s, " ")
	n, err := parse.Decimal(first, 3)
	if !ok || err != nil || n < 0 {
		return 0, hardware.Implausible
	}
	return n, ""
}
