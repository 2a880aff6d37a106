package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/suites"
)

func (a *app) itemsCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "items",
		Short: "item sets of one's own: build, lint, strata, split, freeze, diff, show",
		Long: `Item sets from one's own traffic, in this order: build them from logs and
hand-written items, lint them, look at their strata, split off a held-out part,
freeze a version, and later say what differs between two versions.

A set is a .jsonl file, a split folder or a frozen suite. Frozen suites are what
a campaign names as its suite.

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.itemsBuildCmd(), a.itemsLintCmd(), a.itemsStrataCmd(), a.itemsSplitCmd(), a.itemsFreezeCmd(), a.itemsDiffCmd(), a.itemsShowCmd())
	return c
}

// unlock is how a command gets at held-out texts.
type unlock struct{ identity, as string }

func (u *unlock) flags(c *cobra.Command) {
	c.Flags().StringVar(&u.identity, "identity", os.Getenv("CUPEL_AGE_IDENTITY"), "age identity `file` that opens held-out items (also $CUPEL_AGE_IDENTITY)")
	c.Flags().StringVar(&u.as, "as", suite.Unnamed, "your `name` in the suite's access log")
}

// open returns what reads held-out items, nil without an identity.
func (u *unlock) open(c *cobra.Command) (func(s *suite.Set, n int, f func(items.Item) error) error, error) {
	if u.identity == "" {
		return nil, nil
	}
	k, err := u.key(c.CommandPath(), "")
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	return func(s *suite.Set, n int, f func(items.Item) error) error {
		return s.HeldOut(k, n, f)
	}, nil
}

// openAll is open for commands that read the whole held-out part.
func (u *unlock) openAll(c *cobra.Command) (func(*suite.Set, func(items.Item) error) error, error) {
	open, err := u.open(c)
	if open == nil || err != nil {
		return nil, err
	}
	return func(s *suite.Set, f func(items.Item) error) error { return open(s, s.Split.HeldOut.Count, f) }, nil
}

// openSet opens a set that a user named.
func openSet(name string) (*suite.Set, error) {
	if inside, ok := strings.CutPrefix(name, suites.Prefix); ok {
		return nil, fail(exitUsage, step.WithHint(fmt.Errorf("%s ships inside cupel, and this command reads a folder", name), "`cupel suite export "+inside+" DIR` writes a copy; `cupel suite show "+inside+"` prints it"))
	}
	s, err := suite.Open(name)
	return s, itemsError(err)
}

// itemsError gives errors about sets their exit code: what was tampered with is
// a check that failed.
func itemsError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, suite.ErrTampered), errors.Is(err, suite.ErrPublished):
		return fail(exitFailed, err)
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, errors.New("interrupted; nothing was written"))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EIO):
		return fail(exitOutside, err)
	case errors.Is(err, suite.ErrLocked):
		return fail(exitUsage, step.WithHint(err, giveIdentity))
	}
	return fail(exitUsage, err)
}

// lockedNote says what was not looked at.
func (a *app) lockedNote(s *suite.Set) {
	if s.HasHeldOut() {
		a.notef("%s: %d held-out item(s) are encrypted and were not read; give --identity FILE or set $CUPEL_AGE_IDENTITY\n", s.Name, s.Split.HeldOut.Count)
	}
}

// minimumArgs wants at least one argument of a name.
func minimumArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= len(names) {
			return nil
		}
		return fail(exitUsage, fmt.Errorf("%s takes %s, got nothing; see '%s -h'", c.CommandPath(), names[0], c.CommandPath()))
	}
}
