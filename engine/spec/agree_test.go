package spec

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
)

// written lists Go types whose form in a campaign file differs from their own
// fields, with the CUE kind they are written as.
var written = map[reflect.Type]cue.Kind{
	reflect.TypeFor[File]():  cue.StringKind, // a path
	reflect.TypeFor[Suite](): cue.StringKind, // a path
}

// agree compares a Go type with a CUE value in both directions.
type agree struct {
	t    *testing.T
	s    *schema
	seen map[string]bool
}

// The hand-written types and the definitions say the same, field by field: a
// field that only one side has, another kind, and another optionality fail.
func TestTypesAgreeWithSchema(t *testing.T) {
	s := compiled()
	a := &agree{t: t, s: s, seen: map[string]bool{}}
	a.structs(reflect.TypeFor[Campaign](), s.def("Resolved"), "Campaign")
	a.structs(reflect.TypeFor[Binding](), s.def("Binding"), "Binding")
	kinds := map[string]reflect.Type{}
	for f := range reflect.TypeFor[Workload]().Fields() {
		if f.Name != "Kind" {
			kinds[jsonName(f)] = f.Type.Elem()
		}
	}
	for _, alt := range alternatives(s.def("Workload")) {
		k := kindOf(alt)
		if kinds[k] == nil {
			t.Errorf("workload kind %s is in CUE and not in Go", k)
			continue
		}
		a.structs(kinds[k], alt, k)
		delete(kinds, k)
	}
	for k := range kinds {
		t.Errorf("workload kind %s is in Go and not in CUE", k)
	}
	// The walk reached what it should have: nested types, not only the top.
	for _, p := range []string{"Campaign.candidates.*.sampling", "Campaign.research.sources[]", "capacity.prompt", "Campaign.candidates.*.speculative.draft"} {
		if !a.seen[p] {
			t.Errorf("%s was not compared", p)
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func (a *agree) structs(g reflect.Type, v cue.Value, p string) {
	a.seen[p] = true
	inCUE := fieldsOf(v)
	delete(inCUE, "kind") // of a workload; checked by kindOf
	if g == reflect.TypeFor[Decision]() || g == reflect.TypeFor[Source]() {
		inCUE = fieldsOf(v)
	}
	for f := range g.Fields() {
		name := jsonName(f)
		if name == "-" {
			continue
		}
		q := p + "." + name
		c, ok := inCUE[name]
		if !ok {
			a.t.Errorf("%s is in Go and not in CUE", q)
			continue
		}
		delete(inCUE, name)
		tag := f.Tag.Get("json")
		if omit := strings.Contains(tag, "omit"); omit != c.optional {
			a.t.Errorf("%s: omitted in Go %v, optional in CUE %v", q, omit, c.optional)
		}
		a.value(f.Type, c.value, q)
	}
	for name := range inCUE {
		a.t.Errorf("%s.%s is in CUE and not in Go", p, name)
	}
}

func (a *agree) value(g reflect.Type, v cue.Value, p string) {
	if g.Kind() == reflect.Pointer {
		g = g.Elem()
	}
	want, direct := written[g]
	if !direct {
		want = kindOfGo(g)
	}
	if got := v.IncompleteKind(); got&want == 0 || want != cue.TopKind && got&^(want|cue.StringKind&stringToo(g)) != 0 {
		a.t.Errorf("%s: %s in Go, %s in CUE", p, g, got)
		return
	}
	switch {
	case direct:
	case g == reflect.TypeFor[Workload]():
	case g.Kind() == reflect.Struct:
		alts := slices.DeleteFunc(alternatives(v), func(x cue.Value) bool { return x.IncompleteKind() != cue.StructKind })
		a.structs(g, alts[0], p)
	case g.Kind() == reflect.Slice:
		a.value(g.Elem(), elementOf(v), p+"[]")
	case g.Kind() == reflect.Map:
		if g.Elem().Kind() != reflect.Interface {
			a.value(g.Elem(), a.entry(v), p+".*")
		}
	}
}

// entry returns what a map holds under a name.
func (a *agree) entry(v cue.Value) cue.Value {
	return v.Unify(a.s.ctx.CompileString("{x: _}")).LookupPath(cue.ParsePath("x"))
}

// stringToo allows the text "none" for Speculative.
func stringToo(g reflect.Type) cue.Kind {
	if g == reflect.TypeFor[Speculative]() {
		return cue.StringKind
	}
	return 0
}

func kindOfGo(g reflect.Type) cue.Kind {
	switch g.Kind() {
	case reflect.String:
		return cue.StringKind
	case reflect.Bool:
		return cue.BoolKind
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return cue.IntKind
	case reflect.Float64:
		return cue.NumberKind
	case reflect.Slice:
		return cue.ListKind
	case reflect.Map, reflect.Struct:
		return cue.StructKind
	}
	return cue.TopKind
}

// Inherited candidates have the same fields as full ones, and no defaults: a
// default would replace an inherited value.
func TestDerivedAgrees(t *testing.T) {
	s := compiled()
	full, derived := fieldsOf(s.def("Candidate")), fieldsOf(s.def("Derived"))
	delete(derived, "from")
	for name := range full {
		if _, ok := derived[name]; !ok {
			t.Errorf("%s cannot be overridden", name)
		}
	}
	for name, f := range derived {
		if _, ok := full[name]; !ok {
			t.Errorf("%s is only in #Derived", name)
		}
		noDefaults(t, f, name)
	}
}

func noDefaults(t *testing.T, f known, p string) {
	if !f.optional && !f.required {
		t.Errorf("%s is neither optional nor required, so it has a value that is not inherited", p)
	}
	if _, has := f.value.Default(); has && f.value.IncompleteKind()&(cue.StructKind|cue.ListKind) == 0 {
		t.Errorf("%s has a default", p)
	}
	if f.value.IncompleteKind() == cue.StructKind {
		for name, sub := range fieldsOf(f.value) {
			noDefaults(t, sub, p+"."+name)
		}
	}
}
