package spec

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// words is what a constraint allows, taken apart for a sentence.
type words struct {
	enum     []string // texts
	defaults int      // how many of enum, from the first, are so because of a default
	patterns []string
	low      string   // ">= 1"
	high     string   // "<= 64"
	numbers  []string // fixed numbers
	kinds    []string // a text, a number, ...
}

// describe says in words what a schema value allows.
func (c *checker) describe(v cue.Value) string {
	w := c.words(v)
	var alts []string
	if len(w.enum) > 0 {
		alts = append(alts, w.enum...)
	}
	for _, p := range w.patterns {
		if said, ok := c.allowed[p]; ok {
			alts = append(alts, said)
		} else {
			alts = append(alts, "a text that matches "+p)
		}
	}
	if w.low+w.high != "" && len(w.kinds) == 0 {
		w.kind("a number")
	}
	for _, k := range w.kinds {
		if strings.HasSuffix(k, "number") {
			k += w.interval()
		}
		if len(w.patterns) == 0 || k != "a text" {
			alts = append(alts, k)
		}
	}
	if len(alts) == 0 {
		return "any value"
	}
	return join(alts, 24)
}

// interval says the bounds: " from 1 to 64" when both belong to the interval.
func (w *words) interval() string {
	low, lowIn := strings.CutPrefix(w.low, ">= ")
	high, highIn := strings.CutPrefix(w.high, "<= ")
	switch {
	case lowIn && highIn:
		return " from " + low + " to " + high
	case w.low != "" && w.high != "":
		return " " + w.low + " and " + w.high
	}
	return strings.TrimRight(" "+w.low+w.high, " ")
}

// words reads CUE's own printed form of the evaluated value.
func (c *checker) words(v cue.Value) (w words) {
	e, err := parser.ParseExpr("", fmt.Sprint(v))
	if err != nil {
		return words{kinds: []string{v.IncompleteKind().String()}}
	}
	w.read(e)
	if len(w.patterns) > 0 {
		w.enum = w.enum[w.defaults:] // an example of the pattern
	}
	if len(w.kinds)+len(w.patterns)+len(w.enum)+len(w.low)+len(w.high) == 0 {
		w.enum = w.numbers // a number stands alone only where nothing else is allowed
	}
	return w
}

func (w *words) read(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		w.read(x.X)
	case *ast.BinaryExpr:
		w.read(x.X)
		w.read(x.Y)
	case *ast.UnaryExpr:
		w.unary(x)
	case *ast.BasicLit:
		w.literal(x)
	case *ast.Ident:
		w.ident(x.Name)
	case *ast.ListLit:
		w.list(x)
	case *ast.StructLit:
		w.kind("a map")
	}
}

func (w *words) kind(k string) {
	for _, have := range w.kinds {
		if have == k {
			return
		}
	}
	w.kinds = append(w.kinds, k)
}

func (w *words) list(x *ast.ListLit) {
	for _, e := range x.Elts {
		if _, open := e.(*ast.Ellipsis); !open {
			w.kind("a list of at least one")
			return
		}
	}
	w.kind("a list")
}

func (w *words) ident(name string) {
	switch name {
	case "int":
		w.kind("a whole number")
	case "uint":
		w.kind("a whole number")
		if w.low == "" {
			w.low = ">= 0"
		}
	case "number", "float":
		w.kind("a number")
	case "string":
		w.kind("a text")
	case "bool":
		w.kind("true or false")
	}
}

// literal takes a text as one of the allowed ones. Numbers and lists that are
// only defaults say nothing about what is allowed.
func (w *words) literal(x *ast.BasicLit) {
	if x.Kind == token.STRING {
		if s, err := literal.Unquote(x.Value); err == nil {
			w.enum = append(w.enum, s)
		}
		return
	}
	w.numbers = append(w.numbers, x.Value)
}

func (w *words) unary(x *ast.UnaryExpr) {
	lit, _ := x.X.(*ast.BasicLit)
	switch x.Op {
	case token.MUL: // a default
		if _, isList := x.X.(*ast.ListLit); !isList {
			w.read(x.X)
			w.defaults = len(w.enum)
		}
	case token.MAT:
		if lit != nil {
			if s, err := literal.Unquote(lit.Value); err == nil {
				w.patterns = append(w.patterns, s)
			}
		}
	case token.GEQ, token.GTR:
		if lit != nil {
			w.low = x.Op.String() + " " + lit.Value
		}
	case token.LEQ, token.LSS:
		if lit != nil {
			w.high = x.Op.String() + " " + lit.Value
		}
	}
}
