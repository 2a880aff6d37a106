package score

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/cupel-dev/cupel/stages/items"
)

var compatNumeric = define("compat/numeric", 1,
	`the first number after every comma is removed, compared as float64 within the item's tol (default 1e-6)`,
	noParams{}, buildCompatNumeric)

var pythonNumber = regexp.MustCompile(`-?\p{Nd}+(?:\.\p{Nd}+)?`)

func buildCompatNumeric(_ noParams, it *items.Item, _ *env) (Func, error) {
	want, err := float("answer", it.Answer)
	if err != nil {
		return nil, err
	}
	tol := 1e-6
	if it.Tol != nil {
		if tol, err = float("tol", it.Tol); err != nil {
			return nil, err
		}
	}
	return func(out Output) (float64, string, error) {
		m := pythonNumber.FindString(strings.ReplaceAll(out.Text, ",", ""))
		if m == "" {
			return 0, "no number", nil
		}
		// Out of range is an infinity in Python too, and compares as one.
		got, _ := strconv.ParseFloat(strings.Map(toASCIIDigit, m), 64)
		return boolean(math.Abs(got-want) <= tol), clip(m), nil
	}, nil
}

func float(field string, v json.RawMessage) (float64, error) {
	var f float64
	if v == nil || json.Unmarshal(v, &f) != nil || string(v) == "null" {
		return 0, fmt.Errorf("%q is %s, want a number", field, clip(string(v)))
	}
	return f, nil
}

// toASCIIDigit maps a decimal digit of any script to 0-9: they come in runs of
// ten that begin at zero.
func toASCIIDigit(r rune) rune {
	if r < 0x80 || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, rg := range unicode.Nd.R16 {
		if rune(rg.Lo) <= r && r <= rune(rg.Hi) {
			return '0' + (r-rune(rg.Lo))%10
		}
	}
	for _, rg := range unicode.Nd.R32 {
		if rune(rg.Lo) <= r && r <= rune(rg.Hi) {
			return '0' + (r-rune(rg.Lo))%10
		}
	}
	return r
}
