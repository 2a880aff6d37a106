package publish

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/judge"
)

// judgeSources are what the record holds of judges: who they are, how they agree
// with people, and every reply.
func judgeSources(c *spec.Campaign) (out []source) {
	add := func(what, name, stepName, output string) {
		out = append(out, source{Input: fmt.Sprintf("%s:%s", stepName, output), What: what, Judge: name, Step: stepName, Output: output})
	}
	replies := func(name, stepName string, q *spec.Quality) {
		add("raw", name, stepName, evidence.OutJudgements)
		out[len(out)-1].HeldOut = q != nil && q.Split == spec.SplitHeldOut
		add("raw", name, stepName, evidence.OutTimings)
		add("raw", name, stepName, evidence.OutKept)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Judges)) {
		add("pin", name, evidence.PinStep(name), evidence.OutPin)
		add("hardware", name, evidence.PinStep(name), evidence.OutHardware)
		if c.Judges[name].Labels != nil {
			replies(name, evidence.LabelsStep(name), nil)
			add("calibration", name, evidence.CalibrationStep(name), evidence.OutCalibration)
		}
	}
	for _, wl := range slices.Sorted(maps.Keys(c.Measure)) {
		w := c.Measure[wl]
		if w.Quality != nil {
			if name, ok := judge.Of(c, w.Quality); ok {
				for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
					replies(name, evidence.JudgeStep(cand, wl, name, 1), w.Quality)
				}
			}
		}
		if n := w.NoiseFloor; n != nil && c.Measure[n.Suite].Quality != nil {
			if name, ok := judge.Of(c, c.Measure[n.Suite].Quality); ok {
				replies(name, evidence.JudgeStep(n.Candidate, n.Suite, name, 2), c.Measure[n.Suite].Quality)
			}
		}
	}
	return out
}

func (b *builder) addJudge(s source, d step.Digest) error {
	j := b.rec.Judges[s.Judge]
	switch s.What {
	case "pin":
		j.Pin = new(evidence.PinDoc)
		if err := readJSON(b.job, s.Input, j.Pin); err != nil {
			return err
		}
	case "hardware":
		j.Hardware = new(hardware.Doc)
		if err := readJSON(b.job, s.Input, j.Hardware); err != nil {
			return err
		}
	case "calibration":
		j.Calibration = new(judge.Calibration)
		if err := readJSON(b.job, s.Input, j.Calibration); err != nil {
			return err
		}
		j.Calibration.Rows = nil // they stand in the evidence, as replies
	case "raw":
		b.rec.Evidence = append(b.rec.Evidence, evidence.EvidenceFile{Step: s.Step, Output: s.Output, Digest: d, HeldOut: s.HeldOut})
		if s.Output == evidence.OutTimings {
			return b.times(s)
		}
		return nil
	}
	if b.rec.Judges == nil {
		b.rec.Judges = map[string]evidence.JudgeRecord{}
	}
	b.rec.Judges[s.Judge] = j
	return nil
}
