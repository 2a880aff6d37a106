package pin

import (
	"context"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
)

// Observe asks an endpoint what it is and what it runs on, and holds that against
// what is declared. That they differ is no error here; see [Wrong] and [Unpinned].
func Observe(ctx context.Context, ep Identifier, c spec.Candidate) (evidence.PinDoc, hardware.Seen, error) {
	id, err := ep.Identity(ctx)
	if err != nil {
		return evidence.PinDoc{}, hardware.Seen{}, err
	}
	probe, err := ep.Probe(ctx)
	if err != nil {
		return evidence.PinDoc{}, hardware.Seen{}, err
	}
	c = declared(c)
	doc := evidence.PinDoc{Declared: c, Observed: id, Probe: probe, Fields: compare(c, id, probe)}
	seen, err := observeHardware(ctx, ep, &doc)
	return doc, seen, err
}
