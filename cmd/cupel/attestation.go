package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/attest"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// attestation says where a statement goes and who signs it.
type attestation struct{ file, key string }

func (at attestation) check() error {
	switch {
	case at.file == "" && at.key != "":
		return errors.New("--key signs a statement: say where it goes with --attestation FILE")
	case at.file != "" && at.key == "":
		return errors.New("--key FILE is missing: a statement is signed")
	case at.file == "":
		return nil
	}
	if _, err := os.Lstat(at.file); err == nil {
		return step.WithHint(fmt.Errorf("%s is there already, and a closed gate would leave it there", at.file), "remove it first")
	}
	return nil
}

// attest writes the statement of an open gate. A closed one leaves none behind:
// a pipeline that looks for the file alone must not find one.
func (a *app) attest(s *store.Store, ans gateAnswer, o gateOptions) error {
	if !ans.Open {
		a.notef("no attestation: the gate is closed\n")
		return nil
	}
	st, err := statementOf(s, ans, o)
	if err != nil {
		return fail(exitUsage, err)
	}
	key, err := loadKey(o.attest.key)
	if err != nil {
		return fail(exitUsage, err)
	}
	payload, err := st.Encode()
	if err != nil {
		return err
	}
	b, err := attest.Seal(key, payload)
	if err != nil {
		return fail(exitUsage, err)
	}
	if err := a.writeTo(o.attest.file, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	a.notef("%s: %s may be promoted, about %s\n", o.attest.file, st.Predicate.Candidate, subjects(st))
	return nil
}

func subjects(st attest.Statement) string {
	var out []string
	for _, s := range st.Subject {
		for algorithm, digest := range s.Digest {
			out = append(out, fmt.Sprintf("%s (%s:%.12s)", s.Name, algorithm, digest))
		}
	}
	return strings.Join(out, ", ")
}

// statementOf says what the gate said of one candidate.
func statementOf(s *store.Store, ans gateAnswer, o gateOptions) (attest.Statement, error) {
	c, err := chosen(ans.Decision, o.candidate)
	if err != nil {
		return attest.Statement{}, err
	}
	ref, err := s.Ref(refName(ans.SpecHash))
	if err != nil {
		return attest.Statement{}, err
	}
	var rec evidence.Record
	if err := readDoc(s, ans.Decision.Evidence, &rec); err != nil {
		return attest.Statement{}, err
	}
	st := attest.Statement{Type: attest.StatementType, PredicateType: attest.PredicateType, Predicate: attest.Predicate{
		Campaign: rec.Campaign, Question: rec.Question, Kind: rec.Kind, SpecHash: ans.SpecHash, Evidence: ans.Decision.Evidence, Decision: ref.Objects[0],
		Baseline: rec.Baseline, Candidate: c.Candidate, Verdict: string(c.Verdict), Require: "pass",
		ApprovedBy: ans.ApprovedBy, Decided: ans.Decided, Attested: time.Now().UTC().Truncate(time.Second), Cupel: version,
	}}
	if len(ans.ApprovedBy) > 0 {
		st.Predicate.Require = "promoted"
	}
	for _, g := range c.Guards {
		st.Predicate.Guards = append(st.Predicate.Guards, attest.Guard{Guard: g.Guard, On: g.On, Where: g.Stratum + g.Cell, Rule: g.Rule, Verdict: string(g.Verdict), Explain: g.Explain})
	}
	pin := rec.Candidates[c.Candidate].Pin
	if pin == nil {
		return st, fmt.Errorf("nothing is known of what %s is", c.Candidate)
	}
	for _, f := range pin.Fields {
		if f.Declared+f.Observed != "" {
			st.Predicate.Pins = append(st.Predicate.Pins, attest.Pin{Name: f.Name, Declared: f.Declared, Observed: f.Observed, State: f.State})
		}
	}
	if st.Subject = subjectsOf(pin); st.Subject == nil {
		return st, step.WithHint(fmt.Errorf("nothing tells by content what %s is: no digest of its model and no image", c.Candidate),
			fmt.Sprintf("declare candidates.%s.model.sha256, model.revision or engine.image", c.Candidate))
	}
	return st, nil
}

// subjectsOf are what identifies a candidate by content: the model's digest as
// the endpoint tells it, else as declared, its commit, and the engine's image.
func subjectsOf(pin *evidence.PinDoc) (out []attest.Subject) {
	m := pin.Declared.Model
	name := cmp.Or(m.Repo, pin.Observed.Served, "model")
	seen := map[string]bool{}
	add := func(name, algorithm, digest string) {
		if digest != "" && !seen[digest] {
			seen[digest] = true
			out = append(out, attest.Subject{Name: name, Digest: map[string]string{algorithm: digest}})
		}
	}
	for _, d := range []string{pin.Observed.ModelDigest, pin.Observed.WeightsDigest, m.SHA256} {
		add(name, "sha256", d)
	}
	switch revision := strings.TrimPrefix(m.Revision, "sha256:"); len(revision) {
	case 40:
		add(name, "gitCommit", revision)
	case 64:
		add(name, "sha256", revision)
	}
	if image, digest, ok := strings.Cut(pin.Declared.Engine.Image, "@sha256:"); ok {
		add(image, "sha256", digest)
	}
	return out
}
