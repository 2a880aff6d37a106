package guard

import (
	"fmt"
	"reflect"
)

// Env says which values a rule may name. It is safe for concurrent use.
type Env struct {
	typ  reflect.Type
	root *field
	cel  *celEnv
}

// New makes an environment from a struct (only its type is used). Fields are
// float64, *float64, bool, string, or named structs and pointers to structs of
// these; each has a tag `cel:"name"` and may have a tag `doc`. The tag `interval:"lo"`, `"hi"` or
// `"point"` marks the ends and the estimate of one confidence interval per
// struct: see [Program.Classify]. A field of type [Named] is a group whose names
// are given by names. An embedded struct with the tag `cel:"-"` lends its fields.
//
// The tag `id` on a group gives every number below it an id: the tag, the number's
// name, and in braces the tags `label` of the groups on the way to it, such as
// energy_w{base=nv.gpu,window=cell}. On a number it is the id as a whole. Rules
// never mix ids: see [Program].
func New(vars any, names ...Names) (*Env, error) {
	t := reflect.TypeOf(vars)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("guard environment: %T is not a struct", vars)
	}
	root, err := tree(t)
	if err != nil {
		return nil, fmt.Errorf("guard environment: %w", err)
	}
	for _, n := range names {
		if err := root.addNames(n); err != nil {
			return nil, fmt.Errorf("guard environment: %w", err)
		}
	}
	env, err := newCELEnv(root, t)
	if err != nil {
		return nil, fmt.Errorf("guard environment %s: %w", t, err)
	}
	return &Env{typ: t, root: root, cel: env}, nil
}

// Variable is one value that a rule may name.
type Variable struct {
	Path string // dotted
	Doc  string // from the tag `doc`; that of the nearest group when it has none
	ID   string // what it may be compared with, "" = it has none
}

// Variables lists every value that a rule may name, in declaration order.
func (e *Env) Variables() []Variable { return e.root.leaves("", nil) }

func (f *field) leaves(doc string, out []Variable) []Variable {
	if f.doc != "" {
		doc = f.doc
	}
	if f.kind != group || f.open && len(f.fields) == 0 {
		return append(out, Variable{f.path, doc, f.id})
	}
	for _, c := range f.fields {
		out = c.leaves(doc, out)
	}
	return out
}
