package source

import (
	"encoding/binary"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Load reads the load average of one minute, times 1000, of the machine whose root
// is a folder: how many processes ran or waited for a processor or a disk. On a Mac
// the root / is asked through sysctl.
func Load(root string) (Source, []trace.Missing) {
	if root == "/" && sysctlLoad != nil {
		return newLoad("sysctl vm.loadavg", sysctlLoad, func() error { return nil })
	}
	t := newTree(root)
	f, err := t.open(t.path("proc", "loadavg"))
	if err != nil {
		return nil, []trace.Missing{{Domain: trace.System, What: procLoad, Reason: codeOf(err)}}
	}
	return newLoad(procLoad, func() (int64, string) { return load1(f) }, f.Close)
}

const procLoad = "/proc/loadavg"

// newLoad reads it once: without a number there is no source.
func newLoad(from string, read func() (int64, string), end func() error) (Source, []trace.Missing) {
	if _, code := read(); code != "" {
		_ = end() // it was only read
		return nil, []trace.Missing{{Domain: trace.System, What: from, Reason: code}}
	}
	return &load{from, read, end}, nil
}

type load struct {
	from string
	read func() (int64, string)
	end  func() error
}

func (l *load) Describe() Description {
	return Description{
		Devices:  []trace.Device{{ID: "system", Kind: trace.Machine}},
		Channels: []trace.Channel{{Device: "system", Domain: trace.System, Quantity: trace.Load1, Unit: "milli", Source: l.from}},
	}
}

func (l *load) Read(put Put) {
	v, code := l.read()
	put(0, v, code)
}

func (l *load) States() []trace.State { return nil }

func (l *load) Close() error { return l.end() }

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

// loadavg reads struct loadavg of macOS: three fixed-point numbers of four bytes, and
// after four more of padding their scale in eight.
func loadavg(b []byte) (int64, string) {
	if len(b) != 24 {
		return 0, hardware.NotReadable
	}
	first, scale := int64(binary.NativeEndian.Uint32(b)), int64(binary.NativeEndian.Uint64(b[16:]))
	if scale <= 0 || scale > 1<<31 {
		return 0, hardware.Implausible
	}
	return first * 1000 / scale, ""
}
