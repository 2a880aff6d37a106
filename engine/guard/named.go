package guard

import (
	"fmt"
	"reflect"
	"strings"
)

// Named are numbers whose names are not known before a campaign is read. As a
// field of the environment's struct it is a group that a rule indexes with a
// literal, group["context.advertised"], or selects from where the name is an
// identifier. Which names there are is said by [Names]; one that the map lacks is
// an absent value.
type Named map[string]float64

// Names lists the names of one group of type [Named].
type Names struct {
	Group string // dotted path of the group
	Names []string
}

var namedType = reflect.TypeFor[Named]()

// addNames adds the names to the group that they belong to.
func (f *field) addNames(n Names) error {
	g := f.find(n.Group)
	if g == nil || !g.open {
		return fmt.Errorf("%s is not a group whose names can be given", n.Group)
	}
	for _, name := range n.Names {
		if g.child(name) != nil {
			return fmt.Errorf("%s has the name %q twice", n.Group, name)
		}
		g.fields = append(g.fields, &field{name: name, path: g.path + indexed(name), kind: number, parent: g})
	}
	return nil
}

// indexed writes a name as an index with the escapes of CEL.
func indexed(name string) string { return "[" + fmt.Sprintf("%q", name) + "]" }

// lookup resolves a chain of selections and literal indices to a node of the
// tree. ok is false for any other expression; f is nil when there is no such
// name, and then in is the group that lacks it, where there is one.
func (f *field) lookup(x expr) (found, in *field, name string, ok bool) {
	switch x.Kind() {
	case kindIdent:
		name = strings.TrimPrefix(x.AsIdent(), ".")
		return f.child(name), f, name, true
	case kindSelect:
		s := x.AsSelect()
		if s.IsTestOnly() {
			return nil, nil, "", false
		}
		return f.below(s.Operand(), s.FieldName())
	case kindCall:
		c := x.AsCall()
		if c.FunctionName() != opIndex || c.Args()[1].Kind() != kindLiteral {
			return nil, nil, "", false
		}
		key, isText := c.Args()[1].AsLiteral().(celString)
		if !isText {
			return nil, nil, "", false
		}
		return f.below(c.Args()[0], string(key))
	}
	return nil, nil, "", false
}

func (f *field) below(operand expr, name string) (found, in *field, _ string, ok bool) {
	g, _, _, ok := f.lookup(operand)
	if !ok || g == nil {
		return nil, nil, "", ok
	}
	return g.child(name), g, name, true
}

// named notes a value of an open group, or says why it is none. It reports
// whether x was one.
func (l *linter) named(x expr) bool {
	f, in, name, ok := l.env.root.lookup(x)
	switch {
	case ok && in != nil && in.open && f == nil:
		l.report(x, l.unclaimed(in, name), l.suggestNamed(in, name))
	case ok && in != nil && in.open:
		l.note(f)
		l.show(x)
	case x.Kind() == kindCall && x.AsCall().FunctionName() == opIndex && l.isOpen(x.AsCall().Args()[0]):
		l.report(x, "the name in the brackets must be a text that stands in the rule", `write it as it is claimed: ["context.advertised"]`)
	default:
		return false
	}
	return true
}

func (l *linter) unclaimed(in *field, name string) string {
	return fmt.Sprintf("there is no %q in %s", name, in.path)
}

func (l *linter) suggestNamed(in *field, name string) string {
	if h := nearest(name, in.names()); h != "" {
		return "did you mean " + in.path + indexed(h) + "?"
	}
	if len(in.fields) == 0 {
		return "it has no names"
	}
	return "there are: " + strings.Join(in.names(), ", ")
}

func (l *linter) isOpen(x expr) bool {
	f, _, _, ok := l.env.root.lookup(x)
	return ok && f != nil && f.open
}

// at returns the value of a name; ok is false when the map lacks it.
func (f *field) at(group reflect.Value) (reflect.Value, bool) {
	v := group.MapIndex(reflect.ValueOf(f.name))
	return v, v.IsValid()
}
