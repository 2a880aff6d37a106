package spec

import (
	"fmt"
	"slices"
)

// built lists what this version can do of what a campaign may say.
var (
	unbuiltKinds = []string{"energy"}
	builtChecks  = []string{"health", "identity", "generate", "json"}
)

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
	for i, check := range c.Preflight.Checks {
		if !slices.Contains(builtChecks, check) {
			r.add(path{"preflight", "checks", index(i)}, fmt.Sprintf("this version does not make the check %s", check), "it makes "+join(builtChecks, 8))
		}
	}
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
