package spec

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue"
)

// checker compares a tree with a CUE definition, walking both at once. CUE
// alone would stop reporting missing fields at the first other error, give the
// schema's position and print every alternative of a union; the walk finds
// everything at the user's position and asks CUE about single values.
type checker struct {
	*schema
	errs *Errors
	over bool // a map or list is too long to be looked at
}

// maxFound ends the walk: a file with more mistakes is something else.
const maxFound = 1000

// check compares a whole tree with a definition. over reports that a part of it
// is too long for any further look.
func (s *schema) check(def cue.Value, root *node, errs *Errors) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &checker{schema: s, errs: errs}
	c.value(def, root, nil)
	return c.over
}

// value checks n against the schema value s. The schema's lock is held.
func (c *checker) value(s cue.Value, n *node, p path) {
	if n.kind == cue.BottomKind || len(*c.errs) >= maxFound {
		return // reported when it was read, or enough is
	}
	if s.IncompleteKind() == cue.TopKind {
		return // any value
	}
	if s.IncompleteKind()&n.kind == 0 {
		c.mismatch(s, n, p)
		return
	}
	switch n.kind {
	case cue.StructKind:
		c.structure(s, n, p)
	case cue.ListKind:
		c.list(s, n, p)
	default:
		if !c.accepts(s, n) {
			c.mismatch(s, n, p)
		}
	}
}

// accepts asks CUE.
func (c *checker) accepts(s cue.Value, n *node) bool {
	return s.Unify(c.ctx.BuildExpr(n.expr())).Validate(cue.Concrete(true)) == nil
}

func (c *checker) list(s cue.Value, n *node, p path) {
	if c.tooMany(len(n.elems), c.limits.List, n, p) {
		return
	}
	before := len(*c.errs)
	if elem := elementOf(s); elem.Exists() {
		for i, e := range n.elems {
			c.value(elem, e, p.with(index(i)))
		}
	}
	if len(*c.errs) == before && !n.broken() && !c.accepts(s, n) {
		c.mismatch(s, n, p)
	}
}

// tooMany refuses a list or map that is longer than allowed.
func (c *checker) tooMany(have, most int, n *node, p path) bool {
	if have > most {
		c.errs.add(n.at, p, fmt.Sprintf("%d entries, allowed %d", have, most), "")
		c.over = true
	}
	return have > most
}

// most is how many entries a map may have.
func (c *checker) most(p path) int {
	switch p.String() {
	case "candidates":
		return c.limits.Candidates
	case "measure":
		return c.limits.Measure
	case "decide.guards":
		return c.limits.Guards
	}
	return c.limits.List
}

// elementOf returns what every element of a list must be, looking through a
// default.
func elementOf(s cue.Value) cue.Value {
	if elem := s.LookupPath(cue.MakePath(cue.AnyIndex)); elem.Exists() {
		return elem
	}
	op, args := s.Expr()
	if op != cue.AndOp {
		return cue.Value{}
	}
	for _, a := range args {
		if elem := a.LookupPath(cue.MakePath(cue.AnyIndex)); elem.Exists() {
			return elem
		}
	}
	return cue.Value{}
}

func (c *checker) structure(s cue.Value, n *node, p path) {
	if c.tooMany(len(n.fields), c.most(p), n, p) {
		return
	}
	s, ok := c.variant(s, n, p)
	if !ok {
		return
	}
	known := fieldsOf(s)
	if len(known) == 0 {
		c.entries(s, n, p)
		return
	}
	for _, f := range n.fields {
		k, ok := known[f.name]
		if !ok {
			c.errs.add(f.at, p.with(f.name), "unknown field", didYouMean(f.name, sortedKeys(known)))
			continue
		}
		c.value(k.value, f.val, p.with(f.name))
	}
	for _, name := range sortedKeys(known) {
		if known[name].required && n.field(name) == nil {
			c.errs.add(n.at, p.with(name), "required field is missing", "allowed: "+c.describe(known[name].value))
		}
	}
}

// entries checks a map whose names the user chooses.
func (c *checker) entries(s cue.Value, n *node, p path) {
	for _, f := range n.fields {
		if !s.Allows(cue.Str(f.name)) {
			c.errs.add(f.at, p.with(f.name), fmt.Sprintf("found the name %q, allowed %s", show(f.name), c.nameWords(s)), "")
			continue
		}
		anything := &node{kind: cue.StructKind, fields: []field{{name: f.name, val: &node{}}}}
		elem := s.Unify(c.ctx.BuildExpr(anything.expr())).LookupPath(cue.MakePath(cue.Str(f.name)))
		c.value(c.elementSchema(elem, p.with(f.name)), f.val, p.with(f.name))
	}
}

// elementSchema is v, but #Candidate for a candidate: inheritance is resolved
// before the check.
func (c *checker) elementSchema(v cue.Value, p path) cue.Value {
	if len(p) == 2 && p[0] == "candidates" {
		return c.def("Candidate")
	}
	return v
}

// nameWords says which names a map takes; every such map of the schema uses
// #Name or #HeaderName.
func (c *checker) nameWords(s cue.Value) string {
	def := "Name"
	if s.Allows(cue.Str("X")) {
		def = "HeaderName"
	}
	return c.describe(c.def(def))
}

// variant picks the alternative of a union that n means: the only struct, or
// the one with n's kind.
func (c *checker) variant(s cue.Value, n *node, p path) (cue.Value, bool) {
	var alts []cue.Value
	for _, a := range alternatives(s) {
		if a.IncompleteKind() == cue.StructKind {
			alts = append(alts, a)
		}
	}
	if len(alts) < 2 {
		return append(alts, s)[0], true
	}
	var kinds []string
	for _, a := range alts {
		kinds = append(kinds, kindOf(a))
	}
	k := n.get("kind")
	if k == nil {
		c.errs.add(n.at, p.with("kind"), "required field is missing", "allowed: "+join(kinds, 24))
		return s, false
	}
	i := slices.Index(kinds, k.text)
	if i < 0 || k.kind != cue.StringKind {
		c.errs.add(k.at, p.with("kind"), "found "+found(k)+", allowed "+join(kinds, 24), nearHint(k, kinds))
		return s, false
	}
	return alts[i], true
}

// alternatives splits a disjunction, through references and conjunctions with
// the top value.
func alternatives(v cue.Value) []cue.Value {
	op, args := cue.Dereference(v).Expr()
	switch op {
	case cue.OrOp:
		var out []cue.Value
		for _, a := range args {
			out = append(out, alternatives(a)...)
		}
		return out
	case cue.AndOp:
		for _, a := range args {
			if a.IncompleteKind() == cue.TopKind {
				continue
			}
			if alts := alternatives(a); len(alts) > 1 {
				return alts
			}
		}
	}
	return []cue.Value{v}
}

func kindOf(v cue.Value) string {
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return ""
	}
	for it.Next() {
		if it.Selector().Unquoted() == "kind" {
			s, _ := it.Value().String()
			return s
		}
	}
	return ""
}

// known is one field of a definition.
type known struct {
	value    cue.Value
	required bool
	optional bool
}

func fieldsOf(s cue.Value) map[string]known {
	out := map[string]known{}
	it, err := s.Fields(cue.Optional(true))
	if err != nil {
		return out
	}
	for it.Next() {
		if it.Value().IncompleteKind() == cue.BottomKind {
			continue // a field that must not be there
		}
		t := it.Selector().ConstraintType()
		out[it.Selector().Unquoted()] = known{it.Value(), t == cue.RequiredConstraint, t == cue.OptionalConstraint}
	}
	return out
}
