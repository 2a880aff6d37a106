package spec

import "fmt"

// Imported takes its rows from files that another tool measured.
type Imported struct {
	Protocol  string            `json:"protocol"`
	Files     map[string][]File `json:"files"`     // candidate -> files, a trial each
	Statistic string            `json:"statistic"` // pooled | mean-of-runs
	SLO       *SLO              `json:"slo,omitempty"`
}

// MeanOfRuns is the statistic that states means of each run's own numbers.
const MeanOfRuns = "mean-of-runs"

// ImportedCell is the one cell of an imported workload.
const ImportedCell = "imported"

// maxImported bounds one imported file.
const maxImported = 32 << 20

// Imported reports whether all that a campaign measures was measured by
// another tool: then nobody is asked anything, and no endpoint is looked at.
func (c *Campaign) Imported() bool {
	for _, w := range c.Measure {
		if w.Imported == nil {
			return false
		}
	}
	return len(c.Measure) > 0
}

// imported checks that each candidate has files, and nobody else.
func (r *rules) imported(p path, w *node) {
	files := w.get("files")
	for _, f := range files.pairs() {
		if r.declared.get(f.name) == nil {
			r.errs.add(f.val.at, p.with("files").with(f.name), fmt.Sprintf("there is no candidate %s", show(f.name)), "")
		}
	}
	for _, f := range r.declared.pairs() {
		if files != nil && files.get(f.name) == nil {
			r.errs.add(files.at, p.with("files"), fmt.Sprintf("candidate %s has no file", show(f.name)), "an imported workload has files of every candidate")
		}
	}
}

// findImported hashes the files of imported workloads.
func (f *files) findImported() {
	for _, w := range f.root.get("measure").pairs() {
		if kindName(w.val) != "imported" {
			continue
		}
		out := map[string][]File{}
		for _, cand := range w.val.get("files").pairs() {
			for i, n := range cand.val.items() {
				name, ok := n.str()
				if !ok {
					continue
				}
				file, _, err := hashFile(f.dir, name, maxImported, 0)
				if err != nil {
					f.fail(n, path{"measure", w.name, "files", cand.name, index(i)}, err)
					continue
				}
				out[cand.name] = append(out[cand.name], file)
			}
		}
		f.imports[w.name] = out
	}
}
