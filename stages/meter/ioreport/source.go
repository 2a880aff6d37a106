package ioreport

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// device is the one that all rails belong to.
const device = "soc"

// sampler is IOReport, subscribed to the channels that were chosen, in their order.
type sampler interface {
	// sample reads all channels once. An error code stands for all of them.
	sample() (values []sampled, code string)
	// pressure is the level of thermal pressure, from 0 = none to 4.
	pressure() (level uint64, code string)
	close() error
}

// sampled is what one channel said.
type sampled struct {
	value int64
	code  string // why there is no value
	age   int64  // ns since the driver wrote it
	aged  bool   // it says so
}

// reader is a Source of one sampler. Its channels are the energies, then their ages,
// then the speed limit.
type reader struct {
	chip    string
	list    []Channel
	chosen  []Chosen
	missing []trace.Missing
	s       sampler
}

// pressureSource says that the percentage is a level: macOS tells five of them, and
// asiai writes them as 100, 80, 50, 25 and 10. Only "below 100" is a fact.
const pressureSource = "com.apple.system.thermalpressurelevel, five levels as percentages"

// percent are those levels.
var percent = []int64{100, 80, 50, 25, 10}

func (r *reader) Describe() source.Description {
	d := source.Description{Devices: []trace.Device{{ID: device, Kind: trace.Machine, Name: r.chip}}, Missing: r.missing}
	for _, c := range r.chosen {
		d.Channels = append(d.Channels, trace.Channel{Device: device, Domain: c.Domain, Quantity: trace.Energy, Unit: c.Unit, Source: group + "/" + r.list[c.At].Name})
	}
	for _, c := range r.chosen {
		d.Channels = append(d.Channels, trace.Channel{Device: device, Domain: c.Domain, Quantity: trace.Age, Unit: "ns", Source: group + "/" + r.list[c.At].Name})
	}
	d.Channels = append(d.Channels, trace.Channel{Device: device, Domain: trace.System, Quantity: trace.SpeedLimit, Unit: "percent", Source: pressureSource})
	return d
}

// Read hands on what is there. A value that did not move is handed on too: whether a
// counter has stopped is seen from a whole recording.
func (r *reader) Read(put source.Put) {
	values, code := r.s.sample()
	for i := range r.chosen {
		v := sampled{code: code}
		switch {
		case code != "":
		case i < len(values):
			v = values[i]
		default:
			v.code = hardware.NotReadable
		}
		r.put(put, i, v)
	}
	level, code := r.s.pressure()
	if code == "" && level >= uint64(len(percent)) {
		code = hardware.Implausible
	}
	if code != "" {
		put(2*len(r.chosen), 0, code)
		return
	}
	put(2*len(r.chosen), percent[level], "")
}

func (r *reader) put(put source.Put, i int, v sampled) {
	if v.code == "" && v.value < 0 {
		v.code = hardware.Implausible
	}
	if v.code != "" {
		put(i, 0, v.code)
		put(len(r.chosen)+i, 0, v.code)
		return
	}
	put(i, v.value, "")
	if !v.aged {
		put(len(r.chosen)+i, 0, hardware.NotSaid)
		return
	}
	put(len(r.chosen)+i, v.age, "")
}

func (r *reader) States() []trace.State { return nil }

func (r *reader) Close() error { return r.s.close() }

// newReader makes a source of what was listed, or says why there is none.
func newReader(chip string, list []Channel, subscribe func(chosen []Chosen) (sampler, error)) (source.Source, []trace.Missing) {
	chosen, missing := Choose(list)
	if len(chosen) == 0 {
		return nil, missing
	}
	s, err := subscribe(chosen)
	if err != nil {
		return nil, append(missing, trace.Missing{Device: device, What: group, Reason: hardware.NotReadable, Detail: strings.ToValidUTF8(err.Error(), "?")})
	}
	return &reader{chip, list, chosen, missing, s}, nil
}
