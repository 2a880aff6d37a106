package spec

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// rules are the demands between fields, which CUE definitions without `if`
// cannot make. They look at the tree and not at the typed campaign, so that
// they are reported together with everything else that is wrong.
type rules struct {
	root     *node
	declared *node // candidates as written, those that cannot be resolved included
	errs     *Errors
	warnings Errors
}

func (r *rules) check() {
	r.notEmpty()
	r.baseline()
	r.research()
	r.candidates()
	r.judges()
	r.preflight()
	for _, f := range r.root.get("measure").pairs() {
		r.workload(f.name, f.val)
	}
	guards := r.root.get("decide").get("guards")
	for _, f := range guards.pairs() {
		r.guard(f.name, f.val)
	}
	if guards != nil && len(guards.fields) == 0 {
		r.warnings.add(guards.at, path{"decide", "guards"}, "no guard: the campaign measures and decides nothing", "")
	}
	if to, ok := r.root.get("publish").get("to").str(); ok && !filepath.IsLocal(to) {
		r.fail(path{"publish", "to"}, fmt.Sprintf("found %q, allowed a folder beside the campaign", show(to)), "findings go into the repository that holds the campaign")
	}
	for i, n := range r.root.get("publish").get("redact").items() {
		if p, ok := n.str(); ok {
			r.pattern(p, path{"publish", "redact", index(i)})
		}
	}
}

// pattern wants a regular expression that matches something in particular.
func (r *rules) pattern(p string, at path) {
	re, err := regexp.Compile(p)
	switch {
	case err != nil:
		r.fail(at, "it is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "see https://golang.org/s/re2syntax")
	case re.MatchString(""):
		r.fail(at, "it matches every text, the empty one too", "make it match what must not be published, and nothing else")
	}
}

// fail reports at the position of p.
func (r *rules) fail(p path, msg, hint string) {
	_, at := r.root.find(p)
	r.errs.add(at, p, msg, hint)
}

// notEmpty wants a candidate and a workload.
func (r *rules) notEmpty() {
	for _, name := range []string{"candidates", "measure"} {
		n := r.root.get(name)
		if name == "candidates" {
			n = r.declared // those that cannot be resolved are no longer in root
		}
		if n != nil && n.kind == cue.StructKind && len(n.fields) == 0 {
			r.fail(path{name}, "is empty, allowed at least one entry", "")
		}
	}
}

func (r *rules) baseline() {
	var first string
	for _, f := range r.declared.pairs() {
		role, _ := f.val.get("role").str()
		switch {
		case role != "baseline":
		case first == "":
			first = f.name
		default:
			r.errs.add(f.val.get("role").at, path{"candidates", f.name, "role"},
				fmt.Sprintf("a second baseline, %s is one already", first), "exactly one candidate is the baseline")
		}
	}
	if first == "" && len(r.declared.pairs()) > 0 {
		r.fail(path{"candidates"}, "no candidate has role: baseline", "exactly one candidate is what the others are compared with")
	}
}

func names(n *node) []string {
	var out []string
	for _, f := range n.pairs() {
		out = append(out, f.name)
	}
	return out
}

// reference checks that p names a candidate (or a workload).
func (r *rules) reference(n *node, p path, what string, among *node) bool {
	s, ok := n.str()
	if !ok {
		return false
	}
	if among.field(s) == nil {
		r.errs.add(n.at, p, fmt.Sprintf("there is no %s %q", what, show(s)), didYouMean(s, names(among)))
		return false
	}
	return true
}

// date refuses 30 February, which the pattern lets pass.
func (r *rules) date(n *node, p path) {
	s, ok := n.str()
	if !ok || len(s) != len(time.DateOnly) {
		return
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil && !strings.Contains(err.Error(), "cannot parse") {
		r.errs.add(n.at, p, fmt.Sprintf("%s is not a day of the calendar", show(s)), "")
	}
}

func (r *rules) candidates() {
	envs := map[string]string{}
	for _, section := range []string{"candidates", "judges"} {
		named := r.declared
		if section == "judges" {
			named = r.root.get(section)
		}
		for _, f := range named.pairs() {
			env := bindVariable(f.name)
			if other, dup := envs[env]; dup && other != f.name {
				r.errs.add(f.at, path{section, f.name}, fmt.Sprintf("differs from %s only in - and _: both are bound by %s", clip(other), env), "rename one")
			}
			envs[env] = f.name
		}
	}
	for _, f := range r.root.get("candidates").pairs() {
		p := path{"candidates", f.name}
		if m := f.val.get("model"); m != nil && m.kind == cue.StructKind && m.get("repo") == nil && m.get("sha256") == nil {
			r.errs.add(m.at, p.with("model"), "names no weights, allowed repo (with a revision) or sha256", "")
		}
		for _, q := range []path{{"tokenizer"}, {"speculative", "draft"}} {
			n, _ := f.val.find(q)
			if q[len(q)-1] == "tokenizer" || f.val.get("speculative").get("draft") != nil {
				r.immutable(n, f.val, append(p.with(q[0]), q[1:]...))
			}
		}
		r.duration(f.val.get("serve").get("timeout"), p.with("serve").with("timeout"))
	}
}

// immutable wants revision or sha256 in a Revision, or a tokenizer's probe.
func (r *rules) immutable(n, cand *node, p path) {
	if n == nil || n == cand || n.kind != cue.StructKind {
		return
	}
	if n.get("revision") == nil && n.get("sha256") == nil && n.get("probe") == nil {
		allowed := "revision or sha256"
		if p[len(p)-1] == "tokenizer" {
			allowed = "revision, sha256 or probe"
		}
		r.errs.add(n.at, p, "pins nothing, allowed "+allowed, "")
	}
}

const maxTimeout = 24 * time.Hour

func (r *rules) duration(n *node, p path) {
	s, ok := n.str()
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err == nil && (d <= 0 || d > maxTimeout) {
		r.errs.add(n.at, p, fmt.Sprintf("found %q, allowed more than 0 and at most 24h", show(s)), "")
	}
	if err != nil && durationPattern.MatchString(s) {
		r.errs.add(n.at, p, fmt.Sprintf("%q is not a duration", show(s)), "write 90s, 5m or 1h30m")
	}
}

// durationPattern is #Duration: what it refuses is reported already.
var durationPattern = regexp.MustCompile(`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
