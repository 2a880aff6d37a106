package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/prior"
	"github.com/cupel-dev/cupel/stages/prior/table"
	"github.com/cupel-dev/cupel/stages/research/library"
)

// researchDir is where imports are kept when nothing else is said.
const researchDir = "research"

func (a *app) researchCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "research",
		Short: "benchmarks that others publish: import, list, show, compare",
		Long: `Keep what others publish about models and engines beside a campaign: the page as
it was, the rows that were read from it, and what could not be read. Such numbers
are priors. They say what is worth measuring; they never pass a guard.

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.researchImportCmd(), a.researchListCmd(), a.researchShowCmd(), a.researchCompareCmd(), a.researchFieldsCmd())
	return c
}

// researchFieldsCmd prints what headers mean.
func (a *app) researchFieldsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "fields",
		Short: "print which headers an import knows, and as what",
		Example: `  cupel research fields
  cupel research fields --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(table.Aliases)
			}
			a.printf("%s", table.AliasTable())
			return nil
		},
	}
}

// clock is the day that ages are counted to when none is given.
var clock = time.Now

func todayText() string { return clock().UTC().Format(time.DateOnly) }

// eastmost is how far the day is ahead of UTC where it begins first.
const eastmost = 14 * time.Hour

// futureResearch warns when sources were looked at on a day that has begun
// nowhere: every age that is counted to it is wrong.
func futureResearch(c *spec.Campaign) []string {
	if c.Research == nil || c.Research.ObservedOn <= clock().Add(eastmost).UTC().Format(time.DateOnly) {
		return nil
	}
	return []string{fmt.Sprintf("research.observedOn: %s lies in the future, today is %s; ages are counted to it, so sources look older than they are: write the day on which they were looked at", c.Research.ObservedOn, todayText())}
}

// legible is an error of a file that somebody else made, with what a terminal
// would act on escaped.
type legible struct{ error }

func (e legible) Error() string { return printable(e.error.Error()) }
func (e legible) Unwrap() error { return e.error }

// dayFlag checks a day that a flag gives.
func dayFlag(flag, s string) error {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return fail(exitUsage, fmt.Errorf("%s %q: want a day of the calendar, YYYY-MM-DD", flag, s))
	}
	return nil
}

// libraryError gives errors of the kept sources their exit code.
func libraryError(dir string, err error) error {
	if err == nil {
		return nil
	}
	err = legible{err}
	switch {
	case errors.Is(err, library.ErrTampered):
		return fail(exitFailed, err)
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitUsage, step.WithHint(err, fmt.Sprintf("cupel research import keeps sources in %s; another folder is named with --in", dir)))
	}
	return fail(exitUsage, err)
}

// ageAt is the age of a version on a day.
func ageAt(v library.Version, day string) string { return ageOf(prior.Age(v.PublishedOn, day)) }
