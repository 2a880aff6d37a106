package measure

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

// notInKey lists the fields of the campaign that a generation or a cell does
// not have in its key, each with the reason. A field that is added to the
// campaign fails the test below until it is in the key or here.
var notInKey = map[string]string{
	"Quality.Suite":          "enters as an input, by content",
	"Quality.Scorers":        "scores are made later, from the answers",
	"Quality.Stratify":       "labels alone change no request; with a limit it is in the key",
	"Quality.Failures":       "in the key as record; retry is what leaving it out means",
	"Quality.Retries":        "a hint: cannot change an answer",
	"Quality.Timeout":        "a hint: cannot change an answer",
	"Capacity.Concurrency":   "one step per concurrency, whose own is in the key",
	"Capacity.Trials":        "one step per trial, which is in the key",
	"Candidate.Role":         "the part a configuration plays does not change it",
	"Candidate.Model":        "in the pin, which is an input",
	"Candidate.Tokenizer":    "in the pin, which is an input",
	"Candidate.ChatTemplate": "in the pin, which is an input",
	"Candidate.Engine":       "in the pin, which is an input",
	"Candidate.Quantization": "in the pin, which is an input",
	"Candidate.Parallelism":  "in the pin, which is an input",
	"Candidate.Context":      "in the pin, which is an input",
	"Candidate.Speculative":  "in the pin, which is an input",
	"Candidate.Cache":        "in the pin, which is an input",
	"Candidate.Admission":    "in the pin, which is an input",
	"Candidate.Serve":        "how it is started; what runs then is observed",
	"Candidate.CoResident":   "in no step yet: serve hooks are refused",
	"Candidate.ServedName":   "part of the address; the observed one is in the pin",
}

func TestEveryFieldIsInTheKeyOrListed(t *testing.T) {
	quality := spec.Quality{Samples: 1, Repeats: 1, Concurrency: 1}
	capacity := spec.Capacity{Requests: 1}
	var cand spec.Candidate
	accountFor(t, "Quality", &quality, func() []byte { return plain(newGenerateParams(cand, quality)) })
	accountFor(t, "Capacity", &capacity, func() []byte { return plain(newCellParams(cand, capacity, 1)) })
	accountFor(t, "Candidate", &cand, func() []byte {
		return append(plain(newGenerateParams(cand, quality)), plain(newCellParams(cand, capacity, 1))...)
	})
}

// accountFor changes one field after the other and looks whether the
// parameters change.
func accountFor[T any](t *testing.T, name string, of *T, params func() []byte) {
	t.Helper()
	was, before := *of, params()
	for f := range reflect.TypeFor[T]().Fields() {
		field := reflect.ValueOf(of).Elem().FieldByIndex(f.Index)
		field.Set(changed(t, field))
		inKey := !bytes.Equal(before, params())
		*of = was
		reason, listed := notInKey[name+"."+f.Name]
		switch {
		case !inKey && !listed:
			t.Errorf("%s.%s is neither in the key nor listed with a reason", name, f.Name)
		case inKey && listed:
			t.Errorf("%s.%s is in the key, and listed as not being there: %s", name, f.Name, reason)
		}
	}
}

// changed returns a value of v's type that differs from v.
func changed(t *testing.T, v reflect.Value) reflect.Value {
	t.Helper()
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		out.SetInt(v.Int() + 1)
	case reflect.Float64:
		out.SetFloat(v.Float() + 1)
	case reflect.Bool:
		out.SetBool(!v.Bool())
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(changed(t, out.Elem()))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		out.Set(reflect.MakeMap(v.Type()))
		out.SetMapIndex(changed(t, reflect.New(v.Type().Key()).Elem()), reflect.New(v.Type().Elem()).Elem())
	case reflect.Struct:
		out.Field(0).Set(changed(t, out.Field(0)))
	default:
		t.Fatalf("no change for %s", v.Type())
	}
	return out
}
