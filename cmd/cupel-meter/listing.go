package main

import (
	"context"

	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// listing is what probe --for 0 prints.
func (m *meter) listing(ctx context.Context, sources []source.Source, missing []trace.Missing) (any, error) {
	t, err := m.look(ctx, sources, missing, sampleOptions{})
	if err != nil {
		return nil, err
	}
	p := trace.NewProbe(t)
	addBases(p, t)
	return p, nil
}
