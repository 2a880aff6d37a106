package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/attest"
)

type verifyOptions struct {
	signers   string
	candidate string
	digests   []string
	spec      string
	require   string
	maxAge    time.Duration
}

func (a *app) verifyCmd() *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "check a signed statement of a gate, where there is no store",
		Long: `Check what 'cupel gate --attestation' wrote: an in-toto statement in a DSSE envelope,
signed by a key that stands in an allowed_signers file. Name what is about to be
promoted with --digest, once for each thing; a statement about something else does
not open the gate. The digest of an Ollama model, a weights file or an image goes as
sha256:HEX, a commit of a model repository as gitCommit:HEX.

A statement cannot be taken back: use --max-age, and take a key that should no longer
sign out of the file.

` + exitCodeTable(),
		Example: `  cupel verify q8.intoto.json --signers .cupel/allowed_signers --digest sha256:71e0…cdb6
  cupel verify q8.intoto.json --signers ci_signers --require promoted --max-age 720h`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c.Flags()); err != nil {
				return fail(exitUsage, err)
			}
			return a.verify(args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.signers, "signers", "", "allowed_signers `file`")
	f.StringVar(&o.candidate, "candidate", "", "the statement must be about this candidate")
	f.StringArrayVar(&o.digests, "digest", nil, "a subject must have this `algorithm:hex` (repeatable)")
	f.StringVar(&o.spec, "spec", "", "the decision must be that of this spec `hash`")
	f.StringVar(&o.require, "require", "pass", "pass, or promoted: with approvals")
	f.DurationVar(&o.maxAge, "max-age", 0, "how long ago it may have been signed, such as 720h (default: any)")
	return c
}

// check refuses what an unset variable of a pipeline leaves: an empty value must
// not pass as "any".
func (o verifyOptions) check(given *pflag.FlagSet) error {
	for name, empty := range map[string]bool{"candidate": o.candidate == "", "spec": o.spec == "", "max-age": o.maxAge == 0} {
		if given.Changed(name) && empty {
			return fmt.Errorf("--%s is empty; give a value or leave the flag out", name)
		}
	}
	switch {
	case o.signers == "":
		return errors.New("--signers FILE is missing: anybody can sign")
	case o.require != "pass" && o.require != "promoted":
		return fmt.Errorf("--require %q: want pass or promoted", o.require)
	case o.maxAge < 0:
		return fmt.Errorf("--max-age %s: want a duration above 0", o.maxAge)
	}
	if o.spec != "" {
		if _, err := step.ParseDigest(o.spec); err != nil {
			return fmt.Errorf("--spec: %w", err)
		}
	}
	for _, d := range o.digests {
		algorithm, hex, ok := strings.Cut(d, ":")
		if !ok || algorithm == "" || len(hex) < 40 || strings.Trim(hex, "0123456789abcdef") != "" {
			return step.WithHint(fmt.Errorf("--digest %.80q: want an algorithm, a colon and lower-case hexadecimal digits", d), "sha256:<64 hex>, or gitCommit:<40 hex>")
		}
	}
	return nil
}

// verifiedStatement is the answer of verify.
type verifiedStatement struct {
	OK        bool             `json:"ok"`
	Exit      exitCode         `json:"exit"`
	Reason    string           `json:"reason"`
	By        []string         `json:"by,omitempty"`
	Statement attest.Statement `json:"statement"`
}

func (a *app) verify(file string, o verifyOptions) error {
	signers, err := readSigners(o.signers)
	if err != nil {
		return fail(exitUsage, err)
	}
	b, err := readSmall(file)
	if err != nil {
		return err
	}
	st, by, err := attest.Verify(b, signers)
	if err != nil {
		return fail(exitFailed, fmt.Errorf("%s: %w", file, err))
	}
	ans := verifiedStatement{By: by, Statement: st}
	ans.Exit, ans.Reason = o.judge(st, time.Now())
	ans.OK = ans.Exit == exitOK
	if a.json {
		if err := a.printJSON(ans); err != nil {
			return err
		}
		return exit(ans.Exit)
	}
	word := "not verified"
	if ans.OK {
		word = "verified"
	}
	a.printf("%s: %s (signed by %s, %s)\n", word, printable(ans.Reason), strings.Join(by, ", "), st.Predicate.Attested.Format("2006-01-02 15:04"))
	return exit(ans.Exit)
}

// judge holds a statement that somebody allowed signed against what is asked.
func (o verifyOptions) judge(st attest.Statement, now time.Time) (exitCode, string) {
	p := st.Predicate
	switch {
	case p.Verdict != "pass":
		return exitFailed, fmt.Sprintf("the verdict on %s is %s", p.Candidate, p.Verdict)
	case slices.ContainsFunc(p.Guards, func(g attest.Guard) bool { return g.Verdict != "pass" }):
		return exitFailed, "it says pass, and names a guard that does not"
	case o.candidate != "" && p.Candidate != o.candidate:
		return exitFailed, fmt.Sprintf("it is about %s, not about %s", p.Candidate, o.candidate)
	case o.spec != "" && p.SpecHash.String() != o.spec:
		return exitFailed, "it is about spec " + p.SpecHash.Short()
	case p.Attested.After(now.Add(clockSkew)):
		return exitFailed, fmt.Sprintf("it is dated %s, which has not come yet", p.Attested.Format(time.RFC3339))
	case o.maxAge > 0 && now.Sub(p.Attested) > o.maxAge:
		return exitUndetermined, fmt.Sprintf("it was signed %s ago, and --max-age is %s", now.Sub(p.Attested).Round(time.Minute), o.maxAge)
	case o.require == "promoted" && len(p.ApprovedBy) == 0:
		return exitUndetermined, "every guard passed; no approval stands in it"
	}
	for _, d := range o.digests {
		algorithm, hex, _ := strings.Cut(d, ":")
		if !st.Has(algorithm, hex) {
			return exitFailed, fmt.Sprintf("it is about %s, not about %.24s…", subjects(st), d)
		}
	}
	return exitOK, sentence(st, o)
}

func sentence(st attest.Statement, o verifyOptions) string {
	p := st.Predicate
	s := fmt.Sprintf("%s of campaign %s passes every guard", p.Candidate, p.Campaign)
	if len(p.ApprovedBy) > 0 {
		s += "; approved by " + strings.Join(slices.Sorted(slices.Values(p.ApprovedBy)), ", ")
	}
	if len(o.digests) == 0 {
		s += "; about " + subjects(st) + ", which nothing was compared with (--digest)"
	}
	return s
}
