package convert

import (
	"cmp"
	"io"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/trace"
)

// smiReading is a column of nvidia-smi that is a reading.
type smiReading struct {
	names    []string
	quantity trace.Quantity
	unit     string // a thousandth of the column's
	column   int
}

// power.draw is the mean of the last second on Ampere and newer (not on GA100) and
// instantaneous before. Which of the two a file has is not in it, so it is taken for
// the one of which no energy is made.
var smiReadings = []smiReading{
	{names: []string{"power.draw.instant"}, quantity: trace.Power, unit: "mW"},
	{names: []string{"power.draw.average", "power.draw"}, quantity: trace.PowerAverage, unit: "mW"},
	{names: []string{"temperature.gpu"}, quantity: trace.Temperature, unit: "mC"},
}

// smi is one file of nvidia-smi. Columns are -1 when they are not there.
type smi struct {
	*table
	o        Options
	out      *Recording
	readings []smiReading

	time, uuid, name, driver, mig, limit int
}

// NvidiaSMI reads what this printed, with or without units:
//
//	nvidia-smi --query-gpu=timestamp,uuid,power.draw.instant --format=csv -lms 50
//
// It prints local times without a zone, so Options.Zone is needed.
func NvidiaSMI(r io.Reader, o Options) (*Recording, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	s := &smi{table: t, o: o, out: newRecording(o, "nvidia-smi")}
	if err := s.columns(); err != nil {
		return nil, err
	}
	t.ends = true
	if err := t.each(s.take); err != nil {
		return nil, err
	}
	return s.out.done()
}

// columns finds them: "power.draw.instant [W]" is power.draw.instant.
func (s *smi) columns() error {
	for i, cell := range s.header {
		if _, err := parse.Decimal(cell, 0); err == nil {
			return fail(s.n, "there is no header: leave noheader out of --format")
		}
		bare, _, _ := strings.Cut(cell, " [")
		s.header[i] = bare
	}
	s.time, s.uuid = s.column("timestamp"), s.column("uuid", "gpu_uuid")
	s.name, s.driver, s.mig, s.limit = s.column("name", "gpu_name"), s.column("driver_version"), s.column("mig.mode.current"), s.column("enforced.power.limit", "power.limit")
	for _, r := range smiReadings {
		if r.column = s.column(r.names...); r.column >= 0 {
			s.readings = append(s.readings, r)
		}
	}
	switch {
	case s.time < 0, s.uuid < 0:
		return fail(s.n, "the columns timestamp and uuid are needed: --query-gpu=timestamp,uuid,power.draw.instant")
	case len(s.readings) == 0:
		return fail(s.n, "there is no column of power: --query-gpu=timestamp,uuid,power.draw.instant")
	}
	return nil
}

func (s *smi) cell(row []string, column int) string {
	if column < 0 || smiNone(row[column]) != "" {
		return ""
	}
	return row[column]
}

func (s *smi) take(row []string) error {
	at, err := moment(row[s.time], s.o, s.n)
	if err != nil {
		return err
	}
	id := row[s.uuid]
	if !strings.HasPrefix(id, "GPU-") || !word(id) {
		return fail(s.n, "%q is no UUID of a GPU", clip(id))
	}
	if err := s.out.device(trace.Device{ID: id, Kind: trace.GPU, Name: s.cell(row, s.name)}); err != nil {
		return fail(s.n, "%v", err)
	}
	domain := nvidiaDomain(s.cell(row, s.name))
	for _, r := range s.readings {
		v, code, ok := smiValue(row[r.column])
		if !ok {
			return fail(s.n, "%q is no %s", clip(row[r.column]), r.quantity)
		}
		c := trace.Channel{Device: id, Domain: domain, Quantity: r.quantity, Unit: r.unit, Source: "nvidia-smi " + s.header[r.column]}
		if err := s.out.put(c, at, v, code); err != nil {
			return fail(s.n, "%v", err)
		}
	}
	s.out.state(at, s.stateOf(id, row))
	return nil
}

// stateOf reads what a row says of its GPU besides readings. Processes are not there.
func (s *smi) stateOf(id string, row []string) trace.State {
	st := trace.State{Device: id, Driver: s.cell(row, s.driver), Unknown: []trace.Unread{{Field: "processes", Reason: hardware.NotSaid}}}
	switch s.cell(row, s.mig) {
	case "Enabled":
		st.MIG = new(true)
	case "Disabled":
		st.MIG = new(false)
	default:
		st.Unknown = append(st.Unknown, trace.Unread{Field: "mig", Reason: hardware.NotSaid})
	}
	if mw, code, ok := smiValue(cmp.Or(s.cell(row, s.limit), "[N/A]")); ok && code == "" {
		st.LimitMW = &mw
	} else {
		st.Unknown = append(st.Unknown, trace.Unread{Field: "limit_mw", Reason: hardware.NotSaid})
	}
	return st
}

// smiValue reads "123.45 W", "123.45" or "[N/A]" and returns the number times 1000.
func smiValue(s string) (v int64, code string, ok bool) {
	if code := smiNone(s); code != "" {
		return 0, code, true
	}
	number, unit, _ := strings.Cut(s, " ")
	if unit != "" && unit != "W" && unit != "C" {
		return 0, "", false
	}
	v, err := parse.Decimal(number, 3)
	return v, "", err == nil && v >= -1_000_000 && v <= 1_000_000_000
}

// smiNone is the reason in a cell that has no value, "" = it has one.
func smiNone(s string) string {
	if s == "N/A" {
		return hardware.NotSupported
	}
	if !strings.HasPrefix(s, "[") {
		return ""
	}
	switch strings.Trim(s, "[]") {
	case "N/A", "Not Supported", "Requested functionality has been deprecated":
		return hardware.NotSupported
	case "GPU is lost", "GPU requires reset":
		return hardware.GPULost
	case "Insufficient Permissions":
		return hardware.NoPermission
	}
	return hardware.NVMLError
}

// superchips are modules of a Grace processor and GPUs, whose numbers are those of
// the whole module. Of GB200 and GB300 that is taken to be so until somebody shows
// otherwise: a module's joules called a GPU's would be too many.
var superchips = []string{"GH200", "GB200", "GB300"}

func nvidiaDomain(name string) trace.Domain {
	for _, s := range superchips {
		if strings.Contains(name, s) {
			return trace.NVModule
		}
	}
	return trace.NVGPU
}
