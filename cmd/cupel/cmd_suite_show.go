package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/suites"
)

// maxShown is how many bytes of a long text are printed of an example.
const maxShown = 600

func (a *app) suiteShowCmd() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "show NAME|DIR",
		Short: "a suite: what it measures, its strata, one item of each",
		Long: `Print the summary of a suite's README, its strata with their counts, and the
first item of each. Long texts are cut in the middle; --full prints all of them.

` + exitCodeTable(),
		Example: `  cupel suite show functional-gate
  cupel suite show suites/support-1 --full`,
		Args: exactArgs("NAME|DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := describeSuite(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			a.printSuite(s, full)
			return nil
		},
	}
	c.Flags().BoolVar(&full, "full", false, "do not cut long texts")
	return c
}

// described is a suite with what a person wants to know of it.
type described struct {
	listedSuite
	Readme   string    `json:"readme,omitempty"` // the summary: what stands below its title
	Examples []example `json:"examples"`
}

type example struct {
	Stratum string          `json:"stratum"`
	Item    json.RawMessage `json:"item"`

	item *items.Item
}

func describeSuite(name string) (*described, error) {
	f, err := openFolder(name)
	if err != nil {
		return nil, err
	}
	set, done, err := f.open()
	if err != nil {
		return nil, err
	}
	defer done()
	if set.Manifest == nil {
		return nil, fail(exitUsage, fmt.Errorf("%s is not a frozen suite: it has no suite.json", name))
	}
	d := &described{listedSuite: listedSuite{Suite: asShipped(set.Manifest)}, Examples: []example{}}
	readme, err := fs.ReadFile(f, suite.ReadmeFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitOutside, err)
	}
	d.Readme = summary(string(readme))
	needs := map[string]bool{}
	seen := map[string]bool{}
	err = set.Open(func(it items.Item) error {
		note(needs, &it)
		task := it.Stratum(suite.PrimaryLabel)
		if seen[task] {
			return nil
		}
		seen[task] = true
		b, err := suite.Encode(&it)
		d.Examples = append(d.Examples, example{task, b, &it})
		return err
	})
	d.Needs = slices.AppendSeq([]string{}, maps.Keys(needs))
	slices.Sort(d.Needs)
	return d, itemsError(err)
}

func asShipped(m *suite.Manifest) suites.Suite {
	s := suites.Suite{
		Name: m.Name, Version: m.Version, Items: m.Items, SHA256: m.SHA256.String(), Count: m.Count,
		Strata: m.Strata, Labels: m.Labels, Scorers: m.Scorers,
	}
	if !m.Digest.IsZero() {
		s.Digest = m.Digest.String()
	}
	return s
}

// summary is the first section of a README without its title.
func summary(readme string) string {
	_, body, _ := strings.Cut(readme, "\n")
	body, _, _ = strings.Cut("\n"+body, "\n## ")
	return strings.TrimSpace(body)
}

func (a *app) printSuite(s *described, full bool) {
	a.printf("%s version %s: %d items in %d strata; needs %s\n", s.Name, s.Version, s.Count, len(s.Strata), orNothing(s.Needs))
	a.printf("digest %s\nscorers %s\n", fullDigest(s.Suite), strings.Join(s.Scorers, ", "))
	if s.Readme != "" {
		a.printf("\n%s\n", s.Readme)
	}
	a.printf("\n")
	for _, k := range slices.Sorted(maps.Keys(s.Strata)) {
		a.printf("  %-14s %d\n", k, s.Strata[k])
	}
	for _, x := range s.Examples {
		a.printf("\n")
		if !full {
			x.item = shortened(x.item)
		}
		a.printItem(shownItem{ID: x.item.ID, Part: partDevelopment, Strata: x.item.Strata, item: x.item})
	}
}

func fullDigest(s suites.Suite) string {
	if s.Digest != "" {
		return s.Digest
	}
	return s.SHA256 + " (of the items)"
}

// shortened cuts the middle out of long texts of an item.
func shortened(it *items.Item) *items.Item {
	short := *it
	short.Input = slices.Clone(it.Input)
	for i := range short.Input {
		short.Input[i].Content = middleOut(short.Input[i].Content)
	}
	short.Tools, short.Schema = json.RawMessage(middleOut(string(it.Tools))), json.RawMessage(middleOut(string(it.Schema)))
	return &short
}

func middleOut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := len(s) - maxShown
	head, tail := strings.ToValidUTF8(s[:maxShown/2], ""), strings.ToValidUTF8(s[len(s)-maxShown/2:], "")
	return fmt.Sprintf("%s … %d bytes … %s", head, cut, tail)
}

func (a *app) suiteVerifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME|DIR...]",
		Short: "that suites are what was frozen; without arguments, all that ship",
		Long: `Compute all digests of suites again and count their items: files, version,
strata, labels, scorers. Of a held-out part the encrypted file and the index are
compared. Exit code 1 says that something differs, and what.

` + exitCodeTable(),
		Example: `  cupel suite verify
  cupel suite verify needle suites/support-1 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = suites.Names()
				for i := range args {
					args[i] = suites.Prefix + args[i]
				}
			}
			return a.verifySuites(args)
		},
	}
}

// verifiedSuite is the outcome of one suite.
type verifiedSuite struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Items   int    `json:"items"`
	Digest  string `json:"digest,omitempty"`
	Differs string `json:"differs,omitempty"`
}

func (a *app) verifySuites(names []string) error {
	out, failed := []verifiedSuite{}, false
	for _, name := range names {
		v, err := verifySuite(name)
		if err != nil && codeOf(err) != exitFailed {
			return err
		}
		if err != nil {
			v.Differs, failed = err.Error(), true
		}
		out = append(out, v)
	}
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.printVerifiedSuites(out)
	}
	if failed {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) printVerifiedSuites(out []verifiedSuite) {
	for _, v := range out {
		if v.Differs != "" {
			a.printf("FAIL  %s\n", v.Differs)
			continue
		}
		a.printf("ok    %s version %s, %d items, %s\n", v.Name, v.Version, v.Items, v.Digest)
	}
}

func verifySuite(name string) (verifiedSuite, error) {
	v := verifiedSuite{Name: strings.TrimPrefix(name, suites.Prefix)}
	f, err := openFolder(name)
	if err != nil {
		return v, err
	}
	set, done, err := f.open()
	if err != nil {
		return v, err
	}
	defer done()
	if err := set.Recount(); err != nil {
		return v, itemsError(fmt.Errorf("%s: %w", filepath.Base(v.Name), err))
	}
	s := asShipped(set.Manifest)
	v.Version, v.Items, v.Digest = s.Version, s.Count, fullDigest(s)
	return v, itemsError(set.Chain())
}
