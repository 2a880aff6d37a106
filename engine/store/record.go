package store

import (
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Outcomes of a step.
const (
	Done    = "done"
	Refused = "refused"
)

// Output is one named blob that a step made. Size is in bytes, uncompressed.
type Output struct {
	Name      string      `json:"name"`
	Digest    step.Digest `json:"digest"`
	Size      int64       `json:"size"`
	MediaType string      `json:"mediaType,omitzero"`
}

// Record is one completed execution of a step. Everything but Key, Outcome and
// Outputs is for people and for explain.
type Record struct {
	Format   int       `json:"format"` // set by the store
	Key      step.Key  `json:"key"`
	N        int       `json:"n"` // set by the store: 1, 2, ... within a key
	Kind     string    `json:"kind"`
	Name     string    `json:"name"`    // the step's name at the time
	Outcome  string    `json:"outcome"` // Done or Refused
	Reason   string    `json:"reason,omitzero"`
	Outputs  []Output  `json:"outputs"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Host     string    `json:"host,omitzero"`
	Version  string    `json:"version,omitzero"` // of cupel
	RunID    string    `json:"run,omitzero"`
	Observes bool      `json:"observes,omitzero"`
	Notes    []string  `json:"notes,omitzero"`
}

// Output returns the output called name.
func (r Record) Output(name string) (Output, bool) {
	for _, o := range r.Outputs {
		if o.Name == name {
			return o, true
		}
	}
	return Output{}, false
}

// check says what makes r unfit to be recorded or believed.
func (r Record) check() error {
	if r.Outcome != Done && r.Outcome != Refused {
		return fmt.Errorf("outcome %q is neither %q nor %q", r.Outcome, Done, Refused)
	}
	seen := make(map[string]bool, len(r.Outputs))
	for _, o := range r.Outputs {
		if o.Name == "" || seen[o.Name] {
			return fmt.Errorf("output name %q is empty or used twice", o.Name)
		}
		if o.Digest.IsZero() || o.Size < 0 {
			return fmt.Errorf("output %q has no digest or a negative size", o.Name)
		}
		seen[o.Name] = true
	}
	return nil
}

// encodeRecord gives r its number and returns the file.
func encodeRecord(r Record, n int) ([]byte, error) {
	r.Format, r.N = Format, n
	r.Started, r.Finished = r.Started.UTC(), r.Finished.UTC()
	return seal(r)
}

// decodeRecord reads the file of record n of key.
func decodeRecord(b []byte, key step.Key, n int) (Record, error) {
	var r Record
	if err := openSealed(b, &r); err != nil {
		return Record{}, err
	}
	if r.Key != key || r.N != n {
		return Record{}, fmt.Errorf("it is record %d of key %s, which belongs elsewhere", r.N, r.Key.Short())
	}
	if err := r.check(); err != nil {
		return Record{}, err
	}
	return r, nil
}
