package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// Schema names the format of a statement.
const Schema = "cupel/approval/v1"

// What a statement says.
const (
	Approve = "approve"
	Revoke  = "revoke"
)

// Statement is what somebody signs: that a candidate may be promoted on this
// evidence, or may no longer.
type Statement struct {
	Schema    string      `json:"schema"`
	Says      string      `json:"says"` // approve | revoke
	Campaign  string      `json:"campaign"`
	SpecHash  step.Digest `json:"spec_hash"`
	Evidence  step.Digest `json:"evidence"` // of record.json
	Candidate string      `json:"candidate"`
	Verdict   string      `json:"verdict"`          // of the candidate, when it was signed
	Opened    int         `json:"opened,omitempty"` // failing items that had been opened
	Note      string      `json:"note,omitempty"`
	Time      time.Time   `json:"time"` // as the signer's machine had it
}

// Signed is a statement, byte for byte, with its signature.
type Signed struct {
	Statement string `json:"statement"`
	Signature string `json:"signature"` // armoured, OpenSSH
}

const maxSigned = 64 << 10

// ParseSigned reads a signed statement and checks everything about it but who
// signed. It is as strict as it can be: what is not understood is not approved.
func ParseSigned(b []byte) (Signed, Statement, error) {
	var s Signed
	var st Statement
	if len(b) > maxSigned {
		return s, st, errors.New("larger than 64 KiB, which no approval is")
	}
	if err := jsonv2.Unmarshal(b, &s, jsonv2.RejectUnknownMembers(true)); err != nil {
		return s, st, fmt.Errorf("not a signed statement: %w", err)
	}
	if err := jsonv2.Unmarshal([]byte(s.Statement), &st, jsonv2.RejectUnknownMembers(true)); err != nil {
		return s, st, fmt.Errorf("the statement cannot be read: %w", err)
	}
	switch {
	case st.Schema != Schema:
		return s, st, fmt.Errorf("a statement of schema %.40q, want %s", st.Schema, Schema)
	case st.Says != Approve && st.Says != Revoke:
		return s, st, fmt.Errorf("a statement that says %.40q, want %s or %s", st.Says, Approve, Revoke)
	case st.Says == Approve && st.Verdict != "pass":
		return s, st, fmt.Errorf("an approval of a candidate whose verdict was %.40q, want pass", st.Verdict)
	case st.Evidence.IsZero() || st.SpecHash.IsZero() || st.Candidate == "" || st.Time.IsZero():
		return s, st, errors.New("a statement without spec_hash, evidence, candidate or time")
	}
	return s, st, nil
}

// Encode returns the bytes that are signed.
func (s Statement) Encode() ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return step.Canonical(b)
}

// Given is an approval or a revocation whose signature holds.
type Given struct {
	Statement
	By string // the principal
}

// Check verifies a signed statement against the signers.
func (s Signers) Check(b []byte) (Given, error) {
	signed, st, err := ParseSigned(b)
	if err != nil {
		return Given{}, err
	}
	key, err := Verify([]byte(signed.Signature), []byte(signed.Statement))
	if err != nil {
		return Given{}, err
	}
	by, err := s.Principal(key, st.Time)
	return Given{st, by}, err
}

// Standing lists who approves a candidate on this evidence: each principal's
// newest word counts, and of two at one time the revocation. A word from the
// future, or about other evidence, counts as none.
func Standing(all []Given, evidence step.Digest, candidate string, now time.Time) []string {
	last := map[string]Given{}
	for _, g := range all {
		if g.Evidence != evidence || g.Candidate != candidate || g.Time.After(now) {
			continue
		}
		old, ok := last[g.By]
		if !ok || g.Time.After(old.Time) || g.Time.Equal(old.Time) && g.Says == Revoke {
			last[g.By] = g
		}
	}
	var out []string
	for by, g := range last {
		if g.Says == Approve {
			out = append(out, by)
		}
	}
	slices.Sort(out)
	return out
}
