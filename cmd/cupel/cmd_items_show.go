package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

func (a *app) itemsShowCmd() *cobra.Command {
	var u unlock
	var access bool
	c := &cobra.Command{
		Use:   "show SET [ID...]",
		Short: "items readably; without ids, what there is",
		Long: `Print items of a set. Of a held-out item without an identity only its id and
labels are shown. With one, its text is shown, and that it was opened is appended
to access.jsonl in the folder of the set before anything is read: time, what --as
says, command, number of items.

` + exitCodeTable(),
		Example: `  cupel items show suites/support-1 ticket-0042
  cupel items show suites/support-1 ticket-0099 --identity ~/.age/eval --as release-team`,
		Args: minimumArgs("SET"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSet(args[0])
			if err != nil {
				return err
			}
			if access {
				return a.showAccess(s)
			}
			return a.itemsShow(c, s, args[1:], &u)
		},
	}
	u.flags(c)
	c.Flags().BoolVar(&access, "access", false, "print when held-out items were opened instead")
	return c
}

// shownItem is one item as far as it may be seen.
type shownItem struct {
	ID     string            `json:"id"`
	Part   string            `json:"part"` // development | held-out
	Strata map[string]string `json:"strata,omitempty"`
	Item   json.RawMessage   `json:"item"` // null: encrypted, and there was no identity

	item *items.Item
}

func (a *app) itemsShow(c *cobra.Command, s *suite.Set, ids []string, u *unlock) error {
	open, err := u.open(c)
	if err != nil {
		return err
	}
	found, err := find(s, ids)
	if err != nil {
		return err
	}
	sealed := map[string]*shownItem{}
	for i := range found {
		if len(ids) > 0 && found[i].Part == partHeldOut {
			sealed[found[i].ID] = &found[i]
		}
	}
	if len(sealed) > 0 && open != nil {
		err := open(s, len(sealed), func(it items.Item) error {
			if sh := sealed[it.ID]; sh != nil {
				return sh.take(&it)
			}
			return nil
		})
		if err != nil {
			return itemsError(err)
		}
	}
	return a.printItems(found, len(ids) > 0)
}

// The two parts of a set.
const (
	partDevelopment = "development"
	partHeldOut     = "held-out"
)

// find returns the items with these ids in their order, or all.
func find(s *suite.Set, ids []string) ([]shownItem, error) {
	var found []shownItem
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	all := len(ids) == 0
	err := s.Open(func(it items.Item) error {
		if !all && !wanted[it.ID] {
			return nil
		}
		sh := shownItem{ID: it.ID, Part: partDevelopment, Strata: it.Strata}
		found = append(found, sh)
		if all {
			return nil
		}
		return found[len(found)-1].take(&it)
	})
	if err != nil {
		return nil, itemsError(err)
	}
	err = s.Index(func(e suite.Entry) error {
		if all || wanted[e.ID] {
			found = append(found, shownItem{ID: e.ID, Part: partHeldOut, Strata: e.Strata})
		}
		return nil
	})
	if err != nil || all {
		return found, itemsError(err)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(sh shownItem) bool { return sh.ID == id }) {
			return nil, fail(exitUsage, fmt.Errorf("%s has no item %q; `cupel items show %s` lists them", s.Name, id, s.Name))
		}
	}
	slices.SortStableFunc(found, func(x, y shownItem) int { return slices.Index(ids, x.ID) - slices.Index(ids, y.ID) })
	return found, nil
}

func (sh *shownItem) take(it *items.Item) error {
	b, err := suite.Encode(it)
	sh.Item, sh.item = b, it
	return err
}

func (a *app) printItems(found []shownItem, texts bool) error {
	if a.json {
		return a.printJSON(found)
	}
	for i, sh := range found {
		if !texts {
			a.printf("%s  %s  %s\n", sh.ID, sh.Part, labelText(sh.Strata))
			continue
		}
		if i > 0 {
			a.printf("\n")
		}
		a.printItem(sh)
	}
	return nil
}

func labelText(strata map[string]string) string {
	var out []string
	for _, l := range slices.Sorted(maps.Keys(strata)) {
		out = append(out, l+"="+strata[l])
	}
	return strings.Join(out, " ")
}

func (a *app) printItem(sh shownItem) {
	a.printf("%s (%s)\n", sh.ID, sh.Part)
	a.printField("strata", labelText(sh.Strata))
	it := sh.item
	if it == nil {
		a.printf("encrypted; give --identity FILE or set $CUPEL_AGE_IDENTITY, and --as NAME\n")
		return
	}
	a.printField("source", it.Source)
	a.printField("cluster", it.Cluster)
	if it.Weight != nil {
		a.printField("weight", fmt.Sprint(*it.Weight))
	}
	for _, m := range it.Turns() {
		a.printField(m.Role, strings.TrimSpace(m.Content+"\n"+string(m.ToolCalls)))
		for _, shown := range m.Media {
			a.printField(shown.Kind(), strings.TrimSpace(shown.Path()))
		}
	}
	a.printField("tools", string(it.Tools))
	for _, s := range it.Scorer {
		text := s.Name
		if len(s.Params) > 0 {
			b, _ := json.Marshal(s.Params)
			text += " " + string(b)
		}
		a.printField("scorer", text)
	}
	a.printField("answer", answerText(it.Answer))
	a.printField("tol", string(it.Tol))
	a.printField("facts", strings.Join(it.Facts, "\n"))
	a.printField("schema", string(it.Schema))
	a.printField("tests", answerText(it.Tests))
	a.printField("rubric", it.Rubric)
	if it.ExpectTool != nil && len(it.ExpectTool) == 0 {
		a.printField("expect_tool", "none may be called")
	}
	for _, call := range it.ExpectTool {
		a.printField("expect_tool", strings.TrimSpace(call.Name+" "+string(call.Arguments)))
	}
}

// answerText prints a text without its quotes.
func answerText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// printField prints a name, and its value behind it or, in several lines,
// indented below it.
func (a *app) printField(name, value string) {
	switch {
	case value == "":
	case strings.Contains(value, "\n"):
		a.printf("%s\n  %s\n", name, strings.ReplaceAll(value, "\n", "\n  "))
	default:
		a.printf("%-12s %s\n", name, value)
	}
}

func (a *app) showAccess(s *suite.Set) error {
	log, err := s.AccessLog()
	if err != nil {
		return itemsError(err)
	}
	doubts := append([]string{}, log.Doubts(suite.Mark{})...)
	if a.json {
		return a.printJSON(map[string]any{"access": log.Openings, "unreadable": log.Unreadable, "doubts": doubts})
	}
	for _, x := range log.Openings {
		a.printf("%s  %s  %s  %d item(s)\n", x.Time, x.As, openedBy(x), x.Items)
	}
	for _, d := range doubts {
		a.printf("%s\n", d)
	}
	return nil
}

// openedBy is the command of an opening with its reason.
func openedBy(x suite.Access) string {
	if x.Why == "" {
		return x.Command
	}
	return x.Command + ", " + x.Why
}
