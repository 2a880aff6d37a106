package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/cupel-dev/cupel/engine/step"
)

// value turns an evaluated CUE value into a tree; near is the position of the
// nearest enclosing value that has one.
func (r *cueReader) value(v cue.Value, p path, near pos) *node {
	v, _ = v.Default()
	at := r.pos(v, near)
	out := &node{kind: cue.BottomKind, at: at}
	if r.count++; r.count > maxValues || len(p) > maxDepth {
		if r.count <= maxValues+1 {
			r.errs.add(at, p, fmt.Sprintf("more than %d values or %d levels", maxValues, maxDepth), "")
			r.count = maxValues + 1
		}
		return out
	}
	switch v.Kind() {
	case cue.NullKind:
		out.kind = cue.NullKind
	case cue.BoolKind:
		b, _ := v.Bool()
		out.kind, out.text = cue.BoolKind, fmt.Sprint(b)
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		r.number(v, p, out)
	case cue.StringKind:
		s, _ := v.String()
		out.kind, out.text = cue.StringKind, s
	case cue.ListKind:
		out.kind = cue.ListKind
		it, err := v.List()
		for i := 0; err == nil && it.Next(); i++ {
			out.elems = append(out.elems, r.value(it.Value(), p.with(index(i)), at))
		}
	case cue.StructKind:
		r.structure(v, p, out)
	default:
		r.errs.add(at, p, "found "+clip(fmt.Sprint(v))+", allowed a concrete value", "")
	}
	return out
}

func (r *cueReader) structure(v cue.Value, p path, out *node) {
	out.kind = cue.StructKind
	it, err := v.Fields()
	if err != nil {
		r.errs.add(out.at, p, clip(err.Error()), "")
		return
	}
	for it.Next() {
		if it.Selector().ConstraintType() == cue.RequiredConstraint {
			continue // missing: the check reports it
		}
		name := it.Selector().Unquoted()
		val := r.value(it.Value(), p.with(name), out.at)
		out.fields = append(out.fields, field{name, val.at, val})
	}
}

func (r *cueReader) number(v cue.Value, p path, out *node) {
	b, err := v.MarshalJSON()
	out.kind, out.text = cue.NumberKind, string(b)
	if err == nil {
		err = step.CheckNumber(out.text)
	}
	if err != nil {
		r.errs.add(out.at, p, clip(err.Error()), "CUE computes with decimals; write a number that float64 has")
		out.kind = cue.BottomKind
	}
}

// pos is where the user wrote v: the position that is not in the schema.
func (r *cueReader) pos(v cue.Value, near pos) pos {
	if at, ok := r.userPos(v.Pos()); ok {
		return at
	}
	if op, args := v.Expr(); op == cue.AndOp {
		for _, a := range args {
			if at, ok := r.userPos(a.Pos()); ok {
				return at
			}
		}
	}
	return near
}

func (r *cueReader) userPos(p token.Pos) (pos, bool) {
	q := p.Position()
	if !p.IsValid() || q.Filename == "" || r.isSchema(q.Filename) {
		return pos{}, false
	}
	return pos{file: r.show(q.Filename), line: q.Line, col: q.Column}, true
}

func (r *cueReader) isSchema(file string) bool {
	return strings.Contains(filepath.ToSlash(file), schemaFolder+"/")
}

// addCUE reports CUE's errors at the user's positions.
func (r *cueReader) addCUE(err error) {
	for _, e := range cueErrors(err) {
		at := pos{file: r.shown}
		for _, p := range e.positions {
			if u, ok := r.userPos(p); ok {
				at = u
				break
			}
		}
		r.errs.add(at, e.path, e.msg, "")
	}
}

// cueError is one error of CUE; a union's alternatives are folded into one.
type cueError struct {
	path      path
	msg       string
	positions []token.Pos
}

func cueErrors(err error) []cueError {
	var out []cueError
	seen := map[string]int{}
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		one := cueError{msg: fmt.Sprintf(format, args...), positions: cueerrors.Positions(e)}
		if cause := cueerrors.Unwrap(e); cause != nil {
			one.msg += ": " + cause.Error()
		}
		one.msg = clip2(one.msg)
		for _, s := range cueerrors.Path(e) {
			if !strings.HasPrefix(s, "#") { // the definition that was unified with
				one.path = append(one.path, strings.Trim(s, `"`))
			}
		}
		if strings.Contains(one.msg, "errors in empty disjunction") {
			one.msg = "matches none of the allowed forms"
		}
		key := one.path.String()
		if i, dup := seen[key]; dup {
			out[i].positions = append(out[i].positions, one.positions...)
			continue
		}
		seen[key] = len(out)
		out = append(out, one)
	}
	return out
}

// clip2 keeps a sentence of CUE's on one line, at four times clip's length.
func clip2(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 240 {
		return string(r[:240]) + "…"
	}
	return s
}
