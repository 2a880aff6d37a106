package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/approval"
	"github.com/cupel-dev/cupel/stages/evidence"
)

type approveOptions struct {
	key, candidate, note, out, take, signers string
	revoke                                   bool
}

func (a *app) approveCmd() *cobra.Command {
	var o approveOptions
	c := &cobra.Command{
		Use:   "approve FILE",
		Short: "sign that a candidate may be promoted on this evidence",
		Long: `Sign, with an SSH key, that a candidate may be promoted on the evidence of the
campaign's newest decision. The signature is bound to the digest of that evidence: a
run that measures anything else needs to be approved anew. Who may sign stands in the
allowed_signers file that the campaign names; the key must be there, for the namespace
cupel and at this time.

A candidate that a guard fails or leaves undetermined cannot be approved. Where the
campaign says reviewFailures: N, that many failing items of the worst stratum must have
been opened before (cupel show FILE --failures N --candidate C).

The approval is kept in the store; --out writes it to a file as well, and --import takes
one in that was signed elsewhere. --revoke takes the signer's own approval back.

` + exitCodeTable(),
		Example: `  cupel approve campaign.yaml --candidate q8_0 --key ~/.ssh/id_ed25519 --note reviewed
  cupel approve campaign.yaml --import q8_0.approval.json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.approve(args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "private `file` of the SSH key; a locked one is used through the agent, or asked for")
	f.StringVar(&o.candidate, "candidate", "", "who may be promoted (default: the only candidate)")
	f.StringVar(&o.note, "note", "", "`text` that is signed too")
	f.StringVar(&o.out, "out", "", "write the signed statement to this `file` too")
	f.StringVar(&o.take, "import", "", "take in a statement that was signed elsewhere, from this `file`")
	f.StringVar(&o.signers, "signers", "", "allowed_signers `file` (default: the campaign's)")
	f.BoolVar(&o.revoke, "revoke", false, "take an approval back")
	return c
}

func (a *app) approve(path string, o approveOptions) error {
	switch {
	case o.take == "" && o.key == "":
		return fail(exitUsage, errors.New("--key FILE is missing: an approval is signed"))
	case o.take != "" && (o.key != "" || o.revoke || o.note != "" || o.candidate != ""):
		return fail(exitUsage, errors.New("--import takes a finished statement: leave --key, --candidate, --note and --revoke out"))
	case o.out != "" && there(o.out):
		return fail(exitUsage, step.WithHint(fmt.Errorf("--out %s: there is a file of that name", o.out), "name a new one"))
	case len(o.note) > 4096:
		return fail(exitUsage, errors.New("--note: at most 4,096 bytes"))
	}
	loaded, err := spec.Load(path)
	if err != nil {
		return fail(exitUsage, err)
	}
	s, err := a.store(&campaign{loaded: loaded}, store.ReadWrite)
	if err != nil {
		return err
	}
	defer s.Close()
	d, rec, err := recall(s, loaded.Digest)
	if errors.Is(err, store.ErrMissing) {
		return fail(exitUndetermined, fmt.Errorf("there is no decision for spec %s; run the campaign first", loaded.Digest.Short()))
	}
	if err != nil {
		return fail(exitOutside, err)
	}
	signers, err := readSigners(signersFile(o.signers, loaded.Campaign.Decide.Approvals, loaded.Dir))
	if err != nil {
		return fail(exitUsage, err)
	}
	var doc []byte
	if o.take != "" {
		doc, err = readSmall(o.take)
	} else {
		doc, err = a.signStatement(s, loaded, signers, d, rec, o)
	}
	if err != nil {
		return err
	}
	asked := spec.Approvals{}
	if n := loaded.Campaign.Decide.Approvals; n != nil {
		asked = *n
	}
	return a.keepApproval(s, signers, d, rec.Baseline, asked, doc, o)
}

func there(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// clockSkew is how far the clock of a signer's machine may be ahead.
const clockSkew = 5 * time.Minute

// keepApproval checks a signed statement like the gate will, and stores it.
func (a *app) keepApproval(s *store.Store, signers approval.Signers, d *evidence.Decision, baseline string, asked spec.Approvals, doc []byte, o approveOptions) error {
	given, err := signers.Check(doc)
	if err != nil {
		return fail(exitUsage, err)
	}
	if given.Campaign != d.Campaign {
		return fail(exitUsage, fmt.Errorf("the statement is about campaign %q, and this is %s", given.Campaign, d.Campaign))
	}
	if given.Evidence != d.Evidence || given.SpecHash != d.SpecHash {
		return fail(exitUndetermined, fmt.Errorf("the statement is about evidence %s of spec %s, and the newest decision rests on %s of %s; sign anew",
			given.Evidence.Short(), given.SpecHash.Short(), d.Evidence.Short(), d.SpecHash.Short()))
	}
	if ahead := time.Until(given.Time); ahead > clockSkew {
		return fail(exitUsage, fmt.Errorf("the statement is dated %s, which has not come yet; it would outlast a revocation", given.Time.Format(time.RFC3339)))
	}
	if given.Says == approval.Approve {
		if err := mayBeApproved(d, given.Candidate); err != nil {
			return err
		}
	}
	if o.out != "" { // first: where it cannot be written, nothing is kept
		if err := a.writeTo(o.out, func(w io.Writer) error { _, err := w.Write(doc); return err }); err != nil {
			return err
		}
	}
	digest, err := s.PutBytes(doc)
	if err != nil {
		return fail(exitOutside, err)
	}
	if err := s.SetRef(approvalRefs(d.Evidence)+digest.String(), store.Ref{Objects: []step.Digest{digest}, Note: given.Says + " " + given.Candidate + " by " + given.By, Set: time.Now().UTC()}); err != nil {
		return fail(exitOutside, err)
	}
	if a.json {
		return a.printJSON(given)
	}
	word := "approves"
	if given.Says == approval.Revoke {
		word = "no longer approves"
	}
	a.printf("%s %s %s on evidence %s\n", given.By, word, given.Candidate, d.Evidence.Short())
	a.printf("%s\n", labelLine(labels(s, d, baseline, asked, signers)))
	return nil
}

// signStatement makes the statement and signs it.
func (a *app) signStatement(s *store.Store, l *spec.Loaded, signers approval.Signers, d *evidence.Decision, rec *evidence.Record, o approveOptions) ([]byte, error) {
	c, err := chosen(d, o.candidate)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	st := approval.Statement{
		Schema: approval.Schema, Says: approval.Approve, Campaign: d.Campaign, SpecHash: d.SpecHash, Evidence: d.Evidence,
		Candidate: c.Candidate, Verdict: string(c.Verdict), Note: o.note, Time: time.Now().UTC().Truncate(time.Second),
	}
	if o.revoke {
		st.Says = approval.Revoke
	} else {
		if err := mayBeApproved(d, c.Candidate); err != nil {
			return nil, err
		}
		if st.Opened, err = reviewed(s, d.Evidence, rec, c.Candidate, l.Campaign.Decide.ReviewFailures); err != nil {
			return nil, fail(exitUndetermined, step.WithHint(err, fmt.Sprintf("read them: cupel show %s --failures %d --candidate %s", l.Campaign.Campaign+".yaml", l.Campaign.Decide.ReviewFailures, c.Candidate)))
		}
	}
	key, err := loadKey(o.key)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	st.Time = after(s, signers, key, st)
	text, err := st.Encode()
	if err != nil {
		return nil, err
	}
	sig, err := approval.Sign(key, text)
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	return json.MarshalIndent(approval.Signed{Statement: string(text), Signature: string(sig)}, "", "  ")
}

// after is the time of a new statement: not before what the same person has said
// with a clock that is ahead, so that the newest word is the one that was given
// last. Of two at one time the revocation counts.
func after(s *store.Store, signers approval.Signers, key ssh.Signer, st approval.Statement) time.Time {
	by, err := signers.Principal(key.PublicKey(), st.Time)
	if err != nil {
		return st.Time // it is refused a moment later
	}
	all, _ := approvals(s, signers, st.Evidence)
	at := st.Time
	for _, g := range all {
		if g.By != by || g.Candidate != st.Candidate {
			continue
		}
		given := g.Time
		if st.Says == approval.Approve {
			given = given.Add(time.Second)
		}
		if given.After(at) {
			at = given
		}
	}
	return at
}

// chosen is the candidate that is meant.
func chosen(d *evidence.Decision, name string) (*evidence.CandidateDecision, error) {
	var names []string
	for i := range d.Candidates {
		c := &d.Candidates[i]
		if c.Candidate == name || name == "" && len(d.Candidates) == 1 {
			return c, nil
		}
		names = append(names, c.Candidate)
	}
	if name == "" {
		return nil, fmt.Errorf("--candidate is missing; there are %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("--candidate %s: the campaign decides about %s", name, strings.Join(names, ", "))
}

// mayBeApproved: a signature is no way around a guard.
func mayBeApproved(d *evidence.Decision, candidate string) error {
	c, err := chosen(d, candidate)
	if err != nil {
		return fail(exitUsage, err)
	}
	if c.Verdict != evidence.Pass {
		return fail(verdictCode(c.Verdict), fmt.Errorf("%s cannot be approved: %s", candidate, gateReason([]evidence.CandidateDecision{*c}, c.Verdict)))
	}
	return nil
}

// reviewed counts the failing items of a candidate that were opened, and wants
// need of those of each workload's worst stratum, or all when there are fewer.
func reviewed(s *store.Store, digest step.Digest, rec *evidence.Record, candidate string, need int) (opened int, err error) {
	for i := range rec.Comparisons {
		c := &rec.Comparisons[i]
		if c.Candidate != candidate {
			continue
		}
		seen, err := openedItems(s, openedRef(digest, c.Candidate, c.Workload))
		if err != nil {
			return 0, err
		}
		opened += len(seen)
		worst, failing, read := worstStratum(*c), 0, 0
		for _, f := range c.Flips {
			if f.B < f.A && (worst == "" || f.Stratum == worst) {
				failing++
				if seen[f.ID] {
					read++
				}
			}
		}
		if want := min(need, failing); read < want {
			return 0, fmt.Errorf("%d of the %d failing items of workload %s that the campaign wants read were opened", read, want, c.Workload)
		}
	}
	return opened, nil
}

func openedItems(s *store.Store, name string) (map[string]bool, error) {
	out := map[string]bool{}
	r, err := s.Ref(name)
	if errors.Is(err, store.ErrMissing) || err == nil && len(r.Objects) != 1 {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	if err := readDoc(s, r.Objects[0], &ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		out[id] = true
	}
	return out, nil
}

// approvalRefs is where the signed statements about some evidence are kept.
func approvalRefs(evidence step.Digest) string { return "approvals/" + evidence.String() + "/" }

// approvals are the statements about some evidence whose signatures hold, and
// what is wrong with the others.
func approvals(s *store.Store, signers approval.Signers, evidence step.Digest) (all []approval.Given, broken []error) {
	refs, unread := s.Refs()
	for _, r := range refs {
		if !strings.HasPrefix(r.Name, approvalRefs(evidence)) || len(r.Objects) != 1 {
			continue
		}
		doc, err := s.Read(r.Objects[0])
		if err == nil {
			var g approval.Given
			if g, err = signers.Check(doc); err == nil {
				all = append(all, g)
				continue
			}
		}
		broken = append(broken, fmt.Errorf("%s: %w", r.Note, err))
	}
	return all, append(broken, unread...)
}

// readSmall reads a file that holds one key or signed statement. A pipe will do, so
// that pipelines can hand over a secret without writing it to a disk.
func readSmall(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s: %w", file, err))
	}
	return b, nil
}
