package attest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/approval"
)

// The types of a statement (in-toto attestation framework, v1).
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://cupel.dev/decision/v1"
)

// Statement says what was decided about subjects.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is a thing by content. Digest maps an algorithm of in-toto (sha256,
// gitCommit) to lower-case hexadecimal digits.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate is the decision.
type Predicate struct {
	Campaign   string      `json:"campaign"`
	Question   string      `json:"question"`
	Kind       string      `json:"kind"` // of the decision
	SpecHash   step.Digest `json:"specHash"`
	Evidence   step.Digest `json:"evidence"` // of record.json
	Decision   step.Digest `json:"decision"` // of decision.json
	Baseline   string      `json:"baseline"`
	Candidate  string      `json:"candidate"`
	Verdict    string      `json:"verdict"`
	Require    string      `json:"require"` // pass | promoted: what the gate was asked
	Guards     []Guard     `json:"guards"`
	Pins       []Pin       `json:"pins"` // what the candidate was, as declared and as observed
	ApprovedBy []string    `json:"approvedBy,omitempty"`
	Decided    time.Time   `json:"decided"`
	Attested   time.Time   `json:"attested"` // as the signer's machine had it
	Cupel      string      `json:"cupel"`    // version
}

// Guard is one rule that was evaluated.
type Guard struct {
	Guard   string `json:"guard"`
	On      string `json:"on,omitempty"`
	Where   string `json:"where,omitempty"` // stratum or cell, "" = overall
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"`
	Explain string `json:"explain"`
}

// Pin is one pin of the candidate.
type Pin struct {
	Name     string `json:"name"`
	Declared string `json:"declared,omitempty"`
	Observed string `json:"observed,omitempty"`
	State    string `json:"state"`
}

// Encode returns the bytes that are signed.
func (s Statement) Encode() ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return step.Canonical(b)
}

// Has reports whether a subject has this digest.
func (s Statement) Has(algorithm, digest string) bool {
	return slices.ContainsFunc(s.Subject, func(x Subject) bool { return digest != "" && x.Digest[algorithm] == digest })
}

// parse reads a statement. Members that a later version adds to the predicate
// are left alone, those that this one reads must be there.
func parse(payload []byte) (s Statement, err error) {
	if err := jsonv2.Unmarshal(payload, &s); err != nil {
		return s, fmt.Errorf("not an in-toto statement: %w", err)
	}
	p := s.Predicate
	switch {
	case s.Type != StatementType:
		return s, fmt.Errorf("a statement of type %.60q, want %s", s.Type, StatementType)
	case s.PredicateType != PredicateType:
		return s, fmt.Errorf("a predicate of type %.60q, want %s", s.PredicateType, PredicateType)
	case len(s.Subject) == 0 || slices.ContainsFunc(s.Subject, func(x Subject) bool { return len(x.Digest) == 0 }):
		return s, errors.New("a statement about nothing: a subject without a digest")
	case p.SpecHash.IsZero() || p.Evidence.IsZero() || p.Candidate == "" || p.Verdict == "" || p.Attested.IsZero():
		return s, errors.New("a predicate without specHash, evidence, candidate, verdict or attested")
	}
	return s, nil
}

// Verify opens an envelope that at least one of the signers signed, and says
// who. A signature by somebody else neither helps nor harms; a key id is a hint
// that nothing rests on.
func Verify(b []byte, signers approval.Signers) (s Statement, by []string, err error) {
	env, payload, err := ParseEnvelope(b)
	if err != nil {
		return s, nil, err
	}
	if s, err = parse(payload); err != nil {
		return s, nil, err
	}
	message := pae(env.PayloadType, payload)
	why := errors.New("no signature is by a key among the signers")
	for _, sig := range env.Signatures {
		raw, err := decodeBase64(sig.Sig)
		if err != nil {
			continue
		}
		for _, key := range signers.Keys() {
			if verify(key, message, raw) != nil {
				if sig.KeyID == ssh.FingerprintSHA256(key) {
					why = errors.New("the signature does not belong to this statement")
				}
				continue
			}
			name, err := signers.Principal(key, s.Predicate.Attested)
			if err != nil {
				why = err
				continue
			}
			by = append(by, name)
		}
	}
	if by == nil {
		return s, nil, why
	}
	slices.Sort(by)
	return s, slices.Compact(by), nil
}
