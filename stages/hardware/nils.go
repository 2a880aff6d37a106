package hardware

import (
	"reflect"
	"strings"
)

// nils lists the fields of a struct that are null, by their names in JSON; those
// of structs inside it stand behind its name and a dot.
func nils(v reflect.Value, prefix string, out []string) []string {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case name == "unknown" || name == "made":
		case f.Kind() == reflect.Struct:
			out = nils(f, prefix+name+".", out)
		case (f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice) && f.IsNil():
			out = append(out, prefix+name)
		}
	}
	return out
}

// settle gives every null of *v a reason, and takes back the reasons of values
// that are there after all.
func settle(v any, u *Unknown) {
	missing := map[string]bool{}
	for _, name := range nils(reflect.ValueOf(v).Elem(), "", nil) {
		missing[name] = true
		if _, ok := (*u)[name]; ok {
			continue
		}
		if *u == nil {
			*u = Unknown{}
		}
		(*u)[name] = Reason{Code: NotSaid}
	}
	for name := range *u {
		if !missing[name] {
			delete(*u, name)
		}
	}
}

// Settle gives every null in the report a reason: not-said where there is none.
func (r *Report) Settle() {
	settle(r, &r.Unknown)
	for i := range r.GPUs {
		g := &r.GPUs[i]
		settle(g, &g.Unknown)
		for k := range g.Instances {
			settle(&g.Instances[k], &g.Instances[k].Unknown)
		}
		for k := range g.Processes {
			settle(&g.Processes[k], &g.Processes[k].Unknown)
		}
	}
}
