package suite

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const objectless = tAll &^ tObject

func (a *analysis) byObject(s map[string]any, at string) (types, string) {
	props, _ := s["properties"].(map[string]any)
	closed := s["additionalProperties"] == false
	patterns, _ := s["patternProperties"].(map[string]any)
	impossible := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		p := at + "/properties/" + escape(name)
		if set, why := a.possible(props[name], p); set == 0 {
			impossible[name] = why
			if props[name] != false { // `"x": false` forbids on purpose
				a.kill(p, why)
			}
		}
	}
	required := texts(s["required"])
	for _, name := range required {
		if why, dead := impossible[name]; dead {
			return objectless, place(at) + fmt.Sprintf(" requires %q, and %s", name, why)
		}
		if _, known := props[name]; closed && !known && !matchesAny(name, patterns) {
			return objectless, place(at) + fmt.Sprintf(" requires %q, which additionalProperties: false forbids", name)
		}
	}
	if hi := rat(s["maxProperties"]); hi != nil && hi.Cmp(big.NewRat(int64(len(required)), 1)) < 0 {
		return objectless, place(at) + fmt.Sprintf(" requires %d properties, and maxProperties is %s", len(required), hi.RatString())
	}
	room := int64(len(props) - len(impossible))
	if lo := rat(s["minProperties"]); lo != nil && closed && len(patterns) == 0 && lo.Cmp(big.NewRat(room, 1)) > 0 {
		return objectless, place(at) + fmt.Sprintf(" wants %s properties, and %d are possible", lo.RatString(), room)
	}
	return tAll, ""
}

func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// matchesAny is generous: a pattern that RE2 does not know matches.
func matchesAny(name string, patterns map[string]any) bool {
	for p := range patterns {
		if re, err := regexp.Compile(p); err != nil || re.MatchString(name) {
			return true
		}
	}
	return false
}

func (a *analysis) byArray(s map[string]any, at string) (types, string) {
	least := rat(s["minItems"])
	prefix, _ := s["prefixItems"].([]any)
	for i, p := range prefix {
		where := fmt.Sprintf("%s/prefixItems/%d", at, i)
		if set, why := a.possible(p, where); set == 0 {
			a.kill(where, why)
			if least != nil && least.Cmp(big.NewRat(int64(i+1), 1)) >= 0 {
				return tAll &^ tArray, place(at) + fmt.Sprintf(" wants %s elements, and %s", least.RatString(), why)
			}
		}
	}
	rest, ok := s["items"]
	if !ok {
		return tAll, ""
	}
	set, why := a.possible(rest, at+"/items")
	if set != 0 {
		return tAll, ""
	}
	if rest != false {
		a.kill(at+"/items", why)
	}
	if least != nil && least.Cmp(big.NewRat(int64(len(prefix)+1), 1)) >= 0 {
		return tAll &^ tArray, place(at) + fmt.Sprintf(" wants %s elements, and %s", least.RatString(), why)
	}
	return tAll, ""
}

// byRef follows references inside the document; one that leads back to itself
// says nothing.
func (a *analysis) byRef(s map[string]any, _ string) (types, string) {
	ref, ok := s["$ref"].(string)
	pointer, local := strings.CutPrefix(ref, "#")
	if !ok || !local || a.busy[pointer] {
		return tAll, ""
	}
	target, ok := lookup(a.root, pointer)
	if !ok {
		return tAll, ""
	}
	r, ok := a.known[pointer]
	if !ok {
		a.busy[pointer] = true
		r.set, r.why = a.possible(target, pointer)
		delete(a.busy, pointer)
		a.known[pointer] = r
	}
	return r.set, r.why
}

func (a *analysis) byAll(s map[string]any, at string) (types, string) {
	set := types(tAll)
	parts, _ := s["allOf"].([]any)
	for i, p := range parts {
		one, why := a.possible(p, fmt.Sprintf("%s/allOf/%d", at, i))
		if one == 0 {
			return 0, why
		}
		set &= one
	}
	return set, place(at) + " has an allOf that wants different types"
}

func (a *analysis) byAny(s map[string]any, at string) (types, string) {
	set := types(tAll)
	for _, key := range []string{"anyOf", "oneOf"} {
		parts, ok := s[key].([]any)
		if !ok {
			continue
		}
		var any types
		for i, p := range parts {
			where := fmt.Sprintf("%s/%s/%d", at, key, i)
			one, why := a.possible(p, where)
			if one == 0 {
				a.kill(where, why)
			}
			any |= one
		}
		if any == 0 {
			return 0, place(at) + " has no branch of " + key + " that can hold"
		}
		set &= any
	}
	return set, ""
}

func (a *analysis) byNot(s map[string]any, at string) (types, string) {
	not, ok := s["not"]
	if ok && anything(not) {
		return 0, place(at) + " excludes everything with not"
	}
	return tAll, ""
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// lookup follows a JSON pointer.
func lookup(doc any, pointer string) (any, bool) {
	if pointer == "" {
		return doc, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for _, tok := range strings.Split(pointer[1:], "/") {
		tok = strings.NewReplacer("~1", "/", "~0", "~").Replace(tok)
		switch v := doc.(type) {
		case map[string]any:
			var ok bool
			if doc, ok = v[tok]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

type refuseLoader struct{}

func (refuseLoader) Load(string) (any, error) { return nil, fmt.Errorf("no other document is read") }

// compileSchema returns what compiles the part of a schema at a pointer; nil
// for a part that does not compile.
func compileSchema(doc any) func(pointer string) *jsonschema.Schema {
	const url = "cupel:///schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(refuseLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(url, doc); err != nil {
		return func(string) *jsonschema.Schema { return nil }
	}
	return func(pointer string) *jsonschema.Schema {
		s, err := c.Compile(url + "#" + percent(pointer))
		if err != nil {
			return nil
		}
		return s
	}
}

// percent writes a pointer as the fragment of a URL.
func percent(pointer string) string {
	var b strings.Builder
	for _, c := range []byte(pointer) {
		if c == '/' || c == '-' || c == '_' || c == '~' || c == '.' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
