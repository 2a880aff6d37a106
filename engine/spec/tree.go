package spec

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// pos is a place in a file the user wrote.
type pos struct {
	file      string
	line, col int
}

// path names a value inside a campaign, outermost field first. An element of a
// list is written "[2]".
type path []string

func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		if i > 0 && !strings.HasPrefix(s, "[") {
			b.WriteByte('.')
		}
		b.WriteString(clip(s))
	}
	return b.String()
}

// with returns p extended by one element, sharing nothing with p.
func (p path) with(s string) path { return append(p[:len(p):len(p)], s) }

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// node is one value of a campaign file, whatever the file's syntax was. All
// three syntaxes become nodes, so that inheritance, checks and messages exist
// once.
type node struct {
	kind   cue.Kind // Null, Bool, Number, String, List, Struct; Bottom: broken, and reported
	at     pos
	text   string  // Bool, Number: the JSON literal; String: the value
	elems  []*node // List
	fields []field // Struct; names are unique
}

type field struct {
	name string
	at   pos // of the name
	val  *node
}

// broken reports whether n, or anything in it, could not be read; what could not
// has been reported.
func (n *node) broken() bool {
	return n.kind == cue.BottomKind || slices.ContainsFunc(n.elems, (*node).broken) ||
		slices.ContainsFunc(n.fields, func(f field) bool { return f.val.broken() })
}

// get returns a field's value, nil when n is no struct or has no such field.
func (n *node) get(name string) *node {
	if f := n.field(name); f != nil {
		return f.val
	}
	return nil
}

func (n *node) field(name string) *field {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].name == name {
			return &n.fields[i]
		}
	}
	return nil
}

// str returns the value of a string node; ok is false for everything else.
func (n *node) str() (s string, ok bool) {
	if n == nil || n.kind != cue.StringKind {
		return "", false
	}
	return n.text, true
}

// pairs and items walk a struct or a list; nothing when n is neither.
func (n *node) pairs() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

func (n *node) items() []*node {
	if n == nil {
		return nil
	}
	return n.elems
}

// find returns the deepest existing node on the way to p, and its position:
// that of the value, or of the field name where the value is a struct or list.
func (n *node) find(p path) (*node, pos) {
	at := n.at
	for _, s := range p {
		next, where := n.child(s)
		if next == nil {
			return n, at
		}
		n, at = next, where
	}
	return n, at
}

func (n *node) child(s string) (*node, pos) {
	if i, ok := strings.CutPrefix(s, "["); ok && n.kind == cue.ListKind {
		k, err := strconv.Atoi(strings.TrimSuffix(i, "]"))
		if err != nil || k < 0 || k >= len(n.elems) {
			return nil, pos{}
		}
		return n.elems[k], n.elems[k].at
	}
	f := n.field(s)
	if f == nil {
		return nil, pos{}
	}
	if f.val.kind&(cue.StructKind|cue.ListKind) != 0 {
		return f.val, f.at
	}
	return f.val, f.val.at
}

// expr returns n as CUE syntax.
func (n *node) expr() ast.Expr {
	switch n.kind {
	case cue.NullKind:
		return ast.NewNull()
	case cue.BottomKind:
		return ast.NewIdent("_") // goes with everything
	case cue.BoolKind:
		return ast.NewBool(n.text == "true")
	case cue.NumberKind:
		return numberExpr(n.text)
	case cue.StringKind:
		return ast.NewString(n.text)
	case cue.ListKind:
		list := &ast.ListLit{}
		for _, e := range n.elems {
			list.Elts = append(list.Elts, e.expr())
		}
		return list
	}
	s := &ast.StructLit{}
	for _, f := range n.fields {
		s.Elts = append(s.Elts, &ast.Field{Label: ast.NewString(f.name), Value: f.val.expr()})
	}
	return s
}

func numberExpr(lit string) ast.Expr {
	abs, neg := strings.CutPrefix(lit, "-")
	kind := token.INT
	if strings.ContainsAny(abs, ".eE") {
		kind = token.FLOAT
	}
	var e ast.Expr = &ast.BasicLit{Kind: kind, Value: abs}
	if neg {
		e = &ast.UnaryExpr{Op: token.SUB, X: e}
	}
	return e
}
