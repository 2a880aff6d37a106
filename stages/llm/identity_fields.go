package llm

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fields is a JSON object of an engine's page, read leniently: what has another
// type than it should have is as good as not there.
type fields map[string]jsontext.Value

// object returns the fields of an object; none = it is something else.
func object(v []byte) fields {
	var f fields
	if json.Unmarshal(v, &f) != nil {
		return nil
	}
	return f
}

func (f fields) object(name string) fields { return object(f[name]) }

// text is a string, fit for an identity; "None" is Python's word for nothing.
func (f fields) text(name string) string {
	if s := plain(text(f[name])); s != "None" {
		return s
	}
	return ""
}

// length is a whole number above 0; 0 = it is something else.
func (f fields) length(name string) int { return length(f[name]) }

// onOff is a boolean as on or off, "" = it is something else.
func (f fields) onOff(name string) string {
	switch string(f[name]) {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return ""
}

// isNull reports whether the field is there and null.
func (f fields) isNull(name string) bool { return f[name].Kind() == 'n' }

// pick returns those of the named fields that have a plain value.
func (f fields) pick(names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if s := scalar(f[name]); s != "" {
			out[name] = s
		}
	}
	return out
}

// scalar writes a string, a number, a boolean, or a list of these as text; "" =
// it is none of them. A number that is a float32 is written as one: engines keep
// 0.05 in one and print 0.05000000074505806. Of a path the last part is left.
func scalar(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return pathless(plain(text(v)))
	case 't', 'f':
		return string(v)
	case '0':
		return number(string(v))
	case '[':
		return list(v)
	}
	return ""
}

func number(s string) string {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return s
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return ""
	}
	if float64(float32(x)) == x {
		return strconv.FormatFloat(x, 'g', -1, 32)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// list joins the elements of a list; one that is no scalar makes it none.
func list(v jsontext.Value) string {
	const most = 64
	var all []jsontext.Value
	if json.Unmarshal(v, &all) != nil || len(all) > most {
		return ""
	}
	parts := make([]string, len(all))
	for i, e := range all {
		if e.Kind() == '[' {
			return ""
		}
		if parts[i] = scalar(e); parts[i] == "" && e.Kind() != '"' {
			return ""
		}
	}
	return plain(strings.Join(parts, ","))
}
