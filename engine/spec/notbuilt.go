package spec

import (
	"fmt"
	"slices"
)

// unbuiltKinds are workloads that a campaign may name and this version does not run.
var unbuiltKinds = []string{"energy"}

// NotBuilt lists what c asks for and this version cannot run, one error each,
// in the order of the campaign's sections. A campaign for which it returns
// something is valid and has a hash; check and run refuse it all the same. The
// errors have paths and no positions: see Loaded.NotBuilt.
func NotBuilt(c *Campaign) Errors {
	return notBuilt(c).errs
}

// NotBuilt is NotBuilt(l.Campaign) with positions, in the order of the file.
func (l *Loaded) NotBuilt() Errors {
	r := notBuilt(l.Campaign)
	var out Errors
	for i, e := range r.errs {
		out = append(out, l.At(r.paths[i], e.Msg, e.Hint))
	}
	return out.tidy()
}

func notBuilt(c *Campaign) *refusals {
	r := &refusals{}
	for _, name := range sortedKeys(c.Measure) {
		r.workload(path{"measure", name}, c.Measure[name])
	}
	return r
}

type refusals struct {
	errs  Errors
	paths []path // of errs
}

func (r *refusals) add(p path, msg, hint string) {
	r.errs = append(r.errs, &Error{Path: p.String(), Msg: msg, Hint: hint})
	r.paths = append(r.paths, p)
}

func (r *refusals) workload(p path, w Workload) {
	if slices.Contains(unbuiltKinds, w.Kind) {
		r.add(p.with("kind"), fmt.Sprintf("this version does not run %s workloads", w.Kind), "leave the workload out")
	}
}
