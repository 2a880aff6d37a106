package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient takes what other tools write: lone surrogates become U+FFFD. Names
// that stand twice stay an error.
var lenient = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true))

// decode reads one JSON value. Python writes NaN and Infinity into JSON; they
// are read as null, and plain is false.
func decode(b []byte, v any) (plain bool, err error) {
	err = jsonv2.Unmarshal(b, v, lenient)
	if err == nil {
		return true, nil
	}
	if fixed, n := withoutNaN(b); n > 0 {
		return false, wording(jsonv2.Unmarshal(fixed, v, lenient))
	}
	return true, wording(err)
}

// wording turns a decoder's error into a sentence about the row.
func wording(err error) error {
	var sem *jsonv2.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("a name stands twice in one object")
	case errors.As(err, &syn):
		return fmt.Errorf("not valid JSON at character %d: %s", syn.ByteOffset+1, strings.TrimPrefix(syn.Err.Error(), "jsontext: "))
	case errors.As(err, &sem):
		return fmt.Errorf("%s: a JSON %s is not what stands there in this format", sem.JSONPointer, sem.JSONKind)
	}
	return err
}

// withoutNaN replaces bare NaN, Infinity and -Infinity by null and counts them.
func withoutNaN(b []byte) ([]byte, int) {
	var out []byte
	n, from := 0, 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i = stringEnd(b, i)
		case c == 'N' || c == 'I' || c == '-':
			width := bare(b[i:])
			if width == 0 {
				i++
				continue
			}
			out = append(append(out, b[from:i]...), "null"...)
			i += width
			from = i
			n++
		default:
			i++
		}
	}
	return append(out, b[from:]...), n
}

func bare(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// stringEnd returns the place behind the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
