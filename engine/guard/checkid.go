package guard

import (
	"slices"
	"strings"
)

// idChecker walks a rule that is sound otherwise and finds the dimension of every
// part of it.
type idChecker struct {
	*linter
	bound map[string]dimension // variables of loops
}

// checkIDs reports where values of different ids meet. A rule without an id has
// nothing to check.
func (l *linter) checkIDs(root expr) {
	if slices.ContainsFunc(l.paths, func(f *field) bool { return f.id != "" }) {
		c := idChecker{l, map[string]dimension{}}
		c.of(root)
	}
}

// of is the dimension of an expression; that of a list or a map is that of its
// elements.
func (c *idChecker) of(x expr) dimension {
	switch x.Kind() {
	case kindLiteral:
		return aConstant
	case kindList:
		return c.elements(x, x.AsList().Elements())
	case kindMap:
		return c.entries(x)
	case kindLoop:
		return c.loop(x)
	}
	if f, _, _, ok := c.env.root.lookup(x); ok && f != nil {
		return dimensionOf(f)
	}
	switch x.Kind() {
	case kindIdent:
		return c.bound[strings.TrimPrefix(x.AsIdent(), ".")]
	case kindSelect: // of a map that the rule itself made
		return c.of(x.AsSelect().Operand())
	case kindCall:
		return c.call(x)
	}
	return pure
}

// keeps holds the functions whose value is a quantity of the same kind as their
// operand. What is not named here has no value for an id: int() among them, to which
// 0.1 J and 0.9 J are the same.
var keeps = map[string]bool{opNegate: true, "double": true}

// counts holds the functions that say how many there are, of whatever.
var counts = map[string]bool{"size": true}

func (c *idChecker) call(x expr) dimension {
	fn, args := x.AsCall().FunctionName(), c.operands(x)
	switch {
	case fn == opEqual, fn == opUnequal, comparisons[fn] != "":
		c.same(x, args[0], args[1], "do not compare")
		return pure
	case fn == opIn && isMap(c.ast.NativeRep().GetType(x.AsCall().Args()[1].ID())):
		c.bare(x, args[0], "cannot be a key")
		return pure
	case fn == opIn:
		c.same(x, args[0], args[1], "do not compare")
		return pure
	case fn == opAnd, fn == opOr, fn == opNot, fn == opNotFalse:
		return pure
	case fn == opAdd, fn == opSubtract, fn == opModulo:
		return c.same(x, args[0], args[1], "are not added to or subtracted from one another")
	case fn == opChoose:
		return c.same(x, args[1], args[2], "cannot stand for one another")
	case fn == opMultiply:
		return args[0].times(args[1], 1)
	case fn == opDivide:
		return args[0].times(args[1], -1)
	case fn == opIndex:
		c.bare(x, args[1], "cannot be an index")
		return args[0]
	case keeps[fn] && len(args) == 1:
		return args[0]
	case counts[fn] && len(args) == 1:
		return plainly(exprText(x, c.ast))
	}
	return c.unknown(x, args)
}

func (c *idChecker) operands(x expr) []dimension {
	call := x.AsCall()
	var out []dimension
	if call.IsMemberFunction() {
		out = append(out, c.of(call.Target()))
	}
	for _, a := range call.Args() {
		out = append(out, c.of(a))
	}
	return out
}

// unknown is a function of which nobody knows what it makes of an id.
func (c *idChecker) unknown(x expr, args []dimension) dimension {
	constant := true
	for _, a := range args {
		c.bare(x, a, "is not an operand of "+x.AsCall().FunctionName())
		constant = constant && a.constant
	}
	if constant {
		return aConstant
	}
	return plainly(exprText(x, c.ast))
}

// bare reports a value that has an id where none can be.
func (c *idChecker) bare(x expr, d dimension, why string) {
	if d.has() {
		c.report(x, d.String()+" "+why, "")
	}
}

// same is what two operands have in common, reported when it is not the same.
func (c *idChecker) same(x expr, a, b dimension, otherwise string) dimension {
	switch {
	case a.constant:
		return b
	case b.constant, a.equal(b):
		return a
	case !a.has() && !b.has():
		return plainly("(" + exprText(x, c.ast) + ")")
	}
	c.report(x, a.String()+" and "+b.String()+" "+otherwise, "both must be of one id, or one a constant")
	return aConstant // said once is enough
}

func (c *idChecker) elements(x expr, list []expr) dimension {
	out := aConstant
	for _, e := range list {
		out = c.same(x, out, c.of(e), "cannot stand in one list")
	}
	return out
}

func (c *idChecker) entries(x expr) dimension {
	var values []expr
	for _, e := range x.AsMap().Entries() {
		c.bare(x, c.of(e.AsMapEntry().Key()), "cannot be a key")
		values = append(values, e.AsMapEntry().Value())
	}
	return c.elements(x, values)
}

// loop binds the loop's variables and follows one round of it: what it adds up is
// of the dimension of what one round adds.
func (c *idChecker) loop(x expr) dimension {
	l := x.AsComprehension()
	before := c.bound
	defer func() { c.bound = before }()
	over := c.of(l.IterRange())
	inside := map[string]dimension{l.IterVar(): over, l.AccuVar(): c.of(l.AccuInit())}
	if isMap(c.ast.NativeRep().GetType(l.IterRange().ID())) {
		inside[l.IterVar()] = pure // its keys
	}
	if v := l.IterVar2(); v != "" {
		inside[v] = over
	}
	c.bound = inside
	c.of(l.LoopCondition())
	inside[l.AccuVar()] = c.same(x, inside[l.AccuVar()], c.of(l.LoopStep()), "cannot stand in one list")
	return c.of(l.Result())
}
