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
	selected := texts(d.get("submitted_ids"))
	if len(selected) == 0 {
		selected = texts(d.get("completed_ids"))
		r.Notes = append(r.Notes, "the report does not list what was submitted: only what it completed is known")
	}
	r.swe(d, d, selected)
	r.Workload.Grader = unknown[string]("a report does not name the grader's revision: pin it in the campaign that selected the instances")
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
	done, resolved, wrong := texts(report.get("completed_ids")), texts(report.get("resolved_ids")), texts(report.get("error_ids"))
	ids := slices.Concat(selected, done, resolved)
	for _, id := range ids {
		if !instanceID.MatchString(id) {
			d.invalid("%s is no instance of SWE-bench", id)
			break
		}
	}
	slices.Sort(selected)
	if n := len(selected); len(slices.Compact(slices.Clone(selected))) != n {
		d.invalid("an instance is selected twice")
	}
	var missing, failed []string
	hits := 0.0
	for _, id := range selected {
		switch {
		case slices.Contains(wrong, id):
			failed = append(failed, id)
		case !slices.Contains(done, id):
			missing = append(missing, id)
		case slices.Contains(resolved, id):
			hits++
		}
	}
	if len(missing)+len(failed) > 0 {
		d.invalid("incomplete: %d selected instances are not in the report as completed, and %d ended in an error: %s", len(missing), len(failed), clip(strings.Join(slices.Concat(missing, failed), ", ")))
	}
	for _, id := range resolved {
		if !slices.Contains(done, id) {
			d.invalid("%s is resolved and not completed", id)
			break
		}
	}
	r.Workload.Instances = is(selected)
	n := float64(len(selected))
	r.Results.Items, r.Results.Completed, r.Results.Failed = is(n), is(n-float64(len(missing)+len(failed))), is(float64(len(missing)+len(failed)))
	r.Results.Passed = is(hits)
	if n > 0 {
		r.Results.Score = is(hits / n)
	}
}

func readSWEIntermediate(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{})
	d.invalid("a trajectory or a patch is intermediate: only the official grader's report of the selected instances resolves anything")
	return []*Record{r}
}
