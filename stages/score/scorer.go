package score

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Output is an answer as far as scorers see it. Reasoning is not in it: a
// number that was only thought of is not an answer.
type Output struct {
	Text      string
	ToolCalls []llm.ToolCall
	Verdict   *Verdict // of the judge that was asked about it; nil = none was
}

// Func scores one output of the item that it was made for. The value is in
// [0,1]; an error means that there is none. It is safe for concurrent use.
type Func func(out Output) (value float64, reason string, err error)

// Scorer is one way of scoring.
type Scorer struct {
	Name    string
	Version int // raised when the same answer would now get another value
	Doc     string
	Params  []Param
	Runs    bool // runs programs: used only where the campaign names it, never because an item does
	Asks    bool // asks a model: the same holds

	checkParams func(raw params) error // names and types only
	build       func(raw params, it *items.Item, env *env) (Func, error)
}

// ID is the name with the version, as rows carry it.
func (s Scorer) ID() string { return fmt.Sprintf("%s/%d", s.Name, s.Version) }

// Param documents one parameter.
type Param struct {
	Name    string
	Type    string // JSON type
	Default string // JSON
	Doc     string
}

// params are parameters by name, as written.
type params map[string]json.RawMessage

// env is what scorers share within one run: compiled schemas and programs.
type env struct {
	schemas  map[string]*schema
	programs *programs           // nil = nothing runs programs here
	asked    map[string]*asked   // programs that answer line by line
	used     map[string][]string // scorer -> languages whose interpreters it uses
}

func newEnv() *env {
	return &env{schemas: map[string]*schema{}, asked: map[string]*asked{}, used: map[string][]string{}}
}

// use notes that a scorer depends on the interpreter of a language.
func (e *env) use(scorer, language string) {
	if !slices.Contains(e.used[scorer], language) {
		e.used[scorer] = append(e.used[scorer], language)
		slices.Sort(e.used[scorer])
	}
}

// runsPrograms marks a scorer that runs programs.
func runsPrograms(s Scorer) Scorer {
	s.Runs = true
	return s
}

// define makes a scorer whose parameters are the fields of P: the json tag
// names a parameter, the doc tag explains it, and defaults holds the values of
// those that are not given. build is called once for each item: what it
// refuses is an error of the item.
func define[P any](name string, version int, doc string, defaults P, build func(P, *items.Item, *env) (Func, error)) Scorer {
	fields := map[string]int{}
	s := Scorer{Name: name, Version: version, Doc: doc}
	v := reflect.ValueOf(defaults)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		pname, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[pname] = i
		s.Params = append(s.Params, Param{pname, jsonType(f.Type), mustJSON(v.Field(i).Interface()), f.Tag.Get("doc")})
	}
	s.checkParams = func(raw params) error {
		p := defaults
		return raw.decode(reflect.ValueOf(&p).Elem(), fields)
	}
	s.build = func(raw params, it *items.Item, env *env) (Func, error) {
		p := defaults
		if err := raw.decode(reflect.ValueOf(&p).Elem(), fields); err != nil {
			return nil, err
		}
		return build(p, it, env)
	}
	return s
}

func (raw params) decode(into reflect.Value, fields map[string]int) error {
	for _, name := range keys(raw) {
		value := raw[name]
		i, ok := fields[name]
		if !ok {
			return unknown("parameter", name, keys(fields))
		}
		if string(value) == "null" {
			return fmt.Errorf("parameter %s is null", name)
		}
		if err := jsonv2.Unmarshal(value, into.Field(i).Addr().Interface()); err != nil {
			return fmt.Errorf("parameter %s: %s is not a %s", name, clip(string(value)), jsonType(into.Field(i).Type()))
		}
	}
	return nil
}

// over returns raw with the parameters of top put over it.
func (raw params) over(top params) params {
	if len(top) == 0 {
		return raw
	}
	merged := make(params, len(raw)+len(top))
	for _, p := range []params{raw, top} {
		for name, value := range p {
			merged[name] = value
		}
	}
	return merged
}

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		if t == reflect.TypeFor[quantity]() {
			return "number"
		}
		return "string"
	}
	panic("a parameter of type " + t.String() + " has no name")
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func unknown(what, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown %s %q; there is none", what, name)
	}
	return fmt.Errorf("unknown %s %q; known: %s", what, name, strings.Join(known, ", "))
}

// oneOf checks a parameter whose values are words.
func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("parameter %s: %q is not one of %s", name, value, strings.Join(allowed, ", "))
}

func boolean(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// clip shortens a text for a reason.
func clip(s string) string { return clipTo(s, 80) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
