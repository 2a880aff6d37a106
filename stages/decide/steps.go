package decide

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Kind names the runner. Revision is raised when the same record would now be
// decided differently.
const (
	Kind     = "decide"
	Revision = 8
)

const inputRecord = "record"

// Steps is the one step of this stage. The spec hash is not among its
// parameters, because it stands in the record.
func Steps(c *spec.Campaign) []step.Step {
	params, err := json.Marshal(PolicyOf(c))
	if err != nil {
		params = json.RawMessage(`{}`) // a Policy is plain data; an empty one decides nothing
	}
	return []step.Step{{
		Name: evidence.DecideStep, Kind: Kind, Revision: Revision, Params: params, Pure: true,
		Inputs: map[string]step.Input{inputRecord: {Step: evidence.RecordStep, Output: evidence.OutRecord}},
	}}
}

// Run reads the record and writes the decision. A fail is an output, not an
// error.
func Run(_ context.Context, job step.Job) error {
	var p Policy
	if err := job.Params(&p); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	r, err := readRecord(job)
	if err != nil {
		return fmt.Errorf("decide: %s: %w", evidence.OutRecord, err)
	}
	d := Decide(p, r, job.InputDigest(inputRecord))
	for _, c := range d.Candidates {
		job.Logf("%s: %s (%s)", c.Candidate, c.Verdict, c.Why)
	}
	return write(job, d)
}

func readRecord(job step.Job) (*evidence.Record, error) {
	in, err := job.Open(inputRecord)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(in) // to the end, so that the content is verified
	if err != nil {
		return nil, err
	}
	r := new(evidence.Record)
	return r, json.Unmarshal(b, r)
}

func write(job step.Job, d evidence.Decision) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	return step.Write(job, evidence.OutDecision, "application/json", b.Bytes())
}
