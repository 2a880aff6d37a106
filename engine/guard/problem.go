package guard

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a rule.
type Problem struct {
	Offset int    // byte in the rule, from 0
	Line   int    // from 1
	Col    int    // character in the line, from 1
	Msg    string // what is wrong
	Hint   string // what to write instead; may be empty
}

// CompileError lists what is wrong with a rule, in the order of the text.
type CompileError struct {
	Rule     string
	Problems []Problem
}

// Error is one line: the first problem, and how many more there are.
func (e *CompileError) Error() string {
	p := e.Problems[0]
	s := fmt.Sprintf("rule:%d:%d: %s", p.Line, p.Col, p.Sentence())
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// Sentence is the message with its hint.
func (p Problem) Sentence() string {
	if p.Hint == "" {
		return p.Msg
	}
	return p.Msg + "; " + p.Hint
}

// Caret shows where: the line of the rule and a mark below the place.
func (e *CompileError) Caret(p Problem) string {
	lines := strings.Split(e.Rule, "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return ""
	}
	line := strings.ReplaceAll(strings.TrimSuffix(lines[p.Line-1], "\r"), "\t", " ")
	return line + "\n" + strings.Repeat(" ", max(0, p.Col-1)) + "^"
}

// at makes a problem at a line (from 1) and a column in characters (from 0).
func at(rule string, line, col int, msg, hint string) Problem {
	line, col = max(1, line), max(0, col)
	offset := 0
	for i := 1; i < line; i++ {
		nl := strings.IndexByte(rule[offset:], '\n')
		if nl < 0 {
			break
		}
		offset += nl + 1
	}
	for i := 0; i < col && offset < len(rule); i++ {
		_, size := utf8.DecodeRuneInString(rule[offset:])
		offset += size
	}
	return Problem{Offset: offset, Line: line, Col: col + 1, Msg: msg, Hint: hint}
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	undefined  = regexp.MustCompile(`^undefined field '([^']*)'`)
	overload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`)
	noFields   = regexp.MustCompile(`does not support field selection`)
	syntax     = regexp.MustCompile(`^Syntax error: `)
)

// translate turns CEL's issues into problems in words of this package.
func (e *Env) translate(rule string, parsed *celAST, iss *celIssues) error {
	err := &CompileError{Rule: rule}
	seen := map[Problem]bool{}
	for _, i := range iss.Errors() {
		msg, hint := e.reword(i.Message, parsed, i.ExprID)
		line, col := 1, 0
		if i.Location != nil {
			line, col = i.Location.Line(), i.Location.Column()
		}
		p := at(rule, line, col, msg, hint)
		if !seen[p] {
			seen[p] = true
			err.Problems = append(err.Problems, p)
		}
	}
	return err
}

func (e *Env) reword(msg string, parsed *celAST, id int64) (string, string) {
	if m := undeclared.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("there is no value named %s", m[1]), e.suggestRoot(m[1], parsed)
	}
	if m := undefined.FindStringSubmatch(msg); m != nil {
		return e.undefinedField(m[1], parsed, id)
	}
	if noFields.MatchString(msg) && e.dotted(parsed, id) {
		return "a name with dots stands in brackets", `write group["context.advertised"]`
	}
	if m := overload.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("%s cannot be used on %s", strings.Trim(m[1], "_"), m[2]), overloadHint(m[2])
	}
	return syntax.ReplaceAllString(msg, "syntax error: "), ""
}

// dotted reports whether the expression selects from a value of an open group.
func (e *Env) dotted(parsed *celAST, id int64) (found bool) {
	if parsed == nil {
		return false
	}
	preOrder(parsed.NativeRep().Expr(), func(x expr) {
		if x.Kind() != kindSelect || x.ID() != id && x.AsSelect().Operand().ID() != id {
			return
		}
		_, in, _, ok := e.root.lookup(x.AsSelect().Operand())
		found = found || ok && in != nil && in.open
	})
	return found
}

func overloadHint(operands string) string {
	if strings.Contains(operands, "int") && strings.Contains(operands, "double") {
		return "every value is a double: write whole numbers with a decimal point, 2.0 for 2"
	}
	return ""
}

// undefinedField finds the group in which the field was looked for.
func (e *Env) undefinedField(name string, parsed *celAST, id int64) (msg, hint string) {
	msg = fmt.Sprintf("there is no field %s", name)
	if parsed == nil {
		return msg, ""
	}
	preOrder(parsed.NativeRep().Expr(), func(x expr) {
		if x.ID() != id || x.Kind() != kindSelect {
			return
		}
		dotted, ok := chain(x.AsSelect().Operand())
		if g := e.root.find(dotted); ok && g != nil && g.kind == group {
			msg = fmt.Sprintf("there is no field %s in %s", name, dotted)
			hint = suggest(name, dotted+".", g.names())
		}
	})
	return msg, hint
}

// suggestRoot looks among the variables, then for a group that has a field of
// that name.
func (e *Env) suggestRoot(name string, parsed *celAST) string {
	if h := nearest(name, e.root.names()); h != "" {
		return "did you mean " + h + "?"
	}
	for _, g := range e.root.fields {
		if c := g.child(name); g.kind == group && c != nil {
			return "did you mean " + c.path + "?"
		}
	}
	return "there are: " + strings.Join(e.root.names(), ", ")
}

func suggest(name, prefix string, names []string) string {
	if h := nearest(name, names); h != "" {
		return "did you mean " + prefix + h + "?"
	}
	return "there are: " + strings.Join(names, ", ")
}
