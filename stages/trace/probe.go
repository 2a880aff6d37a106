package trace

import (
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
)

// ProbeSchema names the form of a Probe and its version.
const ProbeSchema = "cupel/meter-probe/v1"

// MaxProbe is the longest document that is read, in bytes.
const MaxProbe = 4 << 20

// NoPeriod is the reason of a period that is not known: the number was not seen to
// change twice. It may change more seldom than it was looked at, or not at all.
const NoPeriod = "no-period"

// Probe is what a meter can read on a machine, and how often each number changes.
type Probe struct {
	Schema     string    `json:"schema"`
	Meter      string    `json:"meter"`       // what looked, and its version
	Hz         float64   `json:"hz"`          // looks a second that were intended
	DurationNS int64     `json:"duration_ns"` // how long it looked; 0 = it only listed
	Clock      Clock     `json:"clock"`
	System     string    `json:"system,omitempty"`
	Driver     string    `json:"driver,omitempty"`
	Devices    []Device  `json:"devices"`
	Channels   []Probed  `json:"channels"` // a base names one by its position here
	Missing    []Missing `json:"missing,omitempty"`
	None       *Missing  `json:"none,omitempty"` // why nothing can be read at all
	Bases      []Based   `json:"bases"`          // those that can be read here
}

// Probed is one channel and what was seen of it.
type Probed struct {
	Channel
	Period   Period         `json:"period"`
	Last     *int64         `json:"last"`               // in its unit; nil = it was never read
	Failures map[string]int `json:"failures,omitempty"` // by reason code
}

// Based is a base that can be read: a named set of domains whose joules are added up.
type Based struct {
	Base     string `json:"base"`
	Channels []int  `json:"channels"`         // that its joules come from
	PeriodNS *int64 `json:"period_ns"`        // of the slowest of them; nil: see Reason
	WindowNS *int64 `json:"window_1pct_ns"`   // in a window of this length its energy is known to 1 %
	Reason   string `json:"reason,omitempty"` // why there is no period: NoPeriod
}

// NewProbe is what a trace shows of its channels. Bases are the caller's to add,
// with Base.
func NewProbe(t *Trace) *Probe {
	p := &Probe{
		Schema: ProbeSchema, Meter: t.Meter, Hz: t.Hz, DurationNS: t.LastT, Clock: t.Clock, System: t.System, Driver: t.Driver,
		Devices: append([]Device{}, t.Devices...), Channels: []Probed{}, Missing: t.Missing, None: t.None, Bases: []Based{},
	}
	for i, c := range t.Channels {
		of := Probed{Channel: c}
		if i < len(t.Samples) {
			of.Period = t.Period(i, 0, t.LastT)
			of.see(t.Samples[i])
		}
		p.Channels = append(p.Channels, of)
	}
	return p
}

func (p *Probed) see(samples []Sample) {
	for _, s := range samples {
		if s.E == "" {
			p.Last = &s.V
			continue
		}
		if p.Failures == nil {
			p.Failures = map[string]int{}
		}
		p.Failures[s.E]++
	}
}

// Base adds a base whose joules come from these channels. window is the length of a
// window in which a counter of that period is good for 1 %.
func (p *Probe) Base(name string, channels []int, window func(period int64) int64) {
	b := Based{Base: name, Channels: channels}
	var slowest int64
	for _, i := range channels {
		mean := p.Channels[i].Period.Mean
		if mean == 0 {
			b.Reason = NoPeriod
		}
		slowest = max(slowest, mean)
	}
	if b.Reason == "" {
		b.PeriodNS, b.WindowNS = new(slowest), new(window(slowest))
	}
	p.Bases = append(p.Bases, b)
}

// ReadProbe reads what a meter printed. Names that it does not know are those of a
// newer meter; what cannot be true is an error.
func ReadProbe(r io.Reader) (*Probe, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxProbe+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxProbe {
		return nil, fmt.Errorf("longer than %d bytes", MaxProbe)
	}
	p := &Probe{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("not JSON of the form that is expected: %s", short(err))
	}
	if p.Schema != ProbeSchema {
		return nil, fmt.Errorf("its schema is %q, and %s is read", clip(p.Schema), ProbeSchema)
	}
	if msg := p.check(); msg != "" {
		return nil, fmt.Errorf("%s", msg)
	}
	return p, nil
}

// check returns what is wrong, "" = nothing.
func (p *Probe) check() string {
	h := Header{Hz: p.Hz, Clock: p.Clock, Devices: p.Devices}
	for _, c := range p.Channels {
		h.Channels = append(h.Channels, c.Channel)
	}
	if msg := h.check(); msg != "" {
		return msg
	}
	if p.DurationNS < 0 {
		return fmt.Sprintf("it looked for %d ns", p.DurationNS)
	}
	for i, c := range p.Channels {
		if msg := c.check(); msg != "" {
			return fmt.Sprintf("channel %d %s", i, msg)
		}
	}
	for i, b := range p.Bases {
		if msg := b.check(len(p.Channels)); msg != "" {
			return fmt.Sprintf("base %d %s", i, msg)
		}
	}
	return ""
}

func (p *Probed) check() string {
	q := p.Period
	if q.Mean < 0 || q.Max < q.Mean || q.Ticks < 0 || q.Looks < q.Ticks || q.Look < 0 || q.Mean > 0 && q.Ticks < 2 {
		return "has a period that cannot be"
	}
	for code, n := range p.Failures {
		if !plain(code) || n < 1 {
			return "has failures that cannot be"
		}
	}
	return ""
}

func (b *Based) check(channels int) string {
	there := func(i int) bool { return 0 <= i && i < channels }
	switch {
	case !plain(b.Base):
		return "has no name"
	case len(b.Channels) == 0 || slices.ContainsFunc(b.Channels, func(i int) bool { return !there(i) }):
		return "is of channels that are not there"
	case (b.PeriodNS == nil) != (b.WindowNS == nil) || (b.PeriodNS == nil) == (b.Reason == ""):
		return "has a period or a reason, and not both"
	case b.PeriodNS != nil && (*b.PeriodNS <= 0 || *b.WindowNS < *b.PeriodNS):
		return "has a period that cannot be"
	case b.Reason != "" && !plain(b.Reason):
		return "has no reason"
	}
	return ""
}
