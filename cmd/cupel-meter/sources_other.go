package main

import (
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// otherSources opens what needs no NVML. There is nothing yet.
func otherSources(sourceOptions) ([]source.Source, []trace.Missing, error) { return nil, nil, nil }
