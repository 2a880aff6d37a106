package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/publish"
)

func (a *app) evidenceInvalidateCmd() *cobra.Command {
	var reason string
	var takeBack bool
	c := &cobra.Command{
		Use:   "invalidate FINDING",
		Short: "mark a finding as known to be wrong: kept, never counted",
		Long: `Write down beside the findings (invalid.json) that one of them is known to be wrong,
and why. The finding is not touched. The index shows it as historical-invalid, history
leaves it out of the count, and a decision of the store that rests on it no longer
opens a gate.

` + exitCodeTable(),
		Example: `  cupel evidence invalidate findings/2026-11-30-quickstart --reason contexts-differ
  cupel evidence invalidate findings/2026-11-30-quickstart --take-back`,
		Args: exactArgs("FINDING"),
		RunE: func(_ *cobra.Command, args []string) error { return a.invalidate(args[0], reason, takeBack) },
	}
	c.Flags().StringVar(&reason, "reason", "", "why it is wrong")
	c.Flags().BoolVar(&takeBack, "take-back", false, "it is not wrong after all")
	return c
}

func (a *app) invalidate(finding, reason string, takeBack bool) error {
	reason = strings.Join(strings.Fields(reason), " ")
	switch {
	case takeBack && reason != "":
		return fail(exitUsage, errors.New("--take-back needs no --reason"))
	case !takeBack && reason == "":
		return fail(exitUsage, errors.New("--reason is missing: a mark without a reason helps nobody"))
	case len(reason) > 1000:
		return fail(exitUsage, errors.New("--reason: at most 1,000 bytes"))
	}
	dir := filepath.Clean(finding)
	digest, err := publish.Mark(filepath.Dir(dir), filepath.Base(dir), reason, time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		return fail(exitUsage, err)
	}
	if takeBack {
		a.printf("%s counts again\n", finding)
		return nil
	}
	a.printf("%s is %s: %s\n", finding, publish.HistoricalInvalid, reason)
	return a.voidDecision(digest, publish.HistoricalInvalid+": "+reason)
}

// voidDecision takes the standing from decisions of the store here that rest on
// some evidence. That there is no store is no reason to fail.
func (a *app) voidDecision(digest step.Digest, why string) error {
	s, err := a.storeHere(store.ReadWrite)
	if err != nil {
		a.notef("no store is here whose decision could rest on it; name one with --store\n")
		return nil
	}
	defer s.Close()
	refs, _ := s.Refs()
	for _, r := range refs {
		hash, err := step.ParseDigest(strings.TrimPrefix(r.Name, campaignRefs))
		if !strings.HasPrefix(r.Name, campaignRefs) || err != nil {
			continue
		}
		d, _, err := recall(s, hash)
		if err != nil || d.Evidence != digest {
			continue
		}
		if err := void(s, hash, why); err != nil {
			return fail(exitOutside, fmt.Errorf("the decision still stands: %w", err))
		}
		a.notef("the decision of spec %s no longer stands\n", hash.Short())
	}
	return nil
}
