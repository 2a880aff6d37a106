package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/meter/ioreport"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// systemRoot is the folder that stands for / when none is named.
const systemRoot = "/"

// otherSources opens what needs no NVML: RAPL, hwmon, the load average, IOReport on a
// Mac, and a meter at the wall that was named. What is not there is missing, with the
// reason; a wall meter that was named and is not there is an error. The caller closes
// what is returned, also with an error.
func otherSources(o sourceOptions) (out []source.Source, missing []trace.Missing, err error) {
	add := func(s source.Source, why []trace.Missing) {
		if s != nil {
			out = append(out, s)
		}
		missing = append(missing, why...)
	}
	if o.RAPL != off {
		add(source.RAPL(rootOf(o.RAPL)))
	}
	if o.Hwmon != off {
		add(source.Hwmon(rootOf(o.Hwmon)))
	}
	if o.RAPL != off || o.Hwmon != off { // with both off, none of the system's own numbers is read
		add(source.Load(loadRoot(o.RAPL)))
		if runtime.GOOS == "darwin" {
			add(ioreport.Open())
		}
	}
	if o.Wall == "" {
		return out, missing, nil
	}
	s, why, err := wallSource(o.Wall)
	if err != nil {
		return out, missing, err
	}
	add(s, why)
	return out, missing, nil
}

func rootOf(flag string) string {
	if flag == "" {
		return systemRoot
	}
	return flag
}

// loadRoot: a root folder of another machine's files has its load average too.
func loadRoot(rapl string) string {
	if rapl == "" || rapl == off {
		return systemRoot
	}
	return rapl
}

// wallSource opens a meter's lines. A file is followed while it grows; a pipe and
// standard input end.
func wallSource(name string) (source.Source, []trace.Missing, error) {
	if name == "-" {
		s, missing := source.Wall(os.Stdin, source.WallOptions{})
		return s, missing, nil
	}
	f, err := openNow(name)
	if err != nil {
		return nil, nil, step.Mark(errOutside, fmt.Errorf("--wall %s: %w", name, diskfile.Cause(err)))
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		f.Close()
		return nil, nil, step.Mark(errOutside, fmt.Errorf("--wall %s: %w", name, diskfile.Cause(err)))
	}
	s, missing := source.Wall(f, source.WallOptions{Follow: info.Mode().IsRegular()})
	return s, missing, nil
}
