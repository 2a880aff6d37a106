package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// MarshalJSON writes a workload flat, as in a campaign file: kind and the
// fields of that kind.
func (w Workload) MarshalJSON() ([]byte, error) {
	at, ok := w.part()
	if !ok || at.IsNil() {
		return nil, fmt.Errorf("workload of kind %q has no fields of that kind", w.Kind)
	}
	fields, err := json.Marshal(at.Interface())
	if err != nil {
		return nil, err
	}
	kind, err := json.Marshal(w.Kind)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"kind":`), kind...)
	if len(fields) > len("{}") {
		out = append(out, ',')
	}
	return append(out, fields[1:]...), nil
}

// UnmarshalJSON reads the flat form.
func (w *Workload) UnmarshalJSON(b []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	out := Workload{Kind: head.Kind}
	at, ok := out.part()
	if !ok {
		return fmt.Errorf("unknown workload kind %q", clip(head.Kind))
	}
	at.Set(reflect.New(at.Type().Elem()))
	if err := json.Unmarshal(b, at.Interface()); err != nil {
		return err
	}
	*w = out
	return nil
}

// part is the field of w that its kind names.
func (w *Workload) part() (reflect.Value, bool) {
	v := reflect.ValueOf(w).Elem()
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name == w.Kind && v.Field(i).Kind() == reflect.Pointer {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// UnmarshalJSON reads the canonical form, and the "none" of a campaign file.
func (s *Speculative) UnmarshalJSON(b []byte) error {
	if text, ok := jsonText(b); ok {
		*s = Speculative{Method: text}
		return nil
	}
	type fields Speculative
	return json.Unmarshal(b, (*fields)(s))
}

// UnmarshalJSON reads the canonical form {"sha256"}, and the path of a campaign
// file, whose digest is not known yet.
func (f *File) UnmarshalJSON(b []byte) error {
	if text, ok := jsonText(b); ok {
		*f = File{Name: text}
		return nil
	}
	type fields File
	return json.Unmarshal(b, (*fields)(f))
}

// UnmarshalJSON reads the canonical form, and the path of a campaign file,
// which stands in Items.Name until the suite is opened.
func (s *Suite) UnmarshalJSON(b []byte) error {
	if text, ok := jsonText(b); ok {
		*s = Suite{Items: File{Name: text}}
		return nil
	}
	type fields Suite
	return json.Unmarshal(b, (*fields)(s))
}

func jsonText(b []byte) (string, bool) {
	var s string
	if !bytes.HasPrefix(b, []byte(`"`)) || json.Unmarshal(b, &s) != nil {
		return "", false
	}
	return s, true
}
