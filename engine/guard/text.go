package guard

import (
	"fmt"
	"strings"
)

// TextType is the type of a variable of a text rule.
type TextType int

// The types, with the Go values that [TextProgram.Eval] takes for them.
const (
	Text     TextType = iota // string
	Whole                    // int64
	TextList                 // []string
	TextMap                  // map[string]string
)

// TextVar is one variable that a text rule may name.
type TextVar struct {
	Name string
	Type TextType
	Doc  string
}

// TextEnv compiles text rules: CEL expressions that give a text and not a
// verdict, such as a stratum. They open no gate, so CEL's own semantics are
// kept; the limits on size and cost are those of guards. It is safe for
// concurrent use.
type TextEnv struct{ env *Env }

// NewText makes an environment of these variables.
func NewText(vars []TextVar) (*TextEnv, error) {
	root := &field{kind: group}
	for _, v := range vars {
		root.fields = append(root.fields, &field{name: v.Name, path: v.Name, doc: v.Doc, kind: text, parent: root})
	}
	env, err := newTextCELEnv(vars)
	if err != nil {
		return nil, fmt.Errorf("text environment: %w", err)
	}
	return &TextEnv{&Env{root: root, cel: env}}, nil
}

// TextProgram is a text rule that type-checks. It is safe for concurrent use.
type TextProgram struct {
	rule string
	prog celProgram
}

// Compile type-checks a rule, whose value must be a text. Its errors are of
// type [*CompileError].
func (e *TextEnv) Compile(rule string) (*TextProgram, error) {
	if strings.TrimSpace(rule) == "" {
		return nil, &CompileError{rule, []Problem{at(rule, 1, 0, "the rule is empty", "")}}
	}
	parsed, iss := e.env.cel.Parse(rule)
	if iss.Err() != nil {
		return nil, e.translate(rule, nil, iss)
	}
	checked, iss := e.env.cel.Check(parsed)
	if iss.Err() != nil {
		return nil, e.translate(rule, parsed, iss)
	}
	if t := checked.OutputType(); !isText(t) {
		return nil, &CompileError{rule, []Problem{at(rule, 1, 0, fmt.Sprintf("the rule gives a %s, not a text", t), `such as cond ? "long" : "short", or string(x)`)}}
	}
	prog, err := newTextCELProgram(e.env.cel, checked)
	if err != nil {
		return nil, &CompileError{rule, []Problem{at(rule, 1, 0, err.Error(), "")}}
	}
	return &TextProgram{rule, prog}, nil
}

// translate drops the one hint that is wrong here: whole numbers are whole.
func (e *TextEnv) translate(rule string, parsed *celAST, iss *celIssues) error {
	err := e.env.translate(rule, parsed, iss)
	if ce, ok := err.(*CompileError); ok {
		for i, p := range ce.Problems {
			if p.Hint == overloadHint("int double") {
				ce.Problems[i].Hint = "double(x) and int(x) convert"
			}
		}
	}
	return err
}

// Rule returns the text that was compiled.
func (p *TextProgram) Rule() string { return p.rule }

// Eval gives the rule's text for these values, one for every variable of the
// environment. A key that is not there, a division by zero and too much work
// are errors.
func (p *TextProgram) Eval(vars map[string]any) (string, error) {
	out, _, err := p.prog.Eval(vars)
	if err != nil {
		return "", fmt.Errorf("rule %q: %w", p.rule, err)
	}
	s, ok := out.(celString)
	if !ok {
		return "", fmt.Errorf("rule %q gave %v, not a text", p.rule, out)
	}
	return string(s), nil
}
