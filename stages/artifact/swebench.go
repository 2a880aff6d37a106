package artifact

import (
	"regexp"
	"slices"
	"strings"
)

// instanceID is how SWE-bench names an instance: owner__repo-123.
var instanceID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*__[A-Za-z0-9][A-Za-z0-9._-]*-[0-9]+$`)

// readSWEReport reads the official grader's report of what was submitted.
func readSWEReport(f *file) []*Record {
	r, d := f.record()
	selected := slices.Clone(f.selected)
	if len(selected) == 0 {
		selected = texts(d.get("submitted_ids"))
	}
	if len(selected) == 0 {
		selected = texts(d.get("completed_ids"))
		r.Notes = append(r.Notes, "the report does not list what was submitted: only what it completed is known")
	}
	r.swe(d, d, selected)
	r.Workload.Grader = unknown[string]("a report does not name the grader's revision: state the pinned one with import --grader")
	if f.grader != "" {
		r.Workload.Grader = said(f.grader)
	}
	if v, ok := d.get("schema_version").num(); ok {
		r.Workload.ProtocolVersion = is(v)
	}
	return []*Record{r}
}

// swe reads a grader's report of selected instances. A resolution is complete
// only when the report completed every selected one, and none ended in an error.
func (r *Record) swe(d, report node, selected []string) {
	r.Labels.Evidence = is([]string{"quality"})
	if !report.isObject() {
		d.invalid("there is no report of the official grader: a trajectory or a patch resolves nothing")
		r.Workload.Instances = is(selected)
		return
	}
	g := graded{texts(report.get("completed_ids")), texts(report.get("resolved_ids")), texts(report.get("error_ids"))}
	g.check(d, selected)
	hits, left := g.count(selected)
	if len(left) > 0 {
		d.invalid("incomplete: the report has no result of %d of %d selected instances: %s", len(left), len(selected), clip(strings.Join(left, ", ")))
	}
	r.Workload.Instances = is(selected)
	n, missing := float64(len(selected)), float64(len(left))
	r.Results.Items, r.Results.Completed, r.Results.Failed, r.Results.Passed = is(n), is(n-missing), is(missing), is(hits)
	if n > 0 {
		r.Results.Score = is(hits / n)
	}
}

// graded are the lists of a grader's report.
type graded struct{ done, resolved, errors []string }

// check notes what no report can say.
func (g graded) check(d node, selected []string) {
	for _, id := range slices.Concat(selected, g.done, g.resolved) {
		if !instanceID.MatchString(id) {
			d.invalid("%s is no instance of SWE-bench", id)
			break
		}
	}
	slices.Sort(selected)
	if len(slices.Compact(slices.Clone(selected))) != len(selected) {
		d.invalid("an instance is selected twice")
	}
	for _, id := range g.resolved {
		if !slices.Contains(g.done, id) {
			d.invalid("%s is resolved and not completed", id)
			break
		}
	}
}

// count is how many selected instances are resolved, and which have no result:
// not completed, or ended in an error.
func (g graded) count(selected []string) (hits float64, left []string) {
	for _, id := range selected {
		switch {
		case slices.Contains(g.errors, id), !slices.Contains(g.done, id):
			left = append(left, id)
		case slices.Contains(g.resolved, id):
			hits++
		}
	}
	return hits, left
}

func readSWEIntermediate(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{})
	d.invalid("a trajectory or a patch is intermediate: only the official grader's report of the selected instances resolves anything")
	return []*Record{r}
}
