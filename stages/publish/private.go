package publish

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// privates are what tells where something ran or who ran it: it is blanked out of
// a record. Loopback addresses stay, since everybody has them.
var privates = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`\b(?:10(?:\.\d{1,3}){3}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|192\.168(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})\b`), "[private address]"},
	{regexp.MustCompile(`(?i)\[?\b(?:f[cd][0-9a-f]{2}|fe80)(?::[0-9a-f]{0,4}){2,7}\]?`), "[private address]"},
	{regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)+(?:ts\.net|internal|local|lan)\b`), "[private host]"},
	{regexp.MustCompile(`(/(?:home|Users)/)[^/\s"'\\:<>\[\]]+`), "${1}[user]"},
	{regexp.MustCompile(`(?i)([A-Z]:\\{1,2}Users\\{1,2})[^\\\s"'<>\[\]]+`), "${1}[user]"},
}

func blanked(s string) string {
	for _, p := range privates {
		s = p.pattern.ReplaceAllString(s, p.to)
	}
	return s
}

// blank blanks every text of a record but its pins, where four numbers with dots
// between them are a version. What observes an endpoint leaves addresses out.
func blank(rec *evidence.Record) { blankValue(reflect.ValueOf(rec).Elem()) }

var pinned = reflect.TypeFor[evidence.PinDoc]()

func blankValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); v.CanSet() {
			v.SetString(blanked(s))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem() != pinned {
			blankValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				blankValue(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			blankValue(v.Index(i))
		}
	case reflect.Map:
		blankMap(v)
	}
}

// blankMap copies each value, because those of a map cannot be changed in place.
// Keys are names of the campaign, and stay.
func blankMap(m reflect.Value) {
	iter := m.MapRange()
	for iter.Next() {
		one := reflect.New(iter.Value().Type()).Elem()
		one.Set(iter.Value())
		blankValue(one)
		m.SetMapIndex(iter.Key(), one)
	}
}

// evident are private texts that are taken for nothing else, wherever they stand.
var evident = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a private address", regexp.MustCompile(`://(?:[^\s/"@]*@)?(?:10(?:\.\d{1,3}){3}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|192\.168(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})\b`)},
	{"a home folder", regexp.MustCompile(`/(?:home|Users)/[^/\s"'\\:<>\[\]]+/`)},
}

// privateIn says what private thing a document holds, "" for none: what is
// evidently private, and what the campaign's own rules forbid.
func privateIn(text []byte, own []*regexp.Regexp) string {
	for _, e := range evident {
		if e.pattern.Match(text) {
			return e.what
		}
	}
	for _, r := range own {
		if r.Match(text) {
			return fmt.Sprintf("what publish.redact forbids (%.60q)", r)
		}
	}
	return ""
}

// rulesOf are the patterns of a canonical campaign.
func rulesOf(canonical []byte) (out []*regexp.Regexp, err error) {
	var c struct {
		Publish struct {
			Redact []string `json:"redact"`
		} `json:"publish"`
	}
	if err := json.Unmarshal(canonical, &c); err != nil {
		return nil, err
	}
	for _, p := range c.Publish.Redact {
		r, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("publish.redact: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}
