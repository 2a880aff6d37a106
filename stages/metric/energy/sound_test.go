package energy

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// codes are the reasons that have a sentence.
var codes = func() map[string]bool {
	out := map[string]bool{}
	for _, r := range metric.Reasons {
		out[r.Code] = true
	}
	return out
}()

// sound holds a cell to what is true of all: no NaN, nothing negative, no energy of 0,
// and a reason for every null.
func sound(t testing.TB, c *Cell) {
	t.Helper()
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	values(reflect.ValueOf(c), "", func(path string, v metric.Value) {
		d, defined := definitionOf(path)
		switch {
		case !defined || v.Unit != d.Unit && d.Unit != unitMoney:
			t.Errorf("%s is in %q, defined as %q", path, v.Unit, d.Unit)
		case v.Value == nil && codes[v.Reason] && !slices.Contains(d.NullWhen, v.Reason):
			t.Errorf("%s is null for %s, which its definition does not list", path, v.Reason)
		case v.Value == nil && v.Reason == "":
			t.Errorf("%s is null without a reason", path)
		case v.Value == nil && !codes[v.Reason]:
			t.Errorf("%s is null for %q, which nobody explains", path, v.Reason)
		case v.Value != nil && *v.Value < 0 && v.Unit != unitC:
			t.Errorf("%s is %v", path, *v.Value)
		case v.Value != nil && *v.Value > 1 && v.Unit == unitShare:
			t.Errorf("%s is %v of the whole", path, *v.Value)
		case v.Value != nil && *v.Value == 0 && (v.Unit == unitJ || v.Unit == unitW || v.Unit == unitTok || v.Unit == unitReq):
			t.Errorf("%s is 0", path)
		}
	})
	if p := c.Plot; p != nil {
		for i := range p.T {
			if i > 0 && p.T[i] <= p.T[i-1] || p.W[i] < 0 {
				t.Errorf("point %d of the plot: %v s, %v W", i, p.T[i], p.W[i])
			}
		}
	}
}

// values visits every metric.Value below v.
func values(v reflect.Value, path string, visit func(string, metric.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			values(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			values(v.Index(i), path, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			values(v.MapIndex(k), path+"."+k.String(), visit)
		}
	case reflect.Struct:
		if m, is := v.Interface().(metric.Value); is {
			visit(path, m)
			return
		}
		for f, x := range v.Fields() {
			values(x, path+"."+f.Name, visit)
		}
	}
}
