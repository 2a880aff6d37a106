package pin

import (
	"context"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Observe asks an endpoint what it is and holds that against what is declared.
// That they differ is no error here; see [Wrong] and [Unpinned].
func Observe(ctx context.Context, ep Identifier, c spec.Candidate) (evidence.PinDoc, error) {
	id, err := ep.Identity(ctx)
	if err != nil {
		return evidence.PinDoc{}, err
	}
	probe, err := ep.Probe(ctx)
	if err != nil {
		return evidence.PinDoc{}, err
	}
	c = declared(c)
	return evidence.PinDoc{Declared: c, Observed: id, Probe: probe, Fields: compare(c, id, probe)}, nil
}
