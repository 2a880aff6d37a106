package measure

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// notInKey lists the fields of the campaign that a generation or a cell does
// not have in its key, each with the reason. A field that is added to the
// campaign fails the test below until it is in the key or here.
var notInKey = map[string]string{
	"Quality.Suite":    "enters as an input, by content",
	"Quality.Scorers":  "scores are made later, from the answers",
	"Quality.Stratify": "labels alone change no request; with a limit it is in the key",
	"Quality.Failures": "in the key as record; retry is what leaving it out means",
	"Quality.Retries":  "a hint: cannot change an answer",
	"Quality.Timeout":  "a hint: cannot change an answer",

	"Capacity.Concurrency":    "one step per concurrency, whose own is in the key",
	"Capacity.Trials":         "one step per trial, which is in the key",
	"Capacity.SLO":            "asked of the result",
	"Capacity.Protocol":       "how times are read, in the key of the metrics",
	"OpenLoop.Protocol":       "how times are read, in the key of the metrics",
	"Ladder.Protocol":         "how times are read, in the key of the metrics",
	"PrefixBurst.Protocol":    "how times are read, in the key of the metrics",
	"Capacity.Order":          "when a cell is measured does not change it",
	"OpenLoop.Arrivals.Rates": "one step per rate, whose own is in the key",
	"OpenLoop.Arrivals.Trace": "enters as an input, by content",
	"OpenLoop.Trials":         "one step per trial, which is in the key",
	"OpenLoop.SLO":            "asked of the result",
	"OpenLoop.Order":          "when a cell is measured does not change it",
	"Search.Order":            "when a cell is measured does not change it",
	"Decode.Concurrency":      "one step per concurrency, whose own is in the key",
	"Decode.Trials":           "one step per trial, which is in the key",
	"Decode.Order":            "when a cell is measured does not change it",
	"Ladder.Tokens":           "one step per rung, whose own is in the key",
	"Ladder.Trials":           "one step per trial, which is in the key",
	"Ladder.Order":            "when a cell is measured does not change it",

	"EffectiveContext.Floor":       "asked of the result",
	"EffectiveContext.MaxDrop":     "asked of the result",
	"EffectiveContext.Concurrency": "the cell's own is in the key",
	"EffectiveContext.Order":       "when a cell is measured does not change it",
	"PrefixBurst.Clients":          "one step per number of clients, whose own is in the key",
	"PrefixBurst.Trials":           "one step per trial, which is in the key",
	"PrefixBurst.Order":            "when a cell is measured does not change it",
	"Replicas.Of":                  "a name; what stands under it is in the key",
	"Replicas.Order":               "when a cell is measured does not change it",
	"Bench.Order":                  "when a cell is measured does not change it",
	"Energy.Of":                    "a name; what stands under it is in the key",
	"Energy.Bases":                 "asked of the recording, in the key of the metrics",
	"Energy.Coarsest":              "asked of the recording, in the key of the metrics",
	"Energy.Processes":             "asked of the recording, in the key of the metrics",
	"Energy.StartBand":             "asked of the result",
	"Energy.Traces":                "inputs of the metrics, by content",
	"Energy.Calibration":           "declared beside the result, in the key of the metrics",
	"Energy.Order":                 "when a cell is measured does not change it",

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
	"Candidate.Hardware":     "in the pin, which is an input",
	"Candidate.Serve":        "how it is started; what runs then is observed",
	"Candidate.CoResident":   "in no step yet: serve hooks are refused",
	"Candidate.ServedName":   "part of the address; the observed one is in the pin",
}

func TestEveryFieldIsInTheKeyOrListed(t *testing.T) {
	var cand spec.Candidate
	quality := spec.Quality{Samples: 1, Repeats: 1, Concurrency: 1}
	generation := func() []byte { return plain(newGenerateParams(cand, quality)) }
	used := map[string]bool{}
	accountFor(t, used, "Quality", &quality, generation)

	capacity := spec.Capacity{Requests: 1}
	under := spec.Workload{Kind: "capacity", Capacity: &capacity}
	cell := func(w spec.Workload) func() []byte {
		return func() []byte {
			return plain(newCellParams(cand, w, map[string]spec.Workload{"": under, "x": under}, spec.Point{Cell: "x"}))
		}
	}
	load := cell(under)
	accountFor(t, used, "Capacity", &capacity, load)
	accountFor(t, used, "Capacity", &capacity, cell(spec.Workload{Kind: "replicas", Replicas: &spec.Replicas{}}))
	accountFor(t, used, "Candidate", &cand, generation) // each by itself: a field of one kind's key alone is missing in the other
	accountFor(t, used, "Candidate", &cand, load)
	for _, w := range []spec.Workload{
		{Kind: "open-loop", OpenLoop: &spec.OpenLoop{}}, {Kind: "search", Search: &spec.Search{}}, {Kind: "decode", Decode: &spec.Decode{}},
		{Kind: "ladder", Ladder: &spec.Ladder{}}, {Kind: "effective-context", EffectiveContext: &spec.EffectiveContext{}},
		{Kind: "prefix-burst", PrefixBurst: &spec.PrefixBurst{}}, {Kind: "replicas", Replicas: &spec.Replicas{}}, {Kind: "bench", Bench: &spec.Bench{}},
		{Kind: "energy", Energy: &spec.Energy{}},
	} {
		v := reflect.ValueOf(&w).Elem()
		for f := range reflect.TypeFor[spec.Workload]().Fields() {
			if part := v.FieldByIndex(f.Index); part.Kind() == reflect.Pointer && !part.IsNil() {
				account(t, used, part.Type().Elem().Name(), part.Elem(), cell(w))
			}
		}
	}
	for name := range notInKey {
		if !used[name] {
			t.Errorf("%s is listed and is no field", name)
		}
	}
}

// The keys of what was measured before stay what they are, whatever kinds come: else
// everything would be measured again. Those of derived metrics go with their revision.
func TestKeysStay(t *testing.T) {
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}},
		Measure: map[string]spec.Workload{
			"load": {Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{4}, Requests: 12, Warmup: 4, Trials: 1,
				Prompt: spec.CapacityPrompt{Tokens: 40, Cache: "unique", Calibrate: "nominal"}, Output: spec.CapacityOutput{Policy: "observe"}, Timeout: "5m"}},
			"asiai": {Kind: "bench", Bench: &spec.Bench{Runs: 3, Timeout: "5m"}},
		},
	}
	want := map[string]string{
		"measure/fp8/load/c=4-t1":  "1d68062af5aa",
		"measure/fp8/asiai/all-t1": "fcaebe827568",
		"score/fp8/load/metrics":   "18e066bcf8fd",
		"score/fp8/asiai/metrics":  "559f7ca72f05",
	}
	for _, s := range Steps(c) {
		s.Revision = 1 // which is raised on purpose
		pre, err := step.NewPreimage(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		key, err := pre.Key()
		if err != nil || key.Short() != want[s.Name] {
			t.Errorf("%s: key %s, was %s, %v", s.Name, key.Short(), want[s.Name], err)
		}
	}
	if got := (&cellParams{Workload: forCell(c.Measure["load"])}).salt(); got != "4cd82a18b4545fdc" {
		t.Errorf("its prompts are other ones: %s", got)
	}
}

func accountFor[T any](t *testing.T, used map[string]bool, name string, of *T, params func() []byte) {
	t.Helper()
	account(t, used, name, reflect.ValueOf(of).Elem(), params)
}

// account changes one field after the other, those of structs within included,
// and looks whether the parameters change.
func account(t *testing.T, used map[string]bool, name string, of reflect.Value, params func() []byte) {
	t.Helper()
	for i := range of.NumField() {
		field, path := of.Field(i), name+"."+of.Type().Field(i).Name
		if field.Kind() == reflect.Struct && path != "Quality.Suite" && name != "Candidate" {
			account(t, used, path, field, params)
			continue
		}
		was, before := reflect.New(field.Type()).Elem(), params()
		was.Set(field)
		field.Set(changed(t, field))
		inKey := !bytes.Equal(before, params())
		field.Set(was)
		reason, listed := notInKey[path]
		used[path] = true
		switch {
		case !inKey && !listed:
			t.Errorf("%s is neither in the key nor listed with a reason", path)
		case inKey && listed:
			t.Errorf("%s is in the key, and listed as not being there: %s", path, reason)
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
