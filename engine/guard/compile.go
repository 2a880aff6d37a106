package guard

import (
	"slices"
	"strings"
)

// Program is a rule that type-checks. It is safe for concurrent use.
//
// Values with an id are compared with, added to and subtracted from values of the
// same id and constants alone. Multiplied or divided by a constant they keep it,
// by one another they make a compound, which goes with the same compound only; a
// ratio of equal ids is a pure number. Values without an id know no such rules
// among themselves. Only numbers have an order, and none is made a text.
type Program struct {
	env   *Env
	rule  string
	ast   *celAST
	prog  celProgram
	paths []*field // leaves that the rule names, in order of appearance
	shown []shown  // sub-expressions with a value to show
	loops []int64  // ids of the ranges of comprehensions
}

// shown is a sub-expression outside of loops.
type shown struct {
	id   int64
	text string
}

// Compile type-checks a rule. Its errors are of type [*CompileError].
func (e *Env) Compile(rule string) (*Program, error) {
	if strings.TrimSpace(rule) == "" {
		return nil, &CompileError{rule, []Problem{at(rule, 1, 0, "the rule is empty", "")}}
	}
	parsed, iss := e.cel.Parse(rule)
	if iss.Err() != nil {
		return nil, e.translate(rule, nil, iss)
	}
	checked, iss := e.cel.Check(parsed)
	if iss.Err() != nil {
		return nil, e.translate(rule, parsed, iss)
	}
	p := &Program{env: e, rule: rule, ast: checked}
	if problems := p.lint(); len(problems) > 0 {
		return nil, &CompileError{rule, problems}
	}
	prog, err := newCELProgram(e.cel, checked)
	if err != nil {
		return nil, &CompileError{rule, []Problem{at(rule, 1, 0, err.Error(), "")}}
	}
	p.prog = prog
	return p, nil
}

// Rule returns the text that was compiled.
func (p *Program) Rule() string { return p.rule }

// Paths lists every value that the rule names, as dotted paths in order of
// appearance: what must be present before the rule can be evaluated.
func (p *Program) Paths() []string {
	out := make([]string, len(p.paths))
	for i, f := range p.paths {
		out[i] = f.path
	}
	return out
}

// Refuse makes the error of a rule that type-checks and is wrong for a reason that
// its user knows. It stands where the rule first names path, a value or a group.
func (p *Program) Refuse(path, msg, hint string) *CompileError {
	line, col := 1, 0
	found := false
	preOrder(p.ast.NativeRep().Expr(), func(x expr) {
		if f, _, _, ok := p.env.root.lookup(x); found || !ok || f == nil || f.path != path {
			return
		}
		loc := p.ast.NativeRep().SourceInfo().GetStartLocation(x.ID())
		line, col, found = loc.Line(), loc.Column(), true
	})
	return &CompileError{p.rule, []Problem{at(p.rule, line, col, msg, hint)}}
}

// Vars lists the variables of the rule: the first elements of its paths.
func (p *Program) Vars() []string {
	var out []string
	for _, f := range p.paths {
		if v, _, _ := strings.Cut(f.path, "."); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Bound is a comparison of one end or the estimate of an interval with a
// constant, written with the interval on the left: `lo > -0.02`.
type Bound struct {
	Path  string
	Op    string // < <= > >=
	Value float64
}

// Bounds lists the comparisons of interval values with constants, wherever
// they stand in the rule.
func (p *Program) Bounds() []Bound {
	var out []Bound
	preOrder(p.ast.NativeRep().Expr(), func(x expr) {
		if x.Kind() != kindCall || comparisons[x.AsCall().FunctionName()] == "" {
			return
		}
		fn, args := x.AsCall().FunctionName(), x.AsCall().Args()
		if b, ok := p.bound(args[0], fn, args[1]); ok {
			out = append(out, b)
		}
		if b, ok := p.bound(args[1], comparisons[fn], args[0]); ok {
			out = append(out, b)
		}
	})
	return out
}

// Clause is one of the conditions that && and || join, and the variables and the
// values that it names.
type Clause struct {
	Text  string
	Vars  []string
	Paths []string // dotted
}

// Clauses lists the conditions of the rule that && and || join, in order; a rule
// without either is one.
func (p *Program) Clauses() []Clause {
	return p.clauses(nil, p.ast.NativeRep().Expr())
}

func (p *Program) clauses(out []Clause, x expr) []Clause {
	if x.Kind() == kindCall && (x.AsCall().FunctionName() == opAnd || x.AsCall().FunctionName() == opOr) {
		for _, arg := range x.AsCall().Args() {
			out = p.clauses(out, arg)
		}
		return out
	}
	c := Clause{Text: exprText(x, p.ast)}
	preOrder(x, func(part expr) {
		if part.Kind() == kindIdent && slices.Contains(p.Vars(), part.AsIdent()) && !slices.Contains(c.Vars, part.AsIdent()) {
			c.Vars = append(c.Vars, part.AsIdent())
		}
		if f, _, _, ok := p.env.root.lookup(part); ok && slices.Contains(p.paths, f) && !slices.Contains(c.Paths, f.path) {
			c.Paths = append(c.Paths, f.path)
		}
	})
	return append(out, c)
}

func (p *Program) bound(left expr, fn string, right expr) (Bound, bool) {
	dotted, ok := chain(left)
	f := p.env.root.find(dotted)
	if !ok || f == nil || f.role == "" {
		return Bound{}, false
	}
	v, ok := constant(right)
	return Bound{Path: f.path, Op: opText[fn], Value: v}, ok
}

func constant(x expr) (float64, bool) {
	switch x.Kind() {
	case kindLiteral:
		switch v := x.AsLiteral().(type) {
		case celDouble:
			return float64(v), true
		case celInt:
			return float64(v), true
		}
	case kindCall:
		if c := x.AsCall(); c.FunctionName() == opNegate {
			v, ok := constant(c.Args()[0])
			return -v, ok
		}
	}
	return 0, false
}

// chain returns the dotted path of a chain of selections on an identifier.
func chain(x expr) (string, bool) {
	switch x.Kind() {
	case kindIdent:
		return strings.TrimPrefix(x.AsIdent(), "."), true
	case kindSelect:
		s := x.AsSelect()
		base, ok := chain(s.Operand())
		return base + "." + s.FieldName(), ok && !s.IsTestOnly()
	}
	return "", false
}
