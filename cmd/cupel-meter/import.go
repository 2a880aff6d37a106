package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/meter/convert"
	"github.com/cupel-dev/cupel/stages/meter/parse"
)

// importOptions are the flags of cupel-meter import.
type importOptions struct {
	sampleOptions        // where the trace goes
	utcOffset     string // of local times
}

// format is one that import reads.
type format struct {
	name, what string
	read       reader
}

// reader reads a file, or a folder.
type reader func(file string, o convert.Options) (*convert.Recording, error)

var formats = []format{
	{"nvidia-smi", "nvidia-smi --query-gpu=timestamp,uuid,power.draw.instant --format=csv -lms 50", oneFile(convert.NvidiaSMI)},
	{"dcgm", "scrapes of dcgm-exporter: a file with a moment before each, or a folder of files named by theirs", dcgmFiles},
	{"wall", "CSV of a meter at the wall: time, and W, kW, Wh or kWh by the header", oneFile(convert.Wall)},
	{"csv", "time,device,domain,quantity,unit,value", oneFile(convert.Table)},
}

func (m *meter) importCmd() *cobra.Command {
	var o importOptions
	var list strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&list, "  %-12s %s\n", f.name, f.what)
	}
	c := &cobra.Command{
		Use:   "import FORMAT FILE",
		Short: "make a trace of what another program recorded",
		Long: `Read what another program recorded and write a trace (cupel/energy-trace/v1). Formats:

` + list.String() + `
A time without a zone is refused, unless --utc-offset says whose it is. What a file does
not tell, such as processes on a GPU, is unknown in the trace too.

` + exitCodeTable,
		Example: "  cupel-meter import nvidia-smi smi.csv --utc-offset +02:00 --out energy.trace.jsonl\n  cupel-meter import wall meter.csv --out wall.trace.jsonl",
		Args:    cobra.ExactArgs(2),
		RunE:    func(c *cobra.Command, args []string) error { return m.importFile(args[0], args[1], o) },
	}
	f := c.Flags()
	f.StringVar(&o.utcOffset, "utc-offset", "", "of times that have no zone, such as +02:00 or Z")
	f.StringVar(&o.out, "out", "", "a new file for the trace; without it, standard output")
	f.BoolVar(&o.force, "force", false, "let --out overwrite a file")
	return c
}

func (m *meter) importFile(from, file string, o importOptions) (err error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == from })
	if i < 0 {
		return fmt.Errorf("there is no format %q: want nvidia-smi, dcgm, wall or csv", from)
	}
	co := convert.Options{Meter: "cupel-meter " + version}
	if o.utcOffset != "" {
		if co.Zone, err = parse.Zone(o.utcOffset); err != nil {
			return fmt.Errorf("--utc-offset %q: %w", o.utcOffset, err)
		}
	}
	r, err := formats[i].read(file, co)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	to, done, err := m.create(o.sampleOptions)
	if err != nil {
		return err
	}
	err = step.Mark(errOutside, r.Write(to))
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	fmt.Fprintf(m.stderr, "cupel-meter: %d values over %s\n", r.Samples(), r.Length())
	return nil
}

// oneFile reads a regular file.
func oneFile(read func(io.Reader, convert.Options) (*convert.Recording, error)) reader {
	return func(name string, o convert.Options) (*convert.Recording, error) {
		f, err := openRegular(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return read(f, o)
	}
}

// openRegular opens a file, and neither a folder nor a pipe.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, diskfile.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	return f, nil
}
