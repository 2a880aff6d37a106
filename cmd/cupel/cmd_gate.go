package main

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/approval"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
)

type gateOptions struct {
	require   string
	format    string
	candidate string
	signers   string // file; "" = the campaign's
	dir       string // of the campaign file, "" when only the hash is known
	attest    attestation
}

func (a *app) gateCmd() *cobra.Command {
	var o gateOptions
	c := &cobra.Command{
		Use:   "gate FILE|HASH",
		Short: "the decision for a pipeline: exit code and a one-line reason",
		Long: `Answer a release pipeline from the store: nothing is run and nothing is sent. The
campaign is found by its spec hash, so a file that was edited after its run has
no decision and does not open the gate.

--require pass asks for the guards alone; promoted (the default when the
campaign requires approvals) also for the approvals: signed statements (cupel approve)
about this very evidence, by people who stand in the allowed_signers file that the
campaign names.

` + exitCodeTable(),
		Example: `  cupel gate pipelines/quickstart.yaml --candidate q8_0
  cupel gate 3f1c…e9 --store .cupel --format junit`,
		Args: exactArgs("FILE or HASH"),
		RunE: func(_ *cobra.Command, args []string) error { return a.gate(args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.require, "require", "", "promoted or pass")
	f.StringVar(&o.format, "format", "text", "text, json, junit or github")
	f.StringVar(&o.signers, "signers", "", "allowed_signers `file` (default: the campaign's)")
	f.StringVar(&o.candidate, "candidate", "", "ask about this candidate alone (default: the worst of all)")
	f.StringVar(&o.attest.file, "attestation", "", "when it opens, write a signed in-toto statement to this `file` (see cupel verify)")
	f.StringVar(&o.attest.key, "key", "", "private SSH key, ed25519 or ECDSA P-256, that signs the statement")
	return c
}

// gateAnswer is what the gate says.
type gateAnswer struct {
	Campaign  string             `json:"campaign"`
	SpecHash  step.Digest        `json:"spec_hash"`
	Candidate string             `json:"candidate,omitempty"`
	Open      bool               `json:"open"`
	Exit      exitCode           `json:"exit"`
	Verdict   evidence.Verdict   `json:"verdict"`
	Reason    string             `json:"reason"`
	Decided   time.Time          `json:"decided,omitzero"`
	Decision  *evidence.Decision `json:"decision,omitempty"`

	ApprovedBy []string          `json:"approved_by,omitempty"` // principals of the signers file
	Labels     map[string]string `json:"labels,omitempty"`      // candidate -> challenger | no-promotion | rejected | current | rollback
}

func (a *app) gate(arg string, o gateOptions) error {
	if o.require != "" && o.require != "pass" && o.require != "promoted" {
		return fail(exitUsage, fmt.Errorf("--require %q: want promoted or pass", o.require))
	}
	if err := o.attest.check(); err != nil {
		return fail(exitUsage, err)
	}
	hash, s, err := a.gateStore(arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, isHash := step.ParseDigest(arg); isHash != nil {
		o.dir = filepath.Dir(arg)
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			o.dir = arg
		}
	}
	ans, err := judgement(s, hash, o)
	if err != nil {
		return err
	}
	if a.json {
		o.format = "json"
	}
	if err := a.printGate(ans, o.format); err != nil {
		return err
	}
	if o.attest.file != "" {
		if err := a.attest(s, ans, o); err != nil {
			return err
		}
	}
	return exit(ans.Exit)
}

// gateStore resolves a campaign file or a spec hash and opens its store.
func (a *app) gateStore(arg string) (step.Digest, *store.Store, error) {
	if hash, err := step.ParseDigest(arg); err == nil {
		s, err := a.storeHere(store.ReadOnly)
		return hash, s, err
	}
	if beginsHash.MatchString(arg) && !there(arg) {
		return step.Digest{}, nil, fail(exitUsage, fmt.Errorf("%s: there is no such file, and a spec hash has 64 digits; cupel hash FILE prints all of them", arg))
	}
	loaded, err := spec.Load(arg)
	if err != nil {
		return step.Digest{}, nil, fail(exitUsage, err)
	}
	s, err := a.store(&campaign{loaded: loaded}, store.ReadOnly)
	return loaded.Digest, s, err
}

var beginsHash = regexp.MustCompile(`^[0-9a-f]{8,63}$`)

func judgement(s *store.Store, hash step.Digest, o gateOptions) (gateAnswer, error) {
	d, rec, err := recall(s, hash)
	switch {
	case errors.Is(err, store.ErrMissing):
		return gateAnswer{SpecHash: hash, Exit: exitUndetermined, Verdict: evidence.Undetermined,
			Reason: "there is no decision for spec " + hash.Short() + "; run the campaign first"}, nil
	case err != nil:
		return gateAnswer{}, fail(exitOutside, err)
	}
	ans := gateAnswer{Campaign: d.Campaign, SpecHash: hash, Candidate: o.candidate, Verdict: d.Verdict, Decision: d}
	worst := d.Candidates
	if o.candidate != "" {
		worst = nil
		for _, c := range d.Candidates {
			if c.Candidate == o.candidate {
				worst = []evidence.CandidateDecision{c}
				ans.Verdict = c.Verdict
			}
		}
		if worst == nil {
			return ans, fail(exitUsage, fmt.Errorf("the campaign decides about no candidate %q", o.candidate))
		}
	}
	ans.Exit, ans.Reason = verdictCode(ans.Verdict), gateReason(worst, ans.Verdict)
	ref, err := s.Ref(refName(hash))
	if err != nil {
		return ans, fail(exitOutside, err)
	}
	ans.Decided = ref.Set
	if why, isVoid := strings.CutPrefix(ref.Note, voidPrefix); isVoid {
		ans.Exit, ans.Verdict, ans.Reason = exitUndetermined, evidence.Undetermined, "the decision does not stand: "+why+"; run the campaign again"
		return ans, nil
	}
	asked, err := approvalsAsked(s, hash)
	if err != nil {
		return ans, fail(exitOutside, err)
	}
	ans.Labels = labels(s, d, rec.Baseline, asked, allowed(s, asked, o))
	if ans.Exit == exitOK && (o.require == "promoted" || o.require == "" && asked.Required > 0) {
		ans.approved(s, worst, asked, o)
	}
	ans.Open = ans.Exit == exitOK
	return ans, nil
}

// approved closes the gate until each candidate in question has its approvals.
func (ans *gateAnswer) approved(s *store.Store, candidates []evidence.CandidateDecision, asked spec.Approvals, o gateOptions) {
	need := max(asked.Required, 1)
	signers, err := readSigners(signersOf(s, asked, o))
	said := ""
	if err != nil {
		said = "; " + err.Error()
	}
	all, broken := approvals(s, signers, ans.Decision.Evidence)
	if err == nil && len(broken) > 0 {
		said = fmt.Sprintf("; %d statement(s) do not count, the first: %v", len(broken), broken[0])
	}
	var by []string
	for _, c := range candidates {
		standing := approval.Standing(all, ans.Decision.Evidence, c.Candidate, time.Now())
		if len(standing) < need {
			ans.Exit = exitUndetermined
			ans.Reason = fmt.Sprintf("every guard passes; %d approval(s) required, %d recorded", need, len(standing))
			if len(candidates) > 1 {
				ans.Reason += " of " + c.Candidate
			}
			ans.Reason += said
			return
		}
		by = append(by, standing...)
	}
	slices.Sort(by)
	ans.ApprovedBy = slices.Compact(by)
	ans.Reason = "every guard passes; approved by " + strings.Join(ans.ApprovedBy, ", ")
}

// signersOf is the signers file of a campaign. A relative path starts from the
// campaign, beside which the store stands.
func signersOf(s *store.Store, asked spec.Approvals, o gateOptions) string {
	return signersFile(o.signers, &asked, cmp.Or(o.dir, filepath.Dir(s.Dir())))
}

// allowed are the signers; nobody, when they cannot be read.
func allowed(s *store.Store, asked spec.Approvals, o gateOptions) approval.Signers {
	signers, err := readSigners(signersOf(s, asked, o))
	if err != nil {
		return nil
	}
	return signers
}

// approvalsAsked reads the stored canonical campaign of a decision.
func approvalsAsked(s *store.Store, hash step.Digest) (spec.Approvals, error) {
	ref, err := s.Ref(refName(hash))
	if err != nil || len(ref.Objects) < 3 {
		return spec.Approvals{}, fmt.Errorf("ref %s names no campaign: %w", refName(hash), err)
	}
	b, err := s.Read(ref.Objects[2])
	if err != nil {
		return spec.Approvals{}, err
	}
	if step.SpecDigest(b) != hash {
		return spec.Approvals{}, fmt.Errorf("the stored campaign is not the one of spec %s", hash.Short())
	}
	var c struct {
		Decide struct {
			Approvals spec.Approvals `json:"approvals"`
		} `json:"decide"`
	}
	return c.Decide.Approvals, json.Unmarshal(b, &c)
}

// gateReason is one sentence about what decided.
func gateReason(candidates []evidence.CandidateDecision, v evidence.Verdict) string {
	if v == evidence.Pass {
		return "every guard passes"
	}
	for _, c := range candidates {
		if c.Verdict != v {
			continue
		}
		for _, g := range c.Guards {
			if g.Verdict == v {
				return fmt.Sprintf("%s: guard %s%s: %s", c.Candidate, g.Guard, where(g), strings.TrimSpace(g.Explain+" "+g.Reason))
			}
		}
		return c.Candidate + ": " + c.Why
	}
	return string(v)
}

func where(g evidence.GuardResult) string {
	if at := g.Stratum + g.Cell; at != "" {
		return " (" + at + ")"
	}
	return ""
}

func (a *app) printGate(ans gateAnswer, format string) error {
	switch format {
	case "text":
		word := "closed"
		if ans.Open {
			word = "open"
		}
		a.printf("gate %s: %s: %s%s\n", word, ans.Verdict, ans.Reason, basis(ans))
		return nil
	case "json":
		return a.printJSON(ans)
	case "junit":
		return a.printJUnit(ans)
	case "github":
		a.printGitHub(ans)
		return nil
	}
	return fail(exitUsage, fmt.Errorf("--format %q: want text, json, junit or github", format))
}

// basis says what an answer rests on and from when that is.
func basis(ans gateAnswer) string {
	if ans.Decision == nil {
		return ""
	}
	return fmt.Sprintf(" (evidence %s, decided %s)", ans.Decision.Evidence.Short(), ans.Decided.Format("2006-01-02 15:04"))
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *junitFault `xml:"failure,omitempty"`
	Error   *junitFault `xml:"error,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
}

// printJUnit makes one test case of each guard; an undetermined one is an
// error there, so that no reader takes it for a pass.
func (a *app) printJUnit(ans gateAnswer) error {
	suite := junitSuite{Name: "cupel " + ans.Campaign}
	if ans.Decision != nil {
		for _, c := range ans.Decision.Candidates {
			if ans.Candidate != "" && c.Candidate != ans.Candidate {
				continue
			}
			for _, g := range c.Guards {
				suite.Cases = append(suite.Cases, junitOf(c.Candidate, g))
			}
		}
	}
	gateCase := junitCase{Class: "gate", Name: "gate"}
	if !ans.Open {
		gateCase.Failure = &junitFault{ans.Reason}
	}
	suite.Cases = append(suite.Cases, gateCase)
	for _, c := range suite.Cases {
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
	}
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	a.printf("%s%s\n", xml.Header, b)
	return nil
}

func junitOf(candidate string, g evidence.GuardResult) junitCase {
	c := junitCase{Class: candidate, Name: g.Guard + where(g)}
	fault := &junitFault{strings.TrimSpace(g.Explain + " " + g.Reason)}
	switch g.Verdict {
	case evidence.Pass:
	case evidence.Fail:
		c.Failure = fault
	default:
		c.Error = fault
	}
	return c
}

// printGitHub prints a step summary and one annotation per guard that does not
// pass.
func (a *app) printGitHub(ans gateAnswer) {
	word := "closed"
	if ans.Open {
		word = "open"
	}
	a.printf("### cupel gate %s: %s\n\n%s\n", word, ans.Campaign, ans.Reason)
	if len(ans.Labels) > 0 {
		a.printf("\n%s\n", labelLine(ans.Labels))
	}
	if ans.Decision == nil {
		return
	}
	a.printf("\n| candidate | guard | where | verdict | rule |\n|---|---|---|---|---|\n")
	var notes []string
	for _, c := range ans.Decision.Candidates {
		if ans.Candidate != "" && c.Candidate != ans.Candidate {
			continue
		}
		for _, g := range c.Guards {
			a.printf("| %s | %s | %s | %s | `%s` |\n", c.Candidate, g.Guard, strings.TrimSpace(g.Stratum+g.Cell), g.Verdict, strings.ReplaceAll(g.Explain, "|", "\\|"))
			if g.Verdict != evidence.Pass {
				notes = append(notes, fmt.Sprintf("::%s title=cupel %s::%s %s", annotation(g.Verdict), g.Guard, c.Candidate, strings.TrimSpace(g.Explain+" "+g.Reason)))
			}
		}
		for _, g := range c.Priors {
			if g.Verdict != evidence.Pass {
				notes = append(notes, fmt.Sprintf("::notice title=cupel prior %s::%s %s, in no verdict: %s %s", g.Guard, c.Candidate, publish.Outcome(g), g.Explain, g.Reason))
			}
		}
	}
	for _, n := range notes {
		fmt.Fprintln(a.stderr, strings.NewReplacer("\n", "%0A", "\r", "%0D").Replace(n))
	}
}

func annotation(v evidence.Verdict) string {
	if v == evidence.Fail {
		return "error"
	}
	return "warning"
}
