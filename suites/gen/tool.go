package gen

import "encoding/json"

// tool is a function that a model may call.
type tool struct {
	name, doc string
	params    []param
}

// param is an argument of a tool.
type param struct {
	name     string
	schema   ordered // JSON Schema of the value
	optional bool
}

// text, whole, number and flag are the schemas of simple arguments.
func text(name, doc string) param {
	return param{name: name, schema: ordered{{"type", "string"}, {"description", doc}}}
}

func whole(name, doc string) param {
	return param{name: name, schema: ordered{{"type", "integer"}, {"description", doc}}}
}

func number(name, doc string) param {
	return param{name: name, schema: ordered{{"type", "number"}, {"description", doc}}}
}

func flag(name, doc string) param {
	return param{name: name, schema: ordered{{"type", "boolean"}, {"description", doc}}}
}

// oneOf is a text out of a list.
func oneOf(name, doc string, values ...string) param {
	return param{name: name, schema: ordered{{"type", "string"}, {"enum", values}, {"description", doc}}}
}

// listOf is an array of simple values.
func listOf(name, doc, kind string) param {
	return param{name: name, schema: ordered{{"type", "array"}, {"items", ordered{{"type", kind}}}, {"description", doc}}}
}

// object is a nested object.
func object(name, doc string, fields ...param) param {
	return param{name: name, schema: append(objectSchema(fields), pair{"description", doc})}
}

func (p param) maybe() param {
	p.optional = true
	return p
}

func objectSchema(fields []param) ordered {
	properties, required := ordered{}, []string{}
	for _, f := range fields {
		properties = append(properties, pair{f.name, f.schema})
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return ordered{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}
}

// toolList is the tool array of an OpenAI request.
func toolList(tools []tool) json.RawMessage {
	list := make([]ordered, len(tools))
	for i, t := range tools {
		list[i] = ordered{{"type", "function"}, {"function", ordered{{"name", t.name}, {"description", t.doc}, {"parameters", objectSchema(t.params)}}}}
	}
	return raw(list)
}
