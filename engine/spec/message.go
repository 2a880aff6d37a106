package spec

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
)

// mismatch reports a value that CUE does not accept, in one sentence.
func (c *checker) mismatch(s cue.Value, n *node, p path) {
	allowed := c.describe(s)
	c.errs.add(n.at, p, "found "+found(n)+", allowed "+allowed, c.mismatchHint(s, n, p))
}

func (c *checker) mismatchHint(s cue.Value, n *node, p path) string {
	last := p[max(0, len(p)-1):].String()
	kind := s.IncompleteKind()
	switch {
	case last == "revision" && n.kind == cue.StringKind:
		return "a branch or tag can point to other weights tomorrow; write the commit it points to now"
	case last == "image" && n.kind == cue.StringKind:
		return "a tag can point to another image tomorrow; write the digest that docker inspect prints"
	case n.kind == cue.NumberKind && kind&cue.StringKind != 0 && kind&cue.NumberKind == 0:
		return "write it in quotes"
	case n.kind == cue.StringKind && kind == cue.BoolKind:
		return "write true or false without quotes"
	case n.kind == cue.BoolKind && kind == cue.StringKind:
		return "write it in quotes"
	case n.kind == cue.NullKind:
		return "leave the field out, or give it a value"
	}
	return nearHint(n, c.words(s).enum)
}

func nearHint(n *node, allowed []string) string {
	if n.kind != cue.StringKind {
		return ""
	}
	if near := nearest(n.text, allowed); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// found names a value in a message; long ones are cut, secrets not shown.
func found(n *node) string {
	switch n.kind {
	case cue.NullKind:
		return "nothing (null)"
	case cue.BoolKind:
		return n.text
	case cue.NumberKind:
		return clip(n.text)
	case cue.StringKind:
		return `"` + show(n.text) + `"`
	case cue.ListKind:
		if len(n.elems) == 0 {
			return "an empty list"
		}
		return "a list"
	}
	return "a map"
}

// show is clip for a value that may be a secret.
func show(s string) string {
	if secretIn(s) != "" {
		return "(a secret, not shown)"
	}
	return strings.ReplaceAll(clip(s), `"`, `\"`)
}
