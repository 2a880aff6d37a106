package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
)

// What the reason of Store.Latest begins with.
const (
	NoRecord      = "no record"
	ObjectMissing = "object missing"
	RecordDamaged = "record damaged"
)

// PutRecord records that the step with this key has been executed. The key
// must be the hash of the preimage, and every output must be in the store:
// otherwise nothing is written and the error says which is not (ErrMissing).
// Key and number of r are set here. When it returns nil, the record survives a
// power failure. Earlier records of the key stay.
func (s *Store) PutRecord(key step.Key, preimage []byte, r Record) error {
	if got := step.KeyOf(preimage); got != key {
		return fmt.Errorf("record of step %s: the preimage hashes to %s, not to the key %s", r.Name, got.Short(), key.Short())
	}
	r.Key = key
	if err := s.mayRecord(r); err != nil {
		return err
	}
	if err := s.putPreimage(key, preimage); err != nil {
		return err
	}
	dir := s.recordDir(key)
	numbers, err := numbered(dir, ".json")
	if err != nil {
		return err
	}
	next := 1
	if len(numbers) > 0 {
		next = numbers[len(numbers)-1] + 1
	}
	for ; ; next++ {
		b, err := encodeRecord(r, next)
		if err != nil {
			return fmt.Errorf("record of step %s: %w", r.Name, err)
		}
		err = s.disk.writeFile(filepath.Join(dir, recordName(next)), b, frozen, false)
		if errors.Is(err, fs.ErrExist) {
			continue // another process was first
		}
		if err == nil {
			s.names.add(r)
		}
		return err
	}
}

// mayRecord refuses a record that a reader would not believe.
func (s *Store) mayRecord(r Record) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("record of step %s: %w", r.Name, err)
	}
	if o, missing := s.firstMissing(r); missing {
		return fmt.Errorf("record of step %s: output %q, object %s: %w", r.Name, o.Name, o.Digest.Short(), ErrMissing)
	}
	return nil
}

func (s *Store) firstMissing(r Record) (Output, bool) {
	for _, o := range r.Outputs {
		if !s.Has(o.Digest) {
			return o, true
		}
	}
	return Output{}, false
}

// putPreimage stores what key is the hash of; a damaged one is replaced.
func (s *Store) putPreimage(key step.Key, preimage []byte) error {
	path := s.preimagePath(key)
	if b, err := readSmall(path); err == nil && bytes.Equal(b, preimage) {
		return s.disk.syncDir(filepath.Dir(path))
	}
	return s.disk.writeFile(path, preimage, frozen, true)
}

// Preimage returns what key is the hash of, verified.
func (s *Store) Preimage(key step.Key) ([]byte, error) {
	path := s.preimagePath(key)
	b, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("preimage of %s: %w", key.Short(), err)
	}
	if got := step.KeyOf(b); got != key {
		return nil, &Damaged{Path: path, Why: "it hashes to " + got.Short()}
	}
	return b, nil
}

func (s *Store) readRecord(key step.Key, n int) (Record, error) {
	path := s.recordDir(key) + "/" + recordName(n)
	b, err := readSmall(path)
	if err != nil {
		return Record{}, err
	}
	r, err := decodeRecord(b, key, n)
	if err != nil {
		return Record{}, &Damaged{Path: path, Why: err.Error()}
	}
	return r, nil
}

// Records returns the readable records of key, newest last, and one note for
// each that had to be left out.
func (s *Store) Records(key step.Key) ([]Record, []error) {
	numbers, err := numbered(s.recordDir(key), ".json")
	var notes []error
	if err != nil {
		notes = append(notes, err)
	}
	var out []Record
	for _, n := range numbers {
		r, err := s.readRecord(key, n)
		if err != nil {
			notes = append(notes, err)
			continue
		}
		out = append(out, r)
	}
	return out, notes
}

// Latest returns the newest record of key whose objects are all there; it does
// not read them. When there is none, reason says why the newest one does not
// count; it begins with NoRecord, ObjectMissing or RecordDamaged. When an older
// one is returned, reason says why not a newer one.
func (s *Store) Latest(key step.Key) (r Record, ok bool, reason string) {
	numbers, err := numbered(s.recordDir(key), ".json")
	if err != nil {
		return Record{}, false, RecordDamaged + ": " + err.Error()
	}
	for _, n := range slices.Backward(numbers) {
		r, why := s.usable(key, n)
		if why == "" {
			return r, true, reason
		}
		if reason == "" {
			reason = why
		}
	}
	if reason == "" {
		reason = NoRecord
	}
	return Record{}, false, reason
}

// usable reads record n of key and says why it does not count.
func (s *Store) usable(key step.Key, n int) (Record, string) {
	r, err := s.readRecord(key, n)
	if err != nil {
		return Record{}, RecordDamaged + ": " + err.Error()
	}
	if o, missing := s.firstMissing(r); missing {
		return Record{}, fmt.Sprintf("%s: output %q of record %d, object %s", ObjectMissing, o.Name, n, o.Digest.Short())
	}
	return r, ""
}
