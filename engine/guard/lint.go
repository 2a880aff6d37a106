package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// linter walks a checked rule, collects what it names, and refuses what could
// open a gate.
type linter struct {
	*Program
	problems []Problem
	locals   []string // variables of the loop being walked
}

func (p *Program) lint() []Problem {
	l := &linter{Program: p}
	root := p.ast.NativeRep().Expr()
	if t := p.ast.OutputType(); !isBool(t) {
		l.report(root, fmt.Sprintf("the rule gives %s", t), "a rule must be true or false: compare with something")
	}
	l.walk(root)
	if len(l.problems) == 0 && len(p.paths) == 0 {
		l.report(root, "the rule names no value, so it would always say the same", "")
	}
	if len(l.problems) == 0 {
		l.checkIDs(root)
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return l.problems
}

func (l *linter) report(x expr, msg, hint string) {
	loc := l.ast.NativeRep().SourceInfo().GetStartLocation(x.ID())
	l.problems = append(l.problems, at(l.rule, loc.Line(), loc.Column(), msg, hint))
}

func (l *linter) walk(x expr) {
	if isDyn(l.ast.NativeRep().GetType(x.ID())) {
		l.report(x, "this has no type that could be checked", "use the typed values and literals of one type")
		return
	}
	if l.named(x) {
		return
	}
	switch x.Kind() {
	case kindIdent, kindSelect:
		l.value(x)
	case kindCall:
		l.call(x)
	case kindList:
		for _, e := range x.AsList().Elements() {
			l.walk(e)
		}
		l.show(x)
	case kindMap:
		for _, e := range x.AsMap().Entries() {
			l.walk(e.AsMapEntry().Key())
			l.walk(e.AsMapEntry().Value())
		}
	case kindLoop:
		l.loop(x)
	case kindStruct:
		l.report(x, "a rule cannot make values of its own", "")
	}
}

// value notes a leaf. A group as a whole could carry an absent value past the
// check for presence, so it is refused.
func (l *linter) value(x expr) {
	if x.Kind() == kindSelect && x.AsSelect().IsTestOnly() {
		l.report(x, "has() says nothing here: an absent value makes the guard undetermined by itself", "leave it out")
		return
	}
	dotted, ok := chain(x)
	first, _, _ := strings.Cut(dotted, ".")
	if ok && slices.Contains(l.locals, first) {
		return
	}
	f := l.env.root.find(dotted)
	switch {
	case !ok && x.Kind() == kindSelect:
		l.walk(x.AsSelect().Operand())
	case f == nil: // the name of a type, or a literal of an enumeration
	case f.open:
		l.report(x, dotted+" is a group of values", "name one of them: "+dotted+`["…"]`)
	case f.kind == group:
		l.report(x, dotted+" is a group of values", "name one of them: "+dotted+"."+strings.Join(f.names(), ", "+dotted+"."))
	default:
		l.note(f)
		l.show(x)
	}
}

func (l *linter) note(f *field) {
	if !slices.Contains(l.paths, f) {
		l.paths = append(l.paths, f)
	}
}

func (l *linter) call(x expr) {
	c := x.AsCall()
	operands := c.Args()
	if c.IsMemberFunction() {
		operands = append([]expr{c.Target()}, operands...)
	}
	if fn := c.FunctionName(); fn == opDivide || fn == opModulo {
		if isInt(l.ast.NativeRep().GetType(operands[0].ID())) {
			l.report(x, "a division of whole numbers drops the remainder: 1/50 is 0", "write 1.0/50.0")
		}
	}
	l.converted(x, operands)
	for _, o := range operands {
		l.walk(o)
	}
	l.show(x)
}

// converted refuses what would put numbers in another order than that of their size:
// a text of 110 comes before one of 98.
func (l *linter) converted(x expr, operands []expr) {
	fn := x.AsCall().FunctionName()
	for _, o := range operands {
		switch t := l.ast.NativeRep().GetType(o.ID()); {
		case isDyn(t): // said where it stands
		case comparisons[fn] != "" && !isNumber(t):
			l.report(x, fmt.Sprintf("values of type %s do not compare by %s: only numbers have an order here", t, opText[fn]), "compare the numbers themselves, and texts by == or !=")
			return
		case (fn == "string" || fn == "bytes") && !isText(t) && !isBool(t):
			l.report(x, fmt.Sprintf("%s() of a %s makes a text of a number, and texts compare by their characters: \"110\" comes before \"98\"", fn, t), "compare the number itself")
			return
		}
	}
}

// loop allows one level of all, exists and their kin. The state of an
// evaluation holds the last round of a loop only, so the body may hold only
// what cannot fail and cannot make a NaN: comparisons and logic.
func (l *linter) loop(x expr) {
	c := x.AsComprehension()
	for _, v := range []string{c.IterVar(), c.IterVar2()} {
		if l.env.root.child(v) != nil {
			l.report(x, fmt.Sprintf("the loop variable %s hides the value of that name", v), "choose another name")
		}
	}
	l.walk(c.IterRange())
	l.loops = append(l.loops, c.IterRange().ID())
	l.show(x)
	body := &linter{Program: l.Program, locals: []string{c.IterVar(), c.IterVar2(), c.AccuVar()}}
	kept := l.shown
	for _, part := range []expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
		body.walk(part)
		l.bodyOf(c, part, x)
	}
	l.shown = kept // values inside of a loop change with every round
	l.problems = append(l.problems, body.problems...)
}

func (l *linter) bodyOf(c loop, part, whole expr) {
	preOrder(part, func(x expr) {
		switch {
		case x.Kind() == kindLoop:
			l.report(whole, "a loop inside of a loop", "write the comparisons out, or use strata")
		case x.Kind() != kindCall || total[x.AsCall().FunctionName()] || isAccumulation(c, x):
		default:
			l.report(whole, "only comparisons and logic can stand inside of a loop", "compute the values in the list")
		}
	})
}

// isAccumulation recognises what the macros themselves add up.
func isAccumulation(c loop, x expr) bool {
	call := x.AsCall()
	if call.FunctionName() != opAdd {
		return false
	}
	first := call.Args()[0]
	return first.Kind() == kindIdent && first.AsIdent() == c.AccuVar()
}

func (l *linter) show(x expr) {
	if s := exprText(x, l.ast); s != "" {
		l.shown = append(l.shown, shown{x.ID(), s})
	}
}
