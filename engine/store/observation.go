package store

import (
	"fmt"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
)

// observed is the body of observations/<declared>.json.
type observed struct {
	Format   int         `json:"format"`
	Declared step.Digest `json:"declared"`
	Record   Record      `json:"record"`
}

func (s *Store) observationPath(declared step.Digest) string {
	return s.path("observations", declared.String()+".json")
}

// PutObservation remembers what an endpoint with this declared pin last said
// of itself, in place of what it said before. Its outputs must be in the store.
func (s *Store) PutObservation(declared step.Digest, r Record) error {
	if err := s.mayRecord(r); err != nil {
		return err
	}
	r.Format = Format
	r.Started, r.Finished = r.Started.UTC(), r.Finished.UTC()
	b, err := seal(observed{Format: Format, Declared: declared, Record: r})
	if err != nil {
		return fmt.Errorf("observation of %s: %w", declared.Short(), err)
	}
	return s.disk.writeFile(s.observationPath(declared), b, renewed, true)
}

// Observation returns the last one: ErrMissing when there is none or its
// objects are not all there, *Damaged when it cannot be believed.
func (s *Store) Observation(declared step.Digest) (Record, error) {
	r, err := s.readObservation(declared)
	if err != nil {
		return Record{}, fmt.Errorf("observation of %s: %w", declared.Short(), err)
	}
	if o, missing := s.firstMissing(r); missing {
		return Record{}, fmt.Errorf("observation of %s: output %q, object %s: %w", declared.Short(), o.Name, o.Digest.Short(), ErrMissing)
	}
	return r, nil
}

func (s *Store) readObservation(declared step.Digest) (Record, error) {
	path := s.observationPath(declared)
	var o observed
	if err := readSealed(path, &o); err != nil {
		return Record{}, err
	}
	err := o.Record.check()
	if o.Declared != declared {
		err = fmt.Errorf("it is the observation of %s", o.Declared.Short())
	}
	if err != nil {
		return Record{}, &Damaged{Path: filepath.Clean(path), Why: err.Error()}
	}
	return o.Record, nil
}
