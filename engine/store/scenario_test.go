package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// scenario is one of everything that is written, in the order of a real run.
// It may be repeated on what an interrupted scenario left.
func scenario(t testing.TB, dir string, hooks Hooks) (err error) {
	hooks.Sync = func(*os.File) error { return nil } // what is tested is not the disk
	s, err := Open(dir, Options{Mode: ReadWrite, Hooks: hooks})
	if err != nil {
		return err
	}
	defer s.Close()
	run, err := s.NewRun(noon)
	if err != nil {
		return err
	}
	defer run.Close()
	k, pre := preimage(t, 1)
	unlock, err := s.LockKey(context.Background(), k, nil)
	if err != nil {
		return err
	}
	defer unlock()
	j, err := s.Journal(k)
	if err != nil {
		return err
	}
	defer j.Close()
	for _, line := range []string{"one", "two"} {
		if err := j.Append([]byte(line)); err != nil {
			return err
		}
	}
	d, err := s.PutBytes([]byte("content"))
	if err != nil {
		return err
	}
	r := recordOf("score", noon, Output{Name: "out", Digest: d, Size: 7})
	return errors.Join(
		s.PutRecord(k, pre, r),
		s.AddToFamily(d, k),
		run.Event(map[string]string{"step": "done"}),
		s.PutObservation(d, r),
		s.SetRef("campaigns/a", Ref{Keys: []step.Key{k}, Objects: []step.Digest{d}}),
		j.Remove(),
	)
}

// scenarioHolds checks what must be true whenever a scenario was cut short.
func scenarioHolds(t testing.TB, dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	var found []Problem
	if _, err := s.Check(true, func(p Problem) {
		if p.Kind != ProblemNote {
			found = append(found, p)
		}
	}); err != nil || len(found) > 0 {
		return fmt.Errorf("check: %v, %v", found, err)
	}
	k, pre := preimage(t, 1)
	r, ok, reason := s.Latest(k)
	if !ok && reason != NoRecord {
		return fmt.Errorf("latest: %s", reason)
	}
	if !ok {
		if _, err := s.Ref("campaigns/a"); !errors.Is(err, ErrMissing) {
			return fmt.Errorf("a ref before its record: %v", err)
		}
		return nil
	}
	if of := s.Family(r.Outputs[0].Digest); len(of) > 1 || len(of) == 1 && of[0] != k {
		return fmt.Errorf("family %v", of)
	}
	content, err := s.Read(r.Outputs[0].Digest)
	if err != nil || string(content) != "content" {
		return fmt.Errorf("content %q: %v", content, err)
	}
	if b, err := s.Preimage(k); err != nil || !bytes.Equal(b, pre) {
		return fmt.Errorf("preimage %q: %v", b, err)
	}
	return nil
}

// scenarioDone checks that the last scenario came to its end.
func scenarioDone(t testing.TB, dir string) error {
	if err := scenarioHolds(t, dir); err != nil {
		return err
	}
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if d := step.Sum([]byte("content")); len(s.Family(d)) != 1 {
		return fmt.Errorf("family %v", s.Family(d))
	}
	_, err = s.Ref("campaigns/a")
	if st, statErr := s.Stats(); err == nil && (statErr != nil || st.Journals != 0 || st.Records == 0) {
		err = fmt.Errorf("stats %+v, %v", st, statErr)
	}
	return err
}
