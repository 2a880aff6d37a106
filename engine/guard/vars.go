package guard

import (
	"errors"
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
)

// kind of a field.
type kind int

const (
	group  kind = iota // a struct: only its fields can be used
	number             // float64 or *float64; nil, NaN and infinities are absent
	truth
	text
)

// field is one node of the tree of names that a rule may use.
type field struct {
	name, path string
	doc        string
	kind       kind
	celType    string // of a group
	index      []int  // in the parent's struct; several below embedded structs
	parent     *field
	fields     []*field // of a group, in declaration order
	role       string   // "lo", "hi" or "point" of the parent's interval
	id         string   // of a number, "" = none; see dimension
	family     string   // of a group: what the ids below it begin with, "" = they have none
	labels     []string // of a group: what the ids below it carry in braces
	open       bool     // a group of type Named
}

// tree reads the names from a struct type. Tags: `cel:"name"` gives the name,
// `interval:"lo|hi|point"` marks the ends and the estimate of an interval, `id`
// and `label` give numbers ids. An embedded struct with `cel:"-"` lends its fields.
func tree(t reflect.Type) (*field, error) {
	root := &field{kind: group}
	return root, root.addFields(t, 0)
}

func (f *field) addFields(t reflect.Type, depth int) error {
	if err := f.addFieldsAt(nil, t, depth); err != nil {
		return err
	}
	f.celType = path.Base(t.PkgPath()) + "." + t.Name()
	return f.checkInterval(t)
}

// addFieldsAt adds the fields of a struct that stands at index in that of f.
func (f *field) addFieldsAt(index []int, t reflect.Type, depth int) error {
	if t.Name() == "" || depth > 8 {
		return fmt.Errorf("type %s: groups of values must be named struct types, at most 8 deep", t)
	}
	for i := range t.NumField() {
		if err := f.addField(t.Field(i), append(slices.Clone(index), i), depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) addField(sf reflect.StructField, index []int, depth int) error {
	if sf.Anonymous && sf.IsExported() && sf.Type.Kind() == reflect.Struct && sf.Tag.Get("cel") == "-" {
		return f.addFieldsAt(index, sf.Type, depth+1)
	}
	if !sf.IsExported() || sf.Anonymous {
		return fmt.Errorf("field %s: all fields must be exported and not embedded, but for structs with the tag cel:\"-\"", sf.Name)
	}
	name := sf.Tag.Get("cel")
	if name == "" {
		return fmt.Errorf("field %s: no tag cel", sf.Name)
	}
	c := &field{name: name, path: strings.TrimPrefix(f.path+"."+name, "."), index: index, parent: f, role: sf.Tag.Get("interval"), doc: sf.Tag.Get("doc")}
	if f.child(name) != nil {
		return fmt.Errorf("field %s: %s is there twice", sf.Name, c.path)
	}
	f.fields = append(f.fields, c)
	c.family, c.labels = f.family, f.labels
	t := sf.Type
	if t == namedType {
		c.open = true
		return nil
	}
	if t.Kind() == reflect.Pointer && (t.Elem().Kind() == reflect.Struct || t.Elem().Kind() == reflect.Float64) {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		c.inherit(sf.Tag)
		return c.addFields(t, depth+1)
	case reflect.Float64:
		c.kind, c.id = number, idOf(sf.Tag.Get("id"), f, name)
	case reflect.Bool:
		c.kind = truth
	case reflect.String:
		c.kind = text
	default:
		return fmt.Errorf("field %s: type %s; numbers must be float64, because whole numbers divide without a remainder in CEL", sf.Name, sf.Type)
	}
	return nil
}

// checkInterval wants both ends wherever there is one of an interval's roles.
func (f *field) checkInterval(t reflect.Type) error {
	seen := map[string]int{}
	for _, c := range f.fields {
		if c.role != "" {
			seen[c.role]++
		}
	}
	if len(seen) > 0 && (seen["lo"] != 1 || seen["hi"] != 1 || len(seen) > 2+min(1, seen["point"])) {
		return fmt.Errorf("type %s: an interval has exactly one lo and one hi", t)
	}
	return nil
}

func (f *field) child(name string) *field {
	i := slices.IndexFunc(f.fields, func(c *field) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return f.fields[i]
}

// find follows a dotted path.
func (f *field) find(dotted string) *field {
	for _, name := range strings.Split(dotted, ".") {
		if f = f.child(name); f == nil {
			return nil
		}
	}
	return f
}

// sibling is the field of the given role in the same interval.
func (f *field) sibling(role string) *field {
	for _, c := range f.parent.fields {
		if c.role == role {
			return c
		}
	}
	return nil
}

// names lists the names in a group.
func (f *field) names() []string {
	out := make([]string, len(f.fields))
	for i, c := range f.fields {
		out[i] = c.name
	}
	return out
}

// in returns the value of f inside the struct root; ok is false below a nil
// group.
func (f *field) in(root reflect.Value) (v reflect.Value, ok bool) {
	if f.parent == nil {
		return root, true
	}
	v, ok = f.parent.in(root)
	if !ok {
		return v, false
	}
	if f.parent.open {
		return f.at(v)
	}
	v = v.FieldByIndex(f.index)
	if f.kind == group && v.Kind() == reflect.Pointer {
		return v.Elem(), !v.IsNil()
	}
	return v, true
}

// float returns a number; ok is false when it is absent.
func (f *field) float(root reflect.Value) (x float64, ok bool) {
	v, ok := f.in(root)
	if !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return 0, false
	}
	x = reflect.Indirect(v).Float()
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

// present reports whether a rule may read f.
func (f *field) present(root reflect.Value) bool {
	if f.kind == number {
		_, ok := f.float(root)
		return ok
	}
	_, ok := f.in(root)
	return ok
}

// setFloat writes a number that is present. root must be addressable; groups
// behind pointers are copied before they are written.
func (f *field) setFloat(root reflect.Value, x float64) {
	v := f.parent.own(root).FieldByIndex(f.index)
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.ValueOf(&x))
		return
	}
	v.SetFloat(x)
}

func (f *field) own(root reflect.Value) reflect.Value {
	if f.parent == nil {
		return root
	}
	v := f.parent.own(root).FieldByIndex(f.index)
	if v.Kind() != reflect.Pointer {
		return v
	}
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	v.Set(fresh)
	return fresh.Elem()
}

// structOf accepts a struct or a non-nil pointer to one.
func structOf(vars any) (reflect.Value, error) {
	v := reflect.ValueOf(vars)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return v, errors.New("the values of a rule must be a struct")
	}
	return v, nil
}
