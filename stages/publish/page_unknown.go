package publish

import (
	"slices"
	"strings"
)

// unknownView is one reason with the fields that it holds for.
type unknownView struct {
	Reason string
	Fields []unknownFields
}

// unknownFields are fields of one candidate, of every candidate, or of the
// record (Of is "").
type unknownFields struct {
	Of    string
	Names []string
}

// unknown groups the record's unknown fields by reason; a pin that is known of
// no candidate is listed once.
func (m pageMaker) unknown() []unknownView {
	var out []unknownView
	for _, u := range m.rec.Unknown {
		i := slices.IndexFunc(out, func(v unknownView) bool { return v.Reason == u.Reason })
		if i < 0 {
			i, out = len(out), append(out, unknownView{Reason: u.Reason})
		}
		of, name := m.owner(u.Field)
		out[i].add(of, name)
	}
	for i := range out {
		out[i].join(m.names)
	}
	return out
}

// owner splits candidates.<name>.<field>.
func (m pageMaker) owner(field string) (candidate, rest string) {
	for _, name := range m.names {
		if rest, ok := strings.CutPrefix(field, "candidates."+name+"."); ok {
			return name, rest
		}
	}
	return "", field
}

func (v *unknownView) add(of, name string) {
	i := slices.IndexFunc(v.Fields, func(f unknownFields) bool { return f.Of == of })
	if i < 0 {
		i, v.Fields = len(v.Fields), append(v.Fields, unknownFields{Of: of})
	}
	v.Fields[i].Names = append(v.Fields[i].Names, name)
}

// join moves the fields that every candidate lacks to one entry.
func (v *unknownView) join(candidates []string) {
	if len(candidates) < 2 {
		return
	}
	lacking := map[string]int{}
	for _, f := range v.Fields {
		for _, name := range f.Names {
			if f.Of != "" {
				lacking[name]++
			}
		}
	}
	every := unknownFields{Of: "every candidate"}
	var rest []unknownFields
	for _, f := range v.Fields {
		own := unknownFields{Of: f.Of}
		for _, name := range f.Names {
			switch {
			case f.Of == "" || lacking[name] < len(candidates):
				own.Names = append(own.Names, name)
			case !slices.Contains(every.Names, name):
				every.Names = append(every.Names, name)
			}
		}
		if len(own.Names) > 0 {
			rest = append(rest, own)
		}
	}
	v.Fields = rest
	if len(every.Names) > 0 {
		v.Fields = append([]unknownFields{every}, rest...)
	}
}
