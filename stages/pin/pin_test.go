package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

var (
	hexA = strings.Repeat("a", 64)
	hexB = strings.Repeat("b", 64)
)

func candidate() spec.Candidate {
	return spec.Candidate{
		Role:         "baseline",
		Model:        spec.Model{Repo: "org/name", SHA256: hexA},
		Tokenizer:    &spec.Tokenizer{SHA256: hexB},
		ChatTemplate: &spec.SHA256{SHA256: hexA},
		Engine:       spec.Engine{Name: "llama.cpp", Version: "0.17.4", Flags: []string{"-np", "4"}},
		Quantization: &spec.Quantization{Weights: "q4_k_m"},
		Parallelism:  &spec.Parallelism{Tensor: 1, Pipeline: 1, Data: 1},
		Context:      &spec.Context{Served: 1024},
		Speculative:  &spec.Speculative{Method: "ngram", Tokens: 3, Draft: &spec.Revision{Repo: "d", Revision: "r"}},
		Cache:        &spec.Cache{Prefix: "on"},
		Admission:    &spec.Admission{MaxSeqs: 64},
		Reasoning:    &spec.Reasoning{Control: "none"},
		Serve:        &spec.Serve{Start: []string{"x"}}, CoResident: true, ServedName: "tiny",
	}
}

func identity() llm.Identity {
	return llm.Identity{API: llm.Ollama, Served: "tiny", EngineName: "LlamaCpp", EngineVersion: "v0.17.4", ModelDigest: hexB, WeightsDigest: hexA,
		Quantization: "Q4KM", ContextLength: 1024, TemplateSHA256: hexA, TokenizerSHA256: hexB,
		Parameters: map[string]string{"stop": "x"}, Listed: []string{"tiny", "other"}}
}

func run(t *testing.T, c spec.Candidate, ep *pintest.Endpoint) (*pintest.Job, error) {
	t.Helper()
	s := Steps(&spec.Campaign{Candidates: map[string]spec.Candidate{"fp8": c}})[0]
	job := &pintest.Job{S: s}
	r := Runner{
		Dial:       func(string) (Identifier, error) { return ep, nil },
		ServedName: func(string) string { return c.ServedName },
	}
	return job, r.Run(t.Context(), job)
}

func TestSteps(t *testing.T) {
	a, b := candidate(), candidate()
	b.Role, b.Serve, b.CoResident, b.ServedName = "candidate", nil, false, "other"
	steps := Steps(&spec.Campaign{Candidates: map[string]spec.Candidate{"b": b, "a": a}})
	if len(steps) != 2 || steps[0].Name != "pin/a" || steps[1].Where != "b" || !steps[0].Observes || steps[0].Pure {
		t.Fatalf("%+v", steps)
	}
	// Names tell two endpoints apart that declare the same; nothing else that does
	// not identify a configuration is in the key.
	if bytes.Equal(steps[0].Params, steps[1].Params) {
		t.Error("one that cannot be reached would stand on what the other said")
	}
	if !bytes.Equal(steps[0].Params, bytes.Replace(steps[1].Params, []byte(`"of":"b"`), []byte(`"of":"a"`), 1)) {
		t.Errorf("what does not identify a configuration is in the key:\n%s\n%s", steps[0].Params, steps[1].Params)
	}
}

func TestEqualPin(t *testing.T) {
	job, err := run(t, candidate(), &pintest.Endpoint{ID: identity(), Probed: llm.TokenProbe{Tokens: 60, Twice: 115, By: "usage"}})
	if err != nil {
		t.Fatal(err)
	}
	var doc evidence.PinDoc
	if err := json.Unmarshal(job.Output(evidence.OutPin), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range doc.Fields {
		got[f.Name] = f.State
	}
	want := map[string]string{
		"model.repo": declaredOnly, "model.revision": unknown, "model.digest": equal, "tokenizer.revision": unknown,
		"tokenizer.sha256": equal, "tokenizer.probe": observedOnly, "chatTemplate.sha256": equal, "engine.name": equal, "engine.version": equal,
		"engine.image": unknown, "engine.flags": declaredOnly, "quantization.weights": equal, "quantization.kv": unknown,
		"parallelism": declaredOnly, "context.served": equal, "speculative": declaredOnly, "cache.prefix": declaredOnly,
		"admission.maxSeqs": declaredOnly, "parameters": observedOnly, "reasoning.control": declaredOnly, "served": observedOnly,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if doc.Declared.Role != "" || doc.Declared.Serve != nil {
		t.Errorf("declared: %+v", doc.Declared)
	}
}

// TestSameIdentitySameBytes: what is listed besides, and under which order, is
// not identity.
func TestSameIdentitySameBytes(t *testing.T) {
	other := identity()
	other.Listed = nil
	a, err1 := run(t, candidate(), &pintest.Endpoint{ID: identity()})
	b, err2 := run(t, candidate(), &pintest.Endpoint{ID: other})
	if err1 != nil || err2 != nil || !bytes.Equal(a.Output(evidence.OutPin), b.Output(evidence.OutPin)) {
		t.Errorf("%v %v\n%s\n%s", err1, err2, a.Output(evidence.OutPin), b.Output(evidence.OutPin))
	}
	out := a.Output(evidence.OutPin)
	if canon, err := step.Canonical(out); err != nil || !bytes.Equal(canon, out) {
		t.Errorf("not canonical: %s", out)
	}
}

func TestEmptyPinIsUnknown(t *testing.T) {
	for _, f := range compare(spec.Candidate{Cache: &spec.Cache{Prefix: "unknown"}}, llm.Identity{}, llm.TokenProbe{}) {
		if f.State != unknown {
			t.Errorf("%+v", f)
		}
	}
}

func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*spec.Candidate, *llm.Identity)
		want   string // "" = no difference
	}{
		"manifest digest":   {func(c *spec.Candidate, _ *llm.Identity) { c.Model.SHA256 = hexB }, ""},
		"another digest":    {func(c *spec.Candidate, _ *llm.Identity) { c.Model.SHA256 = strings.Repeat("c", 64) }, "model.digest: declared " + strings.Repeat("c", 64) + ", observed " + hexB},
		"weights digest":    {func(c *spec.Candidate, id *llm.Identity) { c.Model.SHA256, id.ModelDigest = hexB, "" }, "model.digest"},
		"no digest said":    {func(_ *spec.Candidate, id *llm.Identity) { id.ModelDigest, id.WeightsDigest = "", "" }, ""},
		"engine":            {func(_ *spec.Candidate, id *llm.Identity) { id.EngineName = "vllm" }, "engine.name: declared llama.cpp, observed vllm"},
		"version":           {func(_ *spec.Candidate, id *llm.Identity) { id.EngineVersion = "0.17.40" }, "engine.version"},
		"template":          {func(_ *spec.Candidate, id *llm.Identity) { id.TemplateSHA256 = hexB }, "chatTemplate.sha256"},
		"tokenizer":         {func(_ *spec.Candidate, id *llm.Identity) { id.TokenizerSHA256 = hexA }, "tokenizer.sha256"},
		"quantization":      {func(_ *spec.Candidate, id *llm.Identity) { id.Quantization = "Q4_K_S" }, "quantization.weights"},
		"context":           {func(_ *spec.Candidate, id *llm.Identity) { id.ContextLength = 4096 }, "context.served: declared 1024, observed 4096"},
		"served name":       {func(c *spec.Candidate, _ *llm.Identity) { c.ServedName = "tiny2" }, "served: declared tiny2, observed tiny"},
		"no served name":    {func(c *spec.Candidate, _ *llm.Identity) { c.ServedName = "" }, ""},
		"nothing declared":  {func(c *spec.Candidate, _ *llm.Identity) { *c = spec.Candidate{} }, ""},
		"nothing observed":  {func(_ *spec.Candidate, id *llm.Identity) { *id = llm.Identity{Served: "tiny"} }, ""},
		"punctuation, case": {func(_ *spec.Candidate, id *llm.Identity) { id.Quantization = "q4-K.m" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cand, id := candidate(), identity()
			c.change(&cand, &id)
			job, err := run(t, cand, &pintest.Endpoint{ID: id})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, step.ErrOutside) || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(err.Error(), "candidates.fp8") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if job.Output(evidence.OutPin) != nil || job.Refused() != "" {
				t.Error("a mismatch left an output")
			}
		})
	}
}

func TestUnreachableIsPassedOn(t *testing.T) {
	_, err := run(t, candidate(), &pintest.Endpoint{IDErr: fmt.Errorf("dial: %w", step.ErrUnreachable)})
	if !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
	job := &pintest.Job{S: step.Step{Where: "x", Params: json.RawMessage(`{}`)}}
	r := Runner{Dial: func(c string) (Identifier, error) {
		return nil, fmt.Errorf("no binding for %s: %w", c, step.ErrUnreachable)
	}}
	if err := r.Run(t.Context(), job); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}

func TestRecheck(t *testing.T) {
	doc := evidence.PinDoc{Observed: identity()}
	same := identity()
	same.Listed = []string{"more"}
	if err := Recheck(t.Context(), &pintest.Endpoint{ID: same}, doc); err != nil {
		t.Error(err)
	}
	other := identity()
	other.EngineVersion, other.Parameters = "0.18", nil
	err := Recheck(t.Context(), &pintest.Endpoint{ID: other}, doc)
	var drift *step.Drift
	if !errors.As(err, &drift) || drift.Before != `engine_version "v0.17.4", parameters {"stop":"x"}` || drift.After != `engine_version "0.18"` {
		t.Errorf("%#v", err)
	}
	if err := Recheck(t.Context(), &pintest.Endpoint{IDErr: step.ErrUnreachable}, doc); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}

// TestRecheckSeesEveryField: changing any identifying field is a drift.
func TestRecheckSeesEveryField(t *testing.T) {
	for i := range reflect.TypeFor[llm.Identity]().NumField() {
		f := reflect.TypeFor[llm.Identity]().Field(i)
		id := identity()
		v := reflect.ValueOf(&id).Elem().Field(i)
		switch v.Kind() {
		case reflect.String:
			v.SetString("changed")
		case reflect.Int:
			v.SetInt(7)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Map:
			v.Set(reflect.ValueOf(map[string]string{"stop": "y"}))
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"y"}))
		}
		err := Recheck(t.Context(), &pintest.Endpoint{ID: id}, evidence.PinDoc{Observed: identity()})
		if drift := err != nil; drift != (f.Tag.Get("json") != "-") {
			t.Errorf("%s: drift %v", f.Name, drift)
		}
	}
}

func TestRead(t *testing.T) {
	job, err := run(t, candidate(), &pintest.Endpoint{ID: identity()})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Read(&pintest.Job{Inputs: map[string][]byte{Input: job.Output(evidence.OutPin)}})
	if err != nil || facts(doc.Observed)["served"] != `"tiny"` {
		t.Errorf("%+v %v", doc, err)
	}
	if _, err := Read(&pintest.Job{}); !errors.Is(err, step.ErrNoInput) {
		t.Error(err)
	}
	if _, err := Read(&pintest.Job{Inputs: map[string][]byte{Input: []byte("{")}}); err == nil {
		t.Error("damaged document read")
	}
}

func TestOutside(t *testing.T) {
	gone := Outside(&llm.Failure{Class: llm.ClassUnreachable, Message: "connection refused"})
	busy := Outside(&llm.Failure{Class: llm.ClassOverload})
	if !errors.Is(gone, step.ErrUnreachable) || !errors.Is(gone, step.ErrOutside) || !strings.Contains(gone.Error(), "connection refused") {
		t.Error(gone)
	}
	if errors.Is(busy, step.ErrUnreachable) || !errors.Is(busy, step.ErrOutside) || !strings.Contains(busy.Error(), "overload") {
		t.Error(busy)
	}
}
