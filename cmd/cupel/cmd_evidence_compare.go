package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/artifact"
)

func (a *app) evidenceCompareCmd() *cobra.Command {
	allow := false
	c := &cobra.Command{
		Use:   "compare FILE FILE...",
		Short: "whether measurements may stand side by side, and what speaks against it",
		Long: `Compare 2 to 20 files, or parts of them as FILE#PART. Files with several parts
are compared part by part, by name.

It fails closed: a field that makes it another experiment and differs, a control
that is not known, and an invalid value each make the files not comparable. What
an A/B is about (engine, recipe, method, weights) is told apart and blocks
nothing. --allow-mismatch is for exploring: exit code 0, and comparable is still
false.

` + exitCodeTable(),
		Example: `  cupel evidence compare default.json tuned.json
  cupel evidence compare findings/a/record.json#f16/chat/c=4 findings/a/record.json#q8/chat/c=4 --json`,
		Args: betweenUnits,
		RunE: func(_ *cobra.Command, args []string) error { return a.evidenceCompare(args, allow) },
	}
	c.Flags().BoolVar(&allow, "allow-mismatch", false, "exit with 0 although the files are not comparable")
	return c
}

func betweenUnits(c *cobra.Command, args []string) error {
	if n := len(args); n < artifact.MinUnits || n > artifact.MaxUnits {
		return fail(exitUsage, fmt.Errorf("%s takes %d to %d files, got %d; see '%s -h'", c.CommandPath(), artifact.MinUnits, artifact.MaxUnits, n, c.CommandPath()))
	}
	return nil
}

// compareEvidenceAnswer is the JSON form.
type compareEvidenceAnswer struct {
	Schema     string         `json:"schema"` // cupel/evidence-comparison/v1
	Comparable bool           `json:"comparable"`
	Parts      []comparedPart `json:"parts"`
	Missing    []string       `json:"missing_parts"` // that only some of the files have
}

type comparedPart struct {
	Part string `json:"part,omitempty"`
	artifact.Comparison
}

func (a *app) evidenceCompare(args []string, allow bool) error {
	docs := make([]*artifact.Document, len(args))
	for i, arg := range args {
		var err error
		if docs[i], err = a.evidenceOf(arg, artifact.Options{}); err != nil {
			return err
		}
	}
	ans := compareDocuments(args, docs)
	if a.json {
		if err := a.printJSON(ans); err != nil {
			return err
		}
	} else {
		a.printEvidenceComparison(ans)
	}
	if ans.Comparable || allow {
		return nil
	}
	return exit(exitFailed)
}

// compareDocuments pairs single records as they are, and the parts of larger
// files by name.
func compareDocuments(names []string, docs []*artifact.Document) compareEvidenceAnswer {
	ans := compareEvidenceAnswer{Schema: "cupel/evidence-comparison/v1", Comparable: true, Parts: []comparedPart{}, Missing: []string{}}
	single := !slices.ContainsFunc(docs, func(d *artifact.Document) bool { return len(d.Records) != 1 })
	parts := map[string][]artifact.Unit{}
	var order []string
	for i, d := range docs {
		for _, r := range d.Records {
			key, name := r.Part, names[i]
			if single {
				key = ""
			} else if r.Part != "" && !strings.Contains(name, "#") {
				name += "#" + r.Part
			}
			if parts[key] == nil {
				order = append(order, key)
			}
			parts[key] = append(parts[key], artifact.Unit{Name: name, Record: r})
		}
	}
	for _, key := range order {
		if len(parts[key]) != len(docs) {
			ans.Missing = append(ans.Missing, key)
			ans.Comparable = false
			continue
		}
		c := artifact.Compare(parts[key])
		ans.Comparable = ans.Comparable && c.Comparable
		ans.Parts = append(ans.Parts, comparedPart{key, c})
	}
	return ans
}

func (a *app) printEvidenceComparison(ans compareEvidenceAnswer) {
	if ans.Comparable {
		a.printf("comparable: the fields that make an experiment are equal\n")
	} else {
		a.printf("not directly comparable:\n")
	}
	for _, p := range ans.Parts {
		if len(ans.Parts) > 1 {
			a.printf("%s\n", p.Part)
		}
		a.printFields("differs", p.Differences)
		for _, f := range slices.Sorted(maps.Keys(p.Unknown)) {
			a.printf("  unknown  %s: in %s\n", f, strings.Join(p.Unknown[f], ", "))
		}
		for _, f := range slices.Sorted(maps.Keys(p.Invalid)) {
			a.printf("  invalid  %s: %s\n", f, strings.Join(p.Invalid[f], "; "))
		}
		for _, s := range p.Cautions {
			a.printf("  caution  %s\n", s)
		}
		if len(p.Provenance) > 0 {
			a.printf("  implementation provenance differs:\n")
			a.printFields("  of", p.Provenance)
		}
	}
	for _, m := range ans.Missing {
		a.printf("  missing  %s: only some of the files have this part\n", m)
	}
}

func (a *app) printFields(what string, fields map[string][]any) {
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		b, _ := json.Marshal(fields[f])
		a.printf("  %s  %s: %s\n", what, f, b)
	}
}
