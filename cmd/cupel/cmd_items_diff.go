package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/items/suite"
)

func (a *app) itemsDiffCmd() *cobra.Command {
	var u unlock
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "what was added, changed and dropped between two sets",
		Long: `Compare two sets by item id: suites, split folders or .jsonl files. A changed
item is named with its fields; the field split says that it moved between
development and held-out. Texts are never printed.

Exit code 0 when the sets are the same, 1 when they differ.

` + exitCodeTable(),
		Example: `  cupel items diff suites/support-1 suites/support-2
  cupel items diff suites/support-1 suites/support-2 --identity ~/.age/eval --as release-team --json`,
		Args: exactArgs("A", "B"),
		RunE: func(c *cobra.Command, args []string) error { return a.itemsDiff(c, args[0], args[1], &u) },
	}
	u.flags(c)
	return c
}

func (a *app) itemsDiff(c *cobra.Command, nameA, nameB string, u *unlock) error {
	open, err := u.openAll(c)
	if err != nil {
		return err
	}
	x, err := openSet(nameA)
	if err != nil {
		return err
	}
	y, err := openSet(nameB)
	if err != nil {
		return err
	}
	d, err := suite.Compare(x, y, open)
	if err != nil {
		return itemsError(err)
	}
	if a.json {
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		a.printDiff(d)
	}
	if d.Empty() && d.Unread == 0 {
		return nil
	}
	return exit(exitFailed)
}

func (a *app) printDiff(d suite.Diff) {
	for _, id := range d.Added {
		a.printf("added    %s\n", id)
	}
	for _, id := range d.Dropped {
		a.printf("dropped  %s\n", id)
	}
	for _, ch := range d.Changed {
		a.printf("changed  %s: %s\n", ch.ID, strings.Join(ch.Fields, ", "))
	}
	unread := ""
	if d.Unread > 0 {
		unread = fmt.Sprintf("; %d held-out item(s) cannot be compared without --identity", d.Unread)
	}
	a.printf("%d added, %d dropped, %d changed, %d the same%s\n", len(d.Added), len(d.Dropped), len(d.Changed), d.Same, unread)
}
