package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes a workload flat, as in a campaign file: kind and the
// fields of that kind.
func (w Workload) MarshalJSON() ([]byte, error) {
	switch {
	case w.Kind == "quality" && w.Quality != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*Quality
		}{w.Kind, w.Quality})
	case w.Kind == "noise-floor" && w.NoiseFloor != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*NoiseFloor
		}{w.Kind, w.NoiseFloor})
	case w.Kind == "capacity" && w.Capacity != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*Capacity
		}{w.Kind, w.Capacity})
	case w.Kind == "decode" && w.Decode != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*Decode
		}{w.Kind, w.Decode})
	case w.Kind == "ladder" && w.Ladder != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*Ladder
		}{w.Kind, w.Ladder})
	case w.Kind == "energy" && w.Energy != nil:
		return json.Marshal(struct {
			Kind string `json:"kind"`
			*Energy
		}{w.Kind, w.Energy})
	}
	return nil, fmt.Errorf("workload of kind %q has no fields of that kind", w.Kind)
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
	var fields any
	switch head.Kind {
	case "quality":
		out.Quality = new(Quality)
		fields = out.Quality
	case "noise-floor":
		out.NoiseFloor = new(NoiseFloor)
		fields = out.NoiseFloor
	case "capacity":
		out.Capacity = new(Capacity)
		fields = out.Capacity
	case "decode":
		out.Decode = new(Decode)
		fields = out.Decode
	case "ladder":
		out.Ladder = new(Ladder)
		fields = out.Ladder
	case "energy":
		out.Energy = new(Energy)
		fields = out.Energy
	default:
		return fmt.Errorf("unknown workload kind %q", clip(head.Kind))
	}
	if err := json.Unmarshal(b, fields); err != nil {
		return err
	}
	*w = out
	return nil
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
