// Package convert makes traces of what other programs recorded: nvidia-smi,
// dcgm-exporter, the program of a meter at the wall, or a table of one's own. It is
// pure. docs/meter-sources.md has the forms.
package convert

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// Options say how to read.
type Options struct {
	Meter string         // what converts, for the header
	Zone  *time.Location // of times without a zone; nil = they are refused
}

// maxSamples bounds a recording: a day of eight GPUs at six a second.
const maxSamples = 5_000_000

// Error is a line that is not as it should be.
type Error struct {
	Line int // from 1; 0 = the file as a whole
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

func fail(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// Recording is what was read, ready to be written as a trace.
type Recording struct {
	meter   string
	devices []trace.Device
	chans   []trace.Channel
	missing []trace.Missing
	at      map[trace.Channel]int // without Source and Range
	last    []int                 // by channel: its last sample
	samples []sample
	states  []state
	now     map[string]trace.State // by device: the last one noted
}

type sample struct {
	at      int64 // ns since 1970
	channel int
	v       int64
	code    string
}

type state struct {
	at int64
	trace.State
}

func newRecording(o Options, from string) *Recording {
	return &Recording{meter: strings.TrimSpace(o.Meter + ", import of " + from), at: map[trace.Channel]int{}, now: map[string]trace.State{}}
}

// device adds one unless it is there, and fills in what was not known of it.
func (r *Recording) device(d trace.Device) error {
	d.Name = clip(d.Name)
	for i, there := range r.devices {
		if there.ID != d.ID {
			continue
		}
		if there.Kind != d.Kind {
			return fmt.Errorf("%s is of two kinds, %s and %s", clip(d.ID), there.Kind, d.Kind)
		}
		r.devices[i].Name = cmp.Or(there.Name, d.Name)
		return nil
	}
	if len(r.devices) >= trace.MaxDevices {
		return fmt.Errorf("more than %d devices", trace.MaxDevices)
	}
	for _, there := range r.devices {
		if there.Kind == d.Kind {
			d.Index++
		}
	}
	r.devices = append(r.devices, d)
	return nil
}

// put notes one reading. A channel is one of device, domain, quantity and unit. Its
// time never goes back, and it has one value at a time.
func (r *Recording) put(c trace.Channel, at, v int64, code string) error {
	key := c
	key.Source, key.Range = "", 0
	n, there := r.at[key]
	if !there {
		if n = len(r.chans); n >= trace.MaxChannels {
			return fmt.Errorf("more than %d channels", trace.MaxChannels)
		}
		r.at[key] = n
		r.chans = append(r.chans, c)
		r.last = append(r.last, -1)
	}
	if c.Range != 0 && r.chans[n].Range != c.Range {
		return fmt.Errorf("%s has two ranges", name(c))
	}
	if before := r.last[n]; before >= 0 {
		switch p := r.samples[before]; {
		case p.at > at:
			return fmt.Errorf("the time of %s goes back: a clock that was set, or rows out of order", name(c))
		case p.at == at && (p.v != v || p.code != code):
			return fmt.Errorf("two values of %s at one moment: the times are too coarse", name(c))
		case p.at == at:
			return nil
		}
	}
	if len(r.samples) >= maxSamples {
		return fmt.Errorf("more than %d values", maxSamples)
	}
	r.last[n] = len(r.samples)
	r.samples = append(r.samples, sample{at, n, v, code})
	return nil
}

func name(c trace.Channel) string {
	return clip(string(c.Quantity) + " of " + c.Device)
}

// state notes what a device is like when that is something new.
func (r *Recording) state(at int64, s trace.State) {
	s.Driver = clip(s.Driver)
	if before, ok := r.now[s.Device]; ok && same(before, s) {
		return
	}
	r.now[s.Device] = s
	r.states = append(r.states, state{at, s})
}

func same(a, b trace.State) bool {
	return a.Driver == b.Driver && equal(a.MIG, b.MIG) && equal(a.LimitMW, b.LimitMW) && equal(a.Processes, b.Processes) && slices.Equal(a.Unknown, b.Unknown)
}

func equal[X comparable](a, b *X) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Write writes the trace. Its zero is the first moment. It puts the readings in the
// order of time: nothing is added afterwards.
func (r *Recording) Write(to io.Writer) error {
	zero, end := r.samples[0].at, r.samples[0].at
	for _, s := range r.samples {
		zero, end = min(zero, s.at), max(end, s.at)
	}
	w, err := trace.NewWriter(to, trace.Header{Meter: r.meter, Made: "import", WallNS: zero, Devices: r.devices, Channels: r.chans, Missing: r.missing})
	if err != nil {
		return err
	}
	if err := w.Sync(0, zero); err != nil {
		return err
	}
	slices.SortStableFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	states, gap, before := slices.Clone(r.states), int64(0), zero
	slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(a.at, b.at) })
	for _, s := range r.samples {
		for len(states) > 0 && states[0].at <= s.at {
			if err := w.State(max(0, states[0].at-zero), states[0].State); err != nil {
				return err
			}
			states = states[1:]
		}
		gap, before = max(gap, s.at-before), s.at
		if err := w.Sample(s.channel, s.at-zero, s.v, s.code); err != nil {
			return err
		}
	}
	if err := w.Sync(end-zero, end); err != nil {
		return err
	}
	return w.End(end-zero, trace.End{Why: "input-ended", MaxGap: gap})
}

// Samples is how many readings there are, and Length how long they go on.
func (r *Recording) Samples() int { return len(r.samples) }

// Length is the time between the first reading and the last.
func (r *Recording) Length() time.Duration {
	first, last := r.samples[0].at, r.samples[0].at
	for _, s := range r.samples {
		first, last = min(first, s.at), max(last, s.at)
	}
	return time.Duration(last - first)
}

// done refuses a recording without a value.
func (r *Recording) done() (*Recording, error) {
	if !slices.ContainsFunc(r.samples, func(s sample) bool { return s.code == "" }) {
		return nil, fail(0, "there is not one value in it")
	}
	return r, nil
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 80)], "") }
