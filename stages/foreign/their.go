package foreign

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// letters are the values that inspect writes in place of numbers, and the words
// that it accepts for them.
var letters = map[string]float64{"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}

// theirs turns a tool's score into numbers: one, or one for each name of an
// object. What is no finite number keeps its place with a reason.
func theirs(name string, v jsontext.Value) []Their {
	switch v.Kind() {
	case '0':
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.IsInf(f, 0) {
			return []Their{{Name: name, Reason: "out of range"}}
		}
		return []Their{{Name: name, Value: &f}}
	case 't', 'f':
		f := 0.0
		if v.Kind() == 't' {
			f = 1
		}
		return []Their{{Name: name, Value: &f}}
	case '"':
		return []Their{letter(name, text(v))}
	case '{':
		return object(name, v)
	case 'n':
		return []Their{{Name: name, Reason: "not a number (null or NaN)"}}
	}
	return []Their{{Name: name, Reason: "not a number"}}
}

func letter(name, s string) Their {
	if f, ok := letters[s]; ok {
		return Their{Name: name, Value: &f}
	}
	if f, ok := letters[strings.ToLower(s)]; ok {
		return Their{Name: name, Value: &f}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return Their{Name: name, Value: &f}
	}
	return Their{Name: name, Reason: "not a number"}
}

// object reads a score of several parts; a part that has parts is not a number.
func object(name string, v jsontext.Value) []Their {
	var parts map[string]jsontext.Value
	if _, err := decode(v, &parts); err != nil || len(parts) > 64 {
		return []Their{{Name: name, Reason: "not a number"}}
	}
	var out []Their
	for _, part := range sortedKeys(parts) {
		if k := parts[part].Kind(); k == '{' || k == '[' {
			out = append(out, Their{Name: name + "." + part, Reason: "not a number"})
			continue
		}
		out = append(out, theirs(name+"."+part, parts[part])...)
	}
	return out
}
