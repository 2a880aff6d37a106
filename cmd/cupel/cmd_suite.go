package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/suites"
)

func (a *app) suiteCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "the item sets that ship with cupel: list, show, verify, export, build",
		Long: `Item sets that ship inside cupel. A campaign runs one by its name:

  measure:
    gate: {kind: quality, suite: "cupel:functional-gate"}

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.suiteListCmd(), a.suiteShowCmd(), a.suiteVerifyCmd(), a.suiteExportCmd(), a.suiteBuildCmd())
	return c
}

// folder is a suite to be read: shipped, or on disk.
type folder struct {
	fs.FS
	name string // as a user would write it
	disk string // "" for a shipped one
}

// openFolder finds a suite by its shipped name or as a folder. What is on disk
// comes first, and cupel:NAME is always the shipped one.
func openFolder(name string) (folder, error) {
	inside, shipped := strings.CutPrefix(name, suites.Prefix)
	if !shipped {
		if info, err := os.Stat(name); err == nil {
			if !info.IsDir() {
				return folder{}, fail(exitUsage, step.WithHint(fmt.Errorf("%s is a file, and a suite is a folder with suite.json", name), "`cupel items show` prints a .jsonl file"))
			}
			return folder{os.DirFS(name), name, name}, nil
		}
	}
	if !slices.Contains(suites.Names(), inside) {
		return folder{}, fail(exitUsage, step.WithHint(fmt.Errorf("%q is neither a folder nor a suite that ships with cupel", name), "there are "+strings.Join(suites.Names(), ", ")))
	}
	sub, err := suites.Sub(inside)
	return folder{sub, inside, ""}, err
}

// open opens the suite, and with that compares all digests. A shipped one is
// written to a folder of its own first, which done removes.
func (f folder) open() (s *suite.Set, done func(), err error) {
	if f.disk != "" {
		s, err = openSet(f.disk)
		return s, func() {}, err
	}
	dir, err := os.MkdirTemp("", "cupel-suite-")
	if err != nil {
		return nil, nil, fail(exitOutside, err)
	}
	done = func() { _ = os.RemoveAll(dir) } // a temporary folder
	if _, err = copyTree(f.FS, filepath.Join(dir, f.name), under("")); err == nil {
		s, err = openSet(filepath.Join(dir, f.name))
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	s.Name = f.name
	return s, done, nil
}

// copySuite writes a shipped suite to suites/NAME below dir.
func copySuite(name, dir string) ([]string, error) {
	sub, err := suites.Sub(name)
	if err != nil {
		return nil, err
	}
	return copyTree(sub, dir, under(path.Join("suites", name)))
}

// listed is one row of the list.
type listedSuite struct {
	suites.Suite
	Needs []string `json:"needs"` // tools, images, videos: what an endpoint must take besides text
}

func (a *app) suiteListCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "the shipped suites: version, items, strata, what they need, scorers, digest",
		Long: `List the suites that ship with cupel. The digest is that of the whole version, of
the items where a suite has none.

` + exitCodeTable(),
		Example: `  cupel suite list
  cupel suite list --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, err := shippedSuites()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "name\tversion\titems\tstrata\tneeds\tscorers\tdigest")
			for _, s := range list {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\t%s\n", s.Name, s.Version, s.Count, len(s.Strata), orNothing(s.Needs), strings.Join(scorersOf(s.Suite), ", "), shortDigest(s.Suite))
			}
			return w.Flush()
		},
	}
}

func shippedSuites() ([]listedSuite, error) {
	list, err := suites.List()
	if err != nil {
		return nil, err
	}
	out := make([]listedSuite, len(list))
	for i, s := range list {
		needs := map[string]bool{}
		err := eachShipped(s, func(it items.Item) error {
			note(needs, &it)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out[i] = listedSuite{s, slices.AppendSeq([]string{}, maps.Keys(needs))}
		slices.Sort(out[i].Needs)
	}
	return out, nil
}

func eachShipped(s suites.Suite, f func(items.Item) error) error {
	r, err := suites.Open(suites.Prefix + path.Join(s.Name, s.Items))
	if err != nil {
		return err
	}
	defer r.Close()
	return items.ReadNamed(path.Join(s.Name, s.Items), r, f)
}

// note adds what an item needs besides a text.
func note(needs map[string]bool, it *items.Item) {
	if it.Tools != nil {
		needs["tools"] = true
	}
	for _, m := range it.Shown() {
		needs[m.Kind()+"s"] = true
	}
}

func orNothing(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

// scorersOf are the scorers without their versions.
func scorersOf(s suites.Suite) []string {
	var out []string
	for _, id := range s.Scorers {
		if at := strings.LastIndexByte(id, '/'); at > 0 {
			id = id[:at]
		}
		out = append(out, id)
	}
	return out
}

// shortDigest is the beginning of a suite's digest, of its items' where it has
// none of its own.
func shortDigest(s suites.Suite) string {
	if s.Digest != "" {
		return s.Digest[:12]
	}
	return s.SHA256[:12]
}
