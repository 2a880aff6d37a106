package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
)

// publishFinding writes the dated finding of a finished run beside the
// campaign and returns its folder.
func publishFinding(c *campaign, s *store.Store, out *exec.Outcome) (string, error) {
	get := func(stepName, output string) ([]byte, error) {
		d, ok := out.Output(stepName, output)
		if !ok {
			return nil, fmt.Errorf("%s has no %s", stepName, output)
		}
		return s.Read(d)
	}
	var f publish.Finding
	var err error
	for _, part := range []struct {
		to           *[]byte
		step, output string
	}{
		{&f.Record, evidence.RecordStep, evidence.OutRecord},
		{&f.Decision, evidence.DecideStep, evidence.OutDecision},
		{&f.Readme, evidence.FindingStep, evidence.OutReadme},
		{&f.Report, evidence.FindingStep, evidence.OutReport},
	} {
		if *part.to, err = get(part.step, part.output); err != nil {
			return "", err
		}
	}
	f.Spec = c.loaded.Canonical
	f.Open = s.Open
	to := c.loaded.Campaign.Publish.To
	if !filepath.IsAbs(to) {
		to = filepath.Join(c.loaded.Dir, to)
	}
	return publish.Write(to, f)
}

// campaignRefs is where decisions are remembered, by spec hash.
const campaignRefs = "campaigns/"

func refName(spec step.Digest) string { return campaignRefs + spec.String() }

// remember points the campaign's ref at its decision. The objects are, in this
// order, decision, record, canonical campaign.
func remember(s *store.Store, c *campaign, out *exec.Outcome, decision step.Digest) error {
	record, _ := out.Output(evidence.RecordStep, evidence.OutRecord)
	canonical, err := s.PutBytes(c.loaded.Canonical)
	if err != nil {
		return err
	}
	ref := store.Ref{Objects: []step.Digest{decision, record, canonical}, Note: c.loaded.Campaign.Campaign, Set: time.Now().UTC()}
	for _, r := range out.Results {
		if !r.Key.IsZero() {
			ref.Keys = append(ref.Keys, r.Key)
		}
	}
	return s.SetRef(refName(c.loaded.Digest), ref)
}

// voidPrefix begins the note of a ref whose decision does not stand: a later run
// of the same spec measured something and reached no decision.
const voidPrefix = "void: "

// void takes a decision's standing away; it stays readable, and the next run
// that ends with a decision restores it.
func void(s *store.Store, spec step.Digest, why string) error {
	ref, err := s.Ref(refName(spec))
	if errors.Is(err, store.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	ref.Note = voidPrefix + why
	return s.SetRef(refName(spec), ref)
}

// recall finds the newest decision of a spec hash, verified.
func recall(s *store.Store, spec step.Digest) (*evidence.Decision, *evidence.Record, error) {
	ref, err := s.Ref(refName(spec))
	if err != nil {
		return nil, nil, err
	}
	if len(ref.Objects) < 2 {
		return nil, nil, fmt.Errorf("ref %s names no decision", refName(spec))
	}
	return readDecision(s, ref.Objects[0])
}

func readDecision(s *store.Store, digest step.Digest) (*evidence.Decision, *evidence.Record, error) {
	var d evidence.Decision
	if err := readDoc(s, digest, &d); err != nil {
		return nil, nil, fmt.Errorf("decision: %w", err)
	}
	if d.Evidence.IsZero() {
		return nil, nil, errors.New("the decision names no evidence")
	}
	var rec evidence.Record
	if err := readDoc(s, d.Evidence, &rec); err != nil {
		return nil, nil, fmt.Errorf("evidence record: %w", err)
	}
	return &d, &rec, nil
}

func readDoc(s *store.Store, digest step.Digest, v any) error {
	b, err := s.Read(digest)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
