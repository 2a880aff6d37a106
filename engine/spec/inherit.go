package spec

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// inherit returns root with every candidate's "from" resolved: maps are merged,
// everything else is replaced, the role stays behind. A candidate that cannot
// be resolved is left out, so that its missing pins are not reported too.
func inherit(root *node, errs *Errors) *node {
	cands := root.get("candidates")
	if cands == nil || cands.kind != cue.StructKind || len(cands.fields) > schemaLimits().Candidates {
		return root
	}
	h := &heirs{cands: cands, errs: errs, done: map[string]*node{}}
	out := &node{kind: cue.StructKind, at: cands.at}
	for _, f := range cands.fields {
		if v := h.resolve(f.name, nil); v != nil {
			out.fields = append(out.fields, field{f.name, f.at, v})
		}
	}
	return root.set("candidates", out)
}

// set returns a copy of n in which an existing field has another value.
func (n *node) set(name string, v *node) *node {
	c := *n
	c.fields = slices.Clone(n.fields)
	for i := range c.fields {
		if c.fields[i].name == name {
			c.fields[i].val = v
		}
	}
	return &c
}

// without returns a copy of n that lacks the named fields.
func (n *node) without(names ...string) *node {
	c := *n
	c.fields = slices.DeleteFunc(slices.Clone(n.fields), func(f field) bool { return slices.Contains(names, f.name) })
	return &c
}

type heirs struct {
	cands *node
	errs  *Errors
	done  map[string]*node // nil: cannot be resolved, already reported
}

// resolve returns the full candidate; way holds the heirs that wait for it.
func (h *heirs) resolve(name string, way []string) *node {
	if v, ok := h.done[name]; ok {
		return v
	}
	v := h.lookUp(name, way)
	h.done[name] = v
	return v
}

func (h *heirs) lookUp(name string, way []string) *node {
	own := h.cands.get(name)
	from := own.get("from")
	if from == nil {
		return own
	}
	p := path{"candidates", name, "from"}
	base, ok := from.str()
	switch {
	case !ok:
		h.errs.add(from.at, p, "found "+found(from)+", allowed the name of a candidate", "")
		return nil
	case h.cands.get(base) == nil:
		h.errs.add(from.at, p, fmt.Sprintf("there is no candidate %q", clip(base)), didYouMean(base, h.names(name)))
		return nil
	case base == name || slices.Contains(way, base):
		cycle := append(append(way[max(0, slices.Index(way, base)):len(way):len(way)], name), base)
		h.errs.add(from.at, p, "candidates inherit in a circle: "+strings.Join(cycle, " from "), "one of them must have all pins")
		return nil
	}
	parent := h.resolve(base, append(way, name))
	if parent == nil || parent.kind != cue.StructKind {
		return nil
	}
	// Commands that start one candidate do not start another one.
	return merge(parent.without("role", "serve"), own.without("from"))
}

func (h *heirs) names(except string) []string {
	var out []string
	for _, f := range h.cands.fields {
		if f.name != except {
			out = append(out, f.name)
		}
	}
	return out
}

// merge lays over on base. Field positions are those of the place where the
// value that holds was written.
func merge(base, over *node) *node {
	if base.kind != cue.StructKind || over.kind != cue.StructKind || len(over.fields) > schemaLimits().List {
		return over // a map as long as that is refused by the check
	}
	out := &node{kind: cue.StructKind, at: over.at, fields: slices.Clone(base.fields)}
	for _, f := range over.fields {
		i := slices.IndexFunc(out.fields, func(o field) bool { return o.name == f.name })
		if i < 0 {
			out.fields = append(out.fields, f)
			continue
		}
		out.fields[i] = field{f.name, f.at, merge(out.fields[i].val, f.val)}
	}
	return out
}
