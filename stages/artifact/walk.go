package artifact

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Field is one leaf of a record.
type Field struct {
	Name    string // section.name
	Value   any    // nil = unknown
	Unknown string // why
}

// Fields lists all leaves of a record in the order of its type.
func (r *Record) Fields() (out []Field) {
	each(reflect.ValueOf(r).Elem(), func(name string, v reflect.Value) {
		value, reason := v.Interface().(field).get()
		out = append(out, Field{name, value, reason})
	})
	return out
}

// complete gives a reason to each leaf that a reader left alone.
func (r *Record) complete(reason string) {
	each(reflect.ValueOf(r).Elem(), func(_ string, v reflect.Value) {
		v.Addr().Interface().(blank).because(reason)
	})
}

// leaf is where a field of a record stands.
type leaf struct {
	name        string // section.name
	section, at int
}

// leaves lists the fields of all sections, once.
var leaves = sync.OnceValue(func() (out []leaf) {
	t := reflect.TypeFor[Record]()
	for i := range t.NumField() {
		section := t.Field(i)
		if section.Type.Kind() != reflect.Struct || section.Name == "Source" {
			continue
		}
		for k := range section.Type.NumField() {
			out = append(out, leaf{jsonName(section) + "." + jsonName(section.Type.Field(k)), i, k})
		}
	}
	return out
})

// each calls f with every leaf below the sections of a record.
func each(record reflect.Value, f func(name string, v reflect.Value)) {
	for _, l := range leaves() {
		f(l.name, record.Field(l.section).Field(l.at))
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// show is a value as a person reads it.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	case float64:
		return number(v)
	case []string:
		return strings.Join(v, ", ")
	case []Suite:
		var out []string
		for _, s := range v {
			out = append(out, s.String())
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprint(v)
}

// Show is a field as a person reads it: the value, or why there is none.
func (f Field) Show() string {
	if f.Value == nil {
		return "unknown: " + f.Unknown
	}
	return show(f.Value)
}

// String is a suite on one line.
func (s Suite) String() string {
	out := s.Name
	if s.SHA256 != "" {
		out += "@sha256:" + s.SHA256[:min(12, len(s.SHA256))]
	}
	for _, more := range []string{s.Use, s.Validator} {
		if more != "" {
			out += " " + more
		}
	}
	return out
}

func number(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprintf("%.6g", v)
}
