package convert

import (
	"io"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/promtext"
	"github.com/cupel-dev/cupel/stages/trace"
)

// dcgmField is a metric of dcgm-exporter that is read.
type dcgmField struct {
	quantity trace.Quantity
	unit     string
	scale    int // power of ten from its own unit
}

// The violation counters are not among them: their unit is ns in one place and us in
// another. POWER_USAGE is what NVML averages over a second on Ampere and newer.
var dcgmFields = map[string]dcgmField{
	"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": {trace.Energy, "mJ", 0},
	"DCGM_FI_DEV_POWER_USAGE":              {trace.PowerAverage, "mW", 3},
	"DCGM_FI_DEV_POWER_USAGE_INSTANT":      {trace.Power, "mW", 3},
	"DCGM_FI_DEV_GPU_TEMP":                 {trace.Temperature, "mC", 3},
}

// Scrape is a text with its name, and its moment when it has one.
type Scrape struct {
	Name string
	At   string // "" = it is in the text
	Text io.Reader
}

// dcgm is a recording of scrapes.
type dcgm struct {
	o     Options
	out   *Recording
	at    int64                // of the scrape, 0 = not known yet
	seen  map[string]dcgmValue // of this scrape: UUID and field
	gpus  map[string]gpuState  // of this scrape
	order []string
}

type dcgmValue struct {
	v    int64
	code string
	mig  bool
}

type gpuState struct {
	driver string
	mig    bool
}

// DCGM reads what a dcgm-exporter answered, time after time: texts of the Prometheus
// format, each with its moment before it, as a comment or a line of its own
// (# 2026-11-30T10:00:00Z), or as the name of its file, or on its metrics. Under MIG
// each instance repeats the counter of the whole GPU: it is taken once, and noted.
func DCGM(scrapes []Scrape, o Options) (*Recording, error) {
	d := &dcgm{o: o, out: newRecording(o, "dcgm-exporter")}
	for _, s := range scrapes {
		if err := d.scrape(s); err != nil {
			if e, ok := err.(*Error); ok && len(scrapes) > 1 {
				e.Msg = clip(s.Name) + ": " + e.Msg
			}
			return nil, err
		}
	}
	return d.out.done()
}

func (d *dcgm) scrape(s Scrape) error {
	d.begin(0)
	if s.At != "" {
		at, err := moment(s.At, d.o, 0)
		if err != nil {
			return err
		}
		d.begin(at)
	}
	l := newLines(s.Text)
	for {
		line, err := l.next()
		if err == io.EOF || err == nil && l.cut {
			d.end()
			return nil
		}
		if err != nil {
			return err
		}
		if err := d.line(strings.TrimSpace(line), l.n); err != nil {
			return err
		}
	}
}

func (d *dcgm) begin(at int64) {
	d.end()
	d.at, d.seen, d.gpus, d.order = at, map[string]dcgmValue{}, map[string]gpuState{}, nil
}

// end notes what the scrape said of its GPUs besides readings.
func (d *dcgm) end() {
	for _, id := range d.order {
		g := d.gpus[id]
		s := trace.State{Device: id, Driver: g.driver, Unknown: []trace.Unread{{Field: "processes", Reason: hardware.NotSaid}, {Field: "limit_mw", Reason: hardware.NotSaid}}}
		if g.mig {
			s.MIG = new(true)
		} else {
			s.Unknown = append(s.Unknown, trace.Unread{Field: "mig", Reason: hardware.NotSaid})
		}
		d.out.state(d.at, s)
	}
	d.order = nil
}

func (d *dcgm) line(line string, n int) error {
	switch at, ok, err := d.stamp(line); {
	case err != nil:
		return fail(n, "%v", err)
	case ok:
		d.begin(at)
		return nil
	case line == "", strings.HasPrefix(line, "#"):
		return nil
	}
	m, err := promtext.Parse(line)
	if err != nil {
		return fail(n, "%v", err)
	}
	f, ok := dcgmFields[m.Name]
	if !ok {
		return nil
	}
	return d.metric(m, f, n)
}

// stamp reads a line that says when what follows was scraped: the moment alone, or
// behind # and perhaps a word such as time.
func (d *dcgm) stamp(line string) (at int64, ok bool, err error) {
	text := strings.TrimSpace(strings.TrimLeft(line, "# "))
	for _, word := range []string{"timestamp", "scraped", "time", "at"} {
		text = strings.TrimLeft(strings.TrimPrefix(text, word), " :=")
	}
	at, err = parse.Stamp(text, d.o.Zone)
	if err == parse.ErrNoZone {
		_, err := moment(text, d.o, 0)
		return 0, false, err
	}
	return at, err == nil, nil
}

func (d *dcgm) metric(m promtext.Sample, f dcgmField, n int) error {
	id := promtext.Get(m.Labels, "UUID")
	if !strings.HasPrefix(id, "GPU-") || !word(id) {
		return fail(n, "%s has no UUID of a GPU", m.Name)
	}
	if m.Stamp != "" {
		own, err := moment(m.Stamp, d.o, n)
		if err != nil {
			return err
		}
		if own != d.at {
			d.begin(own)
		}
	}
	if d.at == 0 {
		return fail(n, "a metric without a moment: put a line such as # 2026-11-30T10:00:00Z before each scrape, or make it the name of the file")
	}
	v, err := dcgmNumber(m.Text, f.scale)
	if err != nil {
		return fail(n, "%q is no value of %s", clip(m.Text), m.Name)
	}
	v.mig = promtext.Get(m.Labels, "GPU_I_ID") != ""
	return d.note(m, f, v, n)
}

// note keeps the first of the rows that tell one GPU's number in one scrape.
func (d *dcgm) note(m promtext.Sample, f dcgmField, v dcgmValue, n int) error {
	id := promtext.Get(m.Labels, "UUID")
	if err := d.out.device(trace.Device{ID: id, Kind: trace.GPU, Name: promtext.Get(m.Labels, "modelName")}); err != nil {
		return fail(n, "%v", err)
	}
	g, there := d.gpus[id]
	if !there {
		d.order = append(d.order, id)
	}
	d.gpus[id] = gpuState{driver: promtext.Get(m.Labels, "DCGM_FI_DRIVER_VERSION"), mig: g.mig || v.mig}
	key := id + " " + m.Name
	switch before, twice := d.seen[key]; {
	case twice && before.v == v.v && before.code == v.code, twice && v.mig:
		return nil
	case twice:
		return fail(n, "two values of %s of %s in one scrape", m.Name, clip(id))
	}
	d.seen[key] = v
	c := trace.Channel{Device: id, Domain: nvidiaDomain(promtext.Get(m.Labels, "modelName")), Quantity: f.quantity, Unit: f.unit, Source: "dcgm-exporter " + m.Name}
	if err := d.out.put(c, d.at, v.v, v.code); err != nil {
		return fail(n, "%v", err)
	}
	return nil
}

// Values that DCGM has for "none": integers from here on, and reals from here on.
const (
	dcgmBlankInt  = 0x7ffffffffffffff0
	dcgmBlankReal = 140737488355328_000 // times 1000
)

func dcgmNumber(s string, scale int) (dcgmValue, error) {
	v, err := parse.Decimal(s, scale)
	switch {
	case err != nil:
		return dcgmValue{}, err
	case scale == 0 && v >= dcgmBlankInt, scale > 0 && v >= dcgmBlankReal:
		return dcgmValue{code: hardware.NotSupported}, nil
	case v < 0:
		return dcgmValue{code: hardware.Implausible}, nil
	}
	return dcgmValue{v: v}, nil
}
