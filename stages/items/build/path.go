package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// ParseMap reads a field map of lines such as input=request.messages,
// time=/meta/ts or label.task=meta.kind.
func ParseMap(fields []string) (FieldMap, error) {
	var m FieldMap
	known := map[string]*string{"id": &m.ID, "time": &m.Time, "input": &m.Input, "system": &m.System, "tools": &m.Tools,
		"schema": &m.Schema, "answer": &m.Answer, "cluster": &m.Cluster}
	for _, f := range fields {
		name, path, ok := strings.Cut(f, "=")
		if !ok || path == "" {
			return m, step.WithHint(fmt.Errorf("field map: %q has no path", f), "write field=path, such as input=request.messages")
		}
		if label, ok := strings.CutPrefix(name, "label."); ok && label != "" {
			if m.Labels == nil {
				m.Labels = map[string]string{}
			}
			if m.Labels[label] != "" {
				return m, fmt.Errorf("field map: label %s is given twice", label)
			}
			m.Labels[label] = path
			continue
		}
		to := known[name]
		if to == nil {
			return m, step.WithHint(fmt.Errorf("field map: there is no field %q", name),
				"fields: id, time, input, system, tools, schema, answer, cluster, label.NAME")
		}
		if *to != "" {
			return m, fmt.Errorf("field map: %s is given twice", name)
		}
		*to = path
	}
	return m, nil
}

// splitPath returns the names of a path; nil for the empty one.
func splitPath(path string) []string {
	rest, pointer := strings.CutPrefix(path, "/")
	switch {
	case path == "":
		return nil
	case !pointer:
		return strings.Split(path, ".")
	}
	names := strings.Split(rest, "/")
	for i, n := range names {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(n, "~1", "/"), "~0", "~")
	}
	return names
}

// member is one name of an object with its value as it stands in the line.
type member struct {
	name  string
	value []byte
}

type object []member

// get returns the value of a name, nil when it is absent or null.
func (o object) get(name string) []byte {
	for _, m := range o {
		if m.name == name && m.value[0] != 'n' {
			return m.value
		}
	}
	return nil
}

// find follows a path through objects and lists, nil when there is nothing.
func (o object) find(path []string) []byte {
	if len(path) == 0 {
		return nil
	}
	v := o.get(path[0])
	for _, name := range path[1:] {
		if v == nil {
			return nil
		}
		v = child(v, name)
	}
	return v
}

func child(v []byte, name string) []byte {
	if v[0] == '{' {
		o, _ := parseObject(v)
		return o.get(name)
	}
	i, err := strconv.Atoi(name)
	if v[0] != '[' || err != nil || i < 0 {
		return nil
	}
	list, _ := parseList(v)
	if i >= len(list) || list[i][0] == 'n' {
		return nil
	}
	return list[i]
}

// parseObject cuts an object into its members and checks all of it. The values
// point into raw.
func parseObject(raw []byte) (object, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, classify(err, notObject)
	}
	out := make(object, 0, 8)
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, classify(err, notJSON)
		}
		name := tok.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, classify(err, notJSON)
		}
		hi := int(dec.InputOffset())
		out = append(out, member{name, raw[hi-len(v) : hi : hi]})
	}
	return out, end(dec)
}

// parseList cuts a list into its values.
func parseList(raw []byte) ([][]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, classify(err, notJSON)
	}
	var out [][]byte
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, classify(err, notJSON)
		}
		hi := int(dec.InputOffset())
		out = append(out, raw[hi-len(v):hi:hi])
	}
	return out, end(dec)
}

func end(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return classify(err, notJSON)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return notJSON
	}
	return nil
}

func classify(err error, otherwise reason) error {
	switch {
	case err == nil:
		return otherwise
	case errors.Is(err, jsontext.ErrDuplicateName):
		return twice
	}
	return notJSON
}

// text returns the string that a JSON value is.
func text(v []byte) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	out, err := jsontext.AppendUnquote(nil, v)
	return string(out), err == nil
}
