package energy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// idsOf are the ids of a struct's values.
func idsOf(t reflect.Type, before, after string) (ids []string) {
	for f := range t.Fields() {
		if f.Type == reflect.TypeFor[metric.Value]() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			ids = append(ids, before+name+after)
		}
	}
	return ids
}

// Every number of energy is in the dictionary, and every one of those is there.
func TestDictionary(t *testing.T) {
	have := map[string]bool{}
	for _, id := range idsOf(reflect.TypeFor[Measured](), "energy_", "{base,window}") {
		have[id] = true
	}
	for _, of := range []struct {
		t     reflect.Type
		after string
	}{{reflect.TypeFor[Of](), "{base}"}, {reflect.TypeFor[Cell](), ""}, {reflect.TypeFor[Asiai](), "{base}"}} {
		for _, id := range idsOf(of.t, "", of.after) {
			have[id] = true
		}
	}
	for _, m := range []string{"power_watts", "tok_per_sec_per_watt", "power_quantisation_pct"} { // of the GPUs, whatever the base
		delete(have, m+"{base}")
		have[m] = true
	}
	for id := range have {
		if d, ok := metric.Lookup(id); !ok || d.Scope != "energy" {
			t.Errorf("%s has no definition", id)
		}
	}
	for _, d := range metric.Dictionary {
		if d.Scope == "energy" && !have[d.ID] {
			t.Errorf("%s is defined, and no cell has it", d.ID)
		}
	}
}

// definitionOf is that of the value at a path of sound's.
func definitionOf(path string) (metric.Definition, bool) {
	name := path[strings.LastIndex(path, ".")+1:]
	for _, of := range []struct {
		t             reflect.Type
		before, after string
	}{
		{reflect.TypeFor[Measured](), "energy_", "{base,window}"}, {reflect.TypeFor[Of](), "", "{base}"},
		{reflect.TypeFor[Cell](), "", ""}, {reflect.TypeFor[Asiai](), "", "{base}"}, {reflect.TypeFor[Asiai](), "", ""},
	} {
		f, there := of.t.FieldByName(name)
		if !there || f.Type != reflect.TypeFor[metric.Value]() {
			continue
		}
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if d, ok := metric.Lookup(of.before + tag + of.after); ok {
			return d, true
		}
	}
	return metric.Definition{}, false
}
