package measure

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// LookAtMeter says what the meter beside a candidate can read, and what is doubtful
// about it.
type LookAtMeter func(ctx context.Context, candidate string) (doc evidence.MeterDoc, note string, err error)

// Run writes meter.json. Its error marks a meter that was asked for and does not
// answer; one that nobody asked for and is not there is a reason in the document.
func (look LookAtMeter) Run(ctx context.Context, job step.Job) error {
	doc, note, err := look(ctx, job.Step().Where)
	if err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	if note != "" {
		job.Note("%s", note)
	}
	if doc.Reads == nil {
		doc.Reads = []evidence.MeterReads{}
	}
	return step.WriteJSON(job, evidence.OutMeter, doc)
}

// meterParams: the meters of two candidates are two, even where nothing differs.
type meterParams struct {
	Of string `json:"of"`
}

// meterStep looks at the meter beside a candidate. What it sees is in the key of the
// cells: what was measured without a meter is measured again when there is one.
func meterStep(cand string) step.Step {
	return step.Step{
		Name: evidence.MeterStep(cand), Kind: KindMeter, Revision: meterRevision,
		Params: plain(meterParams{cand}), Where: cand, Observes: true,
	}
}

func hasEnergy(c *spec.Campaign) bool {
	for _, w := range c.Measure {
		if w.Energy != nil {
			return true
		}
	}
	return false
}
