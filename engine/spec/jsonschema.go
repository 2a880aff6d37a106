package spec

import (
	"encoding/json"
	"maps"

	"cuelang.org/go/encoding/jsonschema"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of a campaign file, made
// from the CUE definitions, for editors. It knows no rule between fields; Load
// decides what is valid.
func JSONSchema() ([]byte, error) {
	s := compiled()
	s.mu.Lock()
	defer s.mu.Unlock()
	expr, err := jsonschema.Generate(s.campaign, nil)
	if err != nil {
		return nil, err
	}
	b, err := s.ctx.BuildExpr(expr).MarshalJSON()
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	defs, _ := doc["$defs"].(map[string]any)
	for _, name := range sortedKeys(defs) {
		flatten(defs, name)
	}
	if c, ok := defs["Candidate"].(map[string]any); ok {
		props, _ := c["properties"].(map[string]any)
		delete(props, "from") // from?: _|_ has no translation
	}
	addLimits(doc, defs, s.limits)
	doc["title"] = "cupel campaign"
	return json.MarshalIndent(doc, "", "  ")
}

// EvidenceJSONSchema returns the JSON Schema of the file that `cupel evidence
// import` writes.
func EvidenceJSONSchema() ([]byte, error) {
	s := compiled()
	s.mu.Lock()
	defer s.mu.Unlock()
	expr, err := jsonschema.Generate(s.def("EvidenceFile"), nil)
	if err != nil {
		return nil, err
	}
	b, err := s.ctx.BuildExpr(expr).MarshalJSON()
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	doc["title"] = "cupel evidence"
	return json.MarshalIndent(doc, "", "  ")
}

// flatten merges the definition that another one is built on into it. CUE's
// generator writes {"$ref": base, "properties": …, "additionalProperties":
// false}, which refuses every property that only the base names.
func flatten(defs map[string]any, name string) map[string]any {
	def, _ := defs[name].(map[string]any)
	ref, _ := def["$ref"].(string)
	own, isObject := def["properties"].(map[string]any)
	if ref == "" || !isObject {
		return def
	}
	base := flatten(defs, ref[len("#/$defs/"):])
	props, _ := base["properties"].(map[string]any)
	props = maps.Clone(props)
	for k, v := range own {
		if _, more := v.(map[string]any); more {
			props[k] = v // built on the base's definition of k
		}
	}
	def["properties"] = props
	delete(def, "$ref")
	return def
}

// addLimits adds what the definitions leave to the program.
func addLimits(doc, defs map[string]any, l limits) {
	limit := func(object any, field string, most int) {
		o, _ := object.(map[string]any)
		props, _ := o["properties"].(map[string]any)
		if f, ok := props[field].(map[string]any); ok {
			f["maxProperties"] = most
		}
	}
	limit(doc, "candidates", l.Candidates)
	limit(doc, "measure", l.Measure)
	limit(defs["Decide"], "guards", l.Guards)
}
