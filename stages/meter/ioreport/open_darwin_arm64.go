package ioreport

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Open subscribes to the energy counters of this Mac's chip. NOT TESTED on a Mac.
func Open() (source.Source, []trace.Missing) {
	l, err := load()
	if err != nil {
		return nil, none(err)
	}
	dict, err := l.all()
	if err != nil {
		return nil, none(err)
	}
	defer l.release(dict)
	listKey := l.makeString(0, "IOReportChannels", utf8)
	if listKey == 0 {
		return nil, none(errors.New("no memory for a string"))
	}
	list := l.list(dict, listKey)
	chip, _ := unix.Sysctl("machdep.cpu.brand_string")
	s, missing := newReader(chip, list, func(chosen []Chosen) (sampler, error) {
		return newSubscription(l, dict, listKey, list, chosen)
	})
	if s == nil {
		l.release(listKey)
	}
	return s, missing
}

func none(err error) []trace.Missing {
	reason := hardware.NotReadable
	if _, ok := errors.AsType[*missingSymbol](err); ok {
		reason = hardware.MissingSymbol
	}
	return []trace.Missing{{Device: device, What: "libIOReport", Reason: reason, Detail: err.Error()}}
}
