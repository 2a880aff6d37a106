package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

type showOptions struct {
	failures  int
	stratum   string
	candidate string
	full      bool // whole texts
	noRecord  bool
	campaign  *spec.Campaign // nil = only the store is known
	unlock    unlock
	suite     string // folder of the suite whose held-out items a step answers
}

func (a *app) showCmd() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show [REF]",
		Short: "a decision, a step's output, an object, or failing items",
		Long: `REF is a campaign file or spec hash (its newest decision), a step name with or
without :OUTPUT (the newest record of that step), or the first digits of an
object's digest. Without REF it is the newest decision of the store.

--failures N prints the items on which a candidate lost against the baseline,
side by side with the scorers' reasons, and what differs in the candidate's answer:
--stratum worst (the default), a name, or all. Given a campaign file, the question
is printed as well. What was opened is noted in the store, for approvals that
require failing items to have been read; --no-record leaves no note.

Of held-out items ids, strata and scores are shown. With --identity, and a campaign
file or, for a step's output, --suite, their texts and the answers are too, and that
is appended to the suite's access.jsonl before anything is read.

` + exitCodeTable(),
		Example: `  cupel show pipelines/quickstart.yaml --failures 20 --stratum arithmetic --candidate q4_0
  cupel show score/q4_0/quality/scores:summary.json`,
		Args: atMostOne("REF"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.showNewest(o)
			}
			return a.show(args[0], o)
		},
	}
	o.unlock.flags(c)
	f := c.Flags()
	f.StringVar(&o.suite, "suite", "", "`folder` of the suite whose held-out items a step answers")
	f.IntVar(&o.failures, "failures", 0, "print up to `N` items that the candidate lost")
	f.StringVar(&o.stratum, "stratum", "worst", "only this stratum; all for every one")
	f.BoolVar(&o.full, "full", false, "whole questions and answers, not their beginnings")
	f.BoolVar(&o.noRecord, "no-record", false, "do not note which failing items were opened")
	f.StringVar(&o.candidate, "candidate", "", "only this candidate")
	return c
}

func (a *app) show(ref string, o showOptions) error {
	if o.failures < 0 {
		return fail(exitUsage, fmt.Errorf("--failures %d: give how many items to print, at least 1", o.failures))
	}
	if info, err := os.Stat(ref); err == nil && info.Mode().IsRegular() || looksLikeFile(ref) {
		loaded, err := spec.Load(ref)
		if err != nil {
			return fail(exitUsage, err)
		}
		o.campaign = loaded.Campaign
		s, err := a.store(&campaign{loaded: loaded}, store.ReadOnly)
		if err != nil {
			return err
		}
		defer s.Close()
		return a.showDecision(s, loaded.Digest, o)
	}
	s, err := a.storeHere(store.ReadOnly)
	if err != nil {
		return err
	}
	defer s.Close()
	if hash, err := step.ParseDigest(ref); err == nil {
		if _, err := s.Ref(refName(hash)); err == nil {
			return a.showDecision(s, hash, o)
		}
		return a.showObject(s, hash)
	}
	name, output, _ := strings.Cut(ref, ":")
	if rec, ok := newest(s, name); ok {
		return a.showStep(s, rec, output, o)
	}
	d, err := expandDigest(s, ref)
	if err != nil {
		return fail(exitUsage, err)
	}
	return a.showObject(s, d)
}

// showNewest shows the decision that was reached last.
func (a *app) showNewest(o showOptions) error {
	s, err := a.storeHere(store.ReadOnly)
	if err != nil {
		return err
	}
	defer s.Close()
	refs, unread := s.Refs()
	for _, err := range unread {
		a.notef("cupel: cannot be read, and may be newer: %v\n", err)
	}
	var last store.Ref
	for _, r := range refs {
		if strings.HasPrefix(r.Name, campaignRefs) && r.Set.After(last.Set) {
			last = r
		}
	}
	if last.Name == "" {
		return fail(exitUndetermined, fmt.Errorf("no decision has been reached in %s yet", s.Dir()))
	}
	hash, err := step.ParseDigest(strings.TrimPrefix(last.Name, campaignRefs))
	if err != nil {
		return fail(exitOutside, err)
	}
	return a.showDecision(s, hash, o)
}

func looksLikeFile(ref string) bool {
	for _, ext := range []string{".yaml", ".yml", ".json", ".cue"} {
		if strings.HasSuffix(ref, ext) && !strings.Contains(ref, ":") {
			return true
		}
	}
	return false
}

func (a *app) showDecision(s *store.Store, hash step.Digest, o showOptions) error {
	d, rec, err := recall(s, hash)
	if errors.Is(err, store.ErrMissing) {
		return fail(exitUndetermined, fmt.Errorf("there is no decision for spec %s; run the campaign first", hash.Short()))
	}
	if err != nil {
		return fail(exitOutside, err)
	}
	if o.failures > 0 {
		return a.showFailures(s, d.Evidence, rec, o)
	}
	if a.json {
		return a.printJSON(map[string]any{"decision": d, "record": rec})
	}
	a.printDecision(d, rec)
	return nil
}

// newest returns the newest record of a step name.
func newest(s *store.Store, name string) (store.Record, bool) {
	keys, err := s.KeysByName(name)
	if err != nil || len(keys) == 0 {
		return store.Record{}, false
	}
	rec, ok, _ := s.Latest(keys[0])
	return rec, ok
}

func (a *app) showStep(s *store.Store, rec store.Record, output string, o showOptions) error {
	if output != "" {
		out, ok := rec.Output(output)
		if !ok {
			names := make([]string, len(rec.Outputs))
			for i, o := range rec.Outputs {
				names[i] = o.Name
			}
			return fail(exitUsage, fmt.Errorf("%s has no output %q; it has %s", rec.Name, output, strings.Join(names, ", ")))
		}
		return a.showOutput(s, rec, out.Digest, o)
	}
	if a.json {
		return a.printJSON(rec)
	}
	a.printf("%s (%s) %s %s\n", rec.Name, rec.Kind, rec.Outcome, rec.Reason)
	a.printf("  key      %s\n  recorded %s on %s by cupel %s, run %s\n", rec.Key, rec.Finished.Format("2006-01-02 15:04:05"), rec.Host, rec.Version, rec.RunID)
	for _, o := range rec.Outputs {
		a.printf("  %-18s %s  %d bytes\n", o.Name, o.Digest, o.Size)
	}
	return a.showChecks(s, rec)
}

func (a *app) showObject(s *store.Store, d step.Digest) error {
	b, err := readObject(s, d)
	if err != nil {
		return err
	}
	if answersHeldOut(b) {
		a.notef("the texts are withheld: the items are held out; %s\n", howToOpen)
		return a.printWithheld(b)
	}
	return a.printObject(b)
}

func readObject(s *store.Store, d step.Digest) ([]byte, error) {
	b, err := s.Read(d)
	if errors.Is(err, store.ErrMissing) {
		return nil, fail(exitUsage, err)
	}
	return b, fail(exitOutside, err)
}

func (a *app) printObject(b []byte) error {
	var pretty bytes.Buffer
	if json.Indent(&pretty, b, "", "  ") == nil {
		b = append(pretty.Bytes(), '\n')
	}
	_, err := a.stdout.Write(b)
	return err
}

// expandDigest finds the one object whose digest begins with prefix.
func expandDigest(s *store.Store, prefix string) (step.Digest, error) {
	if len(prefix) < 6 || strings.Trim(prefix, "0123456789abcdef") != "" {
		return step.Digest{}, fmt.Errorf("%q is no file, no step of this store, and no digest (at least 6 hexadecimal digits)", prefix)
	}
	found, err := s.Objects(prefix)
	switch {
	case err != nil:
		return step.Digest{}, err
	case len(found) == 0:
		return step.Digest{}, fmt.Errorf("no object in %s begins with %s", s.Dir(), prefix)
	case len(found) > 1:
		return step.Digest{}, fmt.Errorf("%d objects begin with %s; give more digits", len(found), prefix)
	}
	return found[0], nil
}
