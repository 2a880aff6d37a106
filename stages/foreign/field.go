package foreign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// field returns the value at a path such as doc.id, nil when there is none.
func field(v jsontext.Value, path string) (jsontext.Value, error) {
	for _, name := range strings.Split(path, ".") {
		if v.Kind() != '{' {
			return nil, nil
		}
		var obj map[string]jsontext.Value
		if _, err := decode(v, &obj); err != nil {
			return nil, err
		}
		v = obj[name]
		if v == nil {
			return nil, nil
		}
	}
	return v, nil
}

// idAt reads the id at a path of a row.
func idAt(row []byte, path string) (string, error) {
	v, err := field(row, path)
	if err != nil {
		return "", err
	}
	if v == nil {
		return "", step.WithHint(fmt.Errorf("the row has no %s", path), "name the field that holds the item's id with --id")
	}
	id, err := idText(v)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return id, nil
}

const maxID = 512 // bytes, as items allow

// idText turns a JSON string or whole number into an id.
func idText(v jsontext.Value) (string, error) {
	id := string(v)
	switch v.Kind() {
	case '"':
		id = text(v)
	case '0':
		if _, err := strconv.ParseInt(id, 10, 64); err != nil {
			return "", fmt.Errorf("%.40s is not a whole number", id)
		}
	default:
		return "", fmt.Errorf("%.40s is neither a string nor a number", id)
	}
	switch {
	case id == "":
		return "", errors.New("the id is empty")
	case len(id) > maxID:
		return "", fmt.Errorf("the id has %d bytes, at most %d are allowed", len(id), maxID)
	}
	return id, nil
}

// text returns a JSON string's text, "" for any other value.
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(b)
}

// isNull reports whether a value is absent or null.
func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// compact is a value's JSON without white space.
func compact(v jsontext.Value) string {
	c := v.Clone()
	if c.Compact(jsontext.AllowInvalidUTF8(true)) != nil {
		return string(v)
	}
	return string(c)
}
