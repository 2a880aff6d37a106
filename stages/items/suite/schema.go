package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaFindings says whether no value, or every value, satisfies a schema, and
// which parts of it no value can reach. It is a static look: what it finds is
// so, and what it does not find may be so all the same.
func SchemaFindings(raw json.RawMessage) []Finding {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		return nil // the scorer says so
	}
	a := &analysis{root: doc, refAlone: oldDraft(doc), compiled: compileSchema(doc), busy: map[string]bool{}, known: map[string]result{}, dead: map[string]string{}}
	set, why := a.possible(doc, "")
	switch {
	case set == 0:
		return []Finding{{Code: CodeSchema, Text: "no value satisfies the schema: " + why}}
	case anything(doc):
		return []Finding{{Code: CodeVacuous, Warning: true, Text: "the schema accepts every JSON value"}}
	}
	var out []Finding
	for _, at := range slices.Sorted(maps.Keys(a.dead)) {
		out = append(out, Finding{Code: CodeUnreachable, Warning: true, Text: fmt.Sprintf("no value reaches %s: %s", at, a.dead[at])})
	}
	return out
}

type result struct {
	set types
	why string
}

// types is a set of JSON types.
type types uint8

const (
	tNull types = 1 << iota
	tBoolean
	tObject
	tArray
	tString
	tInteger
	tFraction // a number that is not whole
	tAll      = 1<<iota - 1
)

var typeNames = map[string]types{
	"null": tNull, "boolean": tBoolean, "object": tObject, "array": tArray,
	"string": tString, "integer": tInteger, "number": tInteger | tFraction,
}

type analysis struct {
	root     any
	refAlone bool // drafts before 2019-09: what stands beside a $ref does not count
	compiled func(pointer string) *jsonschema.Schema
	busy     map[string]bool   // $refs that are being followed
	known    map[string]result // $refs that were followed
	dead     map[string]string // pointer -> why nothing reaches it
}

// possible returns the types of values that can satisfy a schema: never too
// few. why explains an empty set.
func (a *analysis) possible(schema any, at string) (set types, why string) {
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return 0, place(at) + " is false"
		}
		return tAll, ""
	}
	rules := []func(map[string]any, string) (types, string){
		a.byType, a.byValues, a.byRange, a.byLength, a.byObject, a.byArray, a.byRef, a.byAll, a.byAny, a.byNot,
	}
	if _, ref := s["$ref"]; ref && a.refAlone {
		rules = rules[6:7]
	}
	set = tAll
	for _, rule := range rules {
		allowed, reason := rule(s, at)
		if set &= allowed; set == 0 {
			return 0, cmp.Or(reason, place(at)+" has keywords that exclude each other")
		}
	}
	return set, ""
}

func place(at string) string {
	if at == "" {
		return "the schema"
	}
	return at
}

func oldDraft(doc any) bool {
	s, _ := doc.(map[string]any)
	draft, ok := s["$schema"].(string)
	return ok && !strings.Contains(draft, "/20")
}

// kill notes a part that nothing reaches.
func (a *analysis) kill(at, why string) { a.dead[at] = strings.TrimPrefix(why, at+" ") }

func (a *analysis) byType(s map[string]any, _ string) (types, string) {
	switch t := s["type"].(type) {
	case string:
		return typeNames[t], ""
	case []any:
		var set types
		for _, name := range t {
			n, _ := name.(string)
			set |= typeNames[n]
		}
		return set, ""
	}
	return tAll, ""
}

// byValues keeps the types of the listed values that the whole schema accepts.
func (a *analysis) byValues(s map[string]any, at string) (types, string) {
	values, ok := s["enum"].([]any)
	if c, has := s["const"]; has {
		values, ok = []any{c}, true
	}
	sch := a.compiled(at)
	if !ok || sch == nil {
		return tAll, ""
	}
	var set types
	for _, v := range values {
		if sch.Validate(v) == nil {
			set |= typeOf(v)
		}
	}
	return set, place(at) + " accepts none of the values that it lists"
}

func typeOf(v any) types {
	switch v := v.(type) {
	case nil:
		return tNull
	case bool:
		return tBoolean
	case string:
		return tString
	case map[string]any:
		return tObject
	case []any:
		return tArray
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok && !r.IsInt() {
			return tFraction
		}
		return tInteger
	}
	return tAll
}

func (a *analysis) byRange(s map[string]any, at string) (types, string) {
	lo, loOpen := bound(s, "minimum", "exclusiveMinimum", 1)
	hi, hiOpen := bound(s, "maximum", "exclusiveMaximum", -1)
	if lo == nil || hi == nil {
		return tAll, ""
	}
	c := lo.Cmp(hi)
	if c > 0 || c == 0 && (loOpen || hiOpen) {
		return tAll &^ (tInteger | tFraction), place(at) + " has a minimum above its maximum"
	}
	set := types(tAll)
	if c == 0 && lo.IsInt() {
		set &^= tFraction
	}
	if whole := ceil(lo, loOpen); new(big.Rat).SetInt(whole).Cmp(hi) > 0 || hiOpen && new(big.Rat).SetInt(whole).Cmp(hi) == 0 {
		set &^= tInteger
	}
	return set, place(at) + " has no whole number between its bounds"
}

// bound is the stricter of two limits; sign 1 for lower ones.
func bound(s map[string]any, closed, open string, sign int) (at *big.Rat, isOpen bool) {
	at = rat(s[closed])
	if o := rat(s[open]); o != nil && (at == nil || o.Cmp(at)*sign >= 0) {
		return o, true
	}
	return at, false
}

func rat(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok || len(n) > 40 || strings.ContainsAny(n.String(), "eE") {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// ceil is the smallest whole number that is allowed from lo.
func ceil(lo *big.Rat, open bool) *big.Int {
	q := new(big.Int).Div(lo.Num(), lo.Denom()) // floor: Denom > 0
	if !lo.IsInt() || open {
		q.Add(q, big.NewInt(1))
	}
	return q
}

var lengths = []struct {
	lo, hi string
	of     types
}{{"minLength", "maxLength", tString}, {"minItems", "maxItems", tArray}, {"minProperties", "maxProperties", tObject}}

func (a *analysis) byLength(s map[string]any, at string) (types, string) {
	set, why := types(tAll), ""
	for _, l := range lengths {
		if lo, hi := rat(s[l.lo]), rat(s[l.hi]); lo != nil && hi != nil && lo.Cmp(hi) > 0 {
			set &^= l.of
			why = fmt.Sprintf("%s has %s above %s", place(at), l.lo, l.hi)
		}
	}
	return set, why
}

// anything reports a schema without any keyword that asserts something.
func anything(doc any) bool {
	if doc == true {
		return true
	}
	s, ok := doc.(map[string]any)
	for k := range s {
		if !slices.Contains([]string{"$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples"}, k) {
			return false
		}
	}
	return ok
}
