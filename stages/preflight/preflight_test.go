package preflight

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

func campaign(p spec.Preflight) *spec.Campaign {
	return &spec.Campaign{Preflight: p, Candidates: map[string]spec.Candidate{"fp8": {
		Sampling: spec.Sampling{Temperature: 0.5, TopP: 0.9, Seed: 3, MaxTokens: 64, Stop: []string{"END"}}}}}
}

func pinDoc(t *testing.T, id llm.Identity) []byte {
	t.Helper()
	b, err := json.Marshal(evidence.PinDoc{Observed: id, Declared: spec.Candidate{
		SystemPrompt: "be brief", Reasoning: &spec.Reasoning{Control: "none", HeadroomTokens: 100}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// healthy answers every request well.
func healthy(text string) *pintest.Endpoint {
	n := int64(3)
	return &pintest.Endpoint{ID: llm.Identity{Served: "m"}, Answer: func(context.Context, llm.Request) llm.Response {
		return llm.Response{Text: text, FinishReason: "stop", Usage: &llm.Usage{PromptTokens: &n, OutputTokens: &n}, Times: llm.Times{FirstVisible: 1}}
	}}
}

func run(t *testing.T, p spec.Preflight, ep *pintest.Endpoint) (*pintest.Job, evidence.PreflightDoc, error) {
	t.Helper()
	job := &pintest.Job{S: Steps(campaign(p))[0], Inputs: map[string][]byte{pin.Input: pinDoc(t, llm.Identity{Served: "m"})}}
	err := Runner{Dial: func(string) (Endpoint, error) { return ep, nil }}.Run(t.Context(), job)
	var doc evidence.PreflightDoc
	if out := job.Output(evidence.OutPreflight); out != nil {
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
	}
	return job, doc, err
}

func all(json *spec.JSONCheck, gen *spec.GenerateCheck) spec.Preflight {
	return spec.Preflight{Checks: []string{"health", "identity", "generate", "json"}, JSON: json, Prompt: gen}
}

func TestStep(t *testing.T) {
	s := Steps(campaign(all(nil, nil)))[0]
	if s.Name != "preflight/fp8" || s.Where != "fp8" || s.After[0] != "pin/fp8" || s.Inputs["pin"].Output != evidence.OutPin || s.Observes || s.Pure {
		t.Errorf("%+v", s)
	}
	if s.Cost != (step.Cost{Requests: 2, Tokens: 128}) || strings.Contains(string(s.Params), "fp8") {
		t.Errorf("%+v %s", s.Cost, s.Params)
	}
}

func TestAllPass(t *testing.T) {
	ep := healthy(` {"ok": true, "count": 3}` + "\n")
	answer := ep.Answer
	var asked []llm.Request
	ep.Answer = func(ctx context.Context, r llm.Request) llm.Response {
		asked = append(asked, r)
		return answer(ctx, r)
	}
	job, doc, err := run(t, all(nil, nil), ep)
	if err != nil || !doc.Passed || len(doc.Checks) != 4 || job.Refused() != "" {
		t.Fatalf("%v %+v %q", err, doc, job.Refused())
	}
	for i, c := range doc.Checks {
		if !c.Passed || c.Name != all(nil, nil).Checks[i] || (c.Request != nil) != (i >= 2) {
			t.Errorf("%+v", c)
		}
	}
	want := llm.Sampling{Temperature: 0.5, TopP: 0.9, Seed: 3, MaxTokens: 164, Stop: []string{"END"}}
	r := asked[0]
	if fmt.Sprint(r.Sampling) != fmt.Sprint(want) || r.Messages[0].Content != "be brief" || r.Messages[1].Content != defaultPrompt || r.NoStream {
		t.Errorf("%+v", r)
	}
	again, _, _ := run(t, all(nil, nil), ep)
	if !bytes.Equal(job.Output(evidence.OutPreflight), again.Output(evidence.OutPreflight)) {
		t.Error("the same answers gave other bytes")
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*llm.Response)
		json   *spec.JSONCheck
		gen    *spec.GenerateCheck
		want   string
	}{
		"empty":       {func(r *llm.Response) { r.Text = " \n" }, nil, nil, "preflight generate: the answer is empty; json: the answer is empty"},
		"finish":      {func(r *llm.Response) { r.FinishReason = "content_filter" }, nil, nil, `preflight generate: the finish reason is "content_filter", want stop or length`},
		"no usage":    {func(r *llm.Response) { r.Usage = nil }, nil, nil, "preflight generate: the endpoint reports no token usage that can be used"},
		"half usage":  {func(r *llm.Response) { r.Usage.PromptTokens = nil }, nil, nil, "preflight generate: the endpoint reports no token usage that can be used"},
		"no stream":   {func(r *llm.Response) { r.Times.FirstVisible = -1 }, nil, nil, "preflight generate: the answer did not arrive as a stream"},
		"not said":    {func(*llm.Response) {}, nil, &spec.GenerateCheck{Expect: "hello"}, `preflight generate: the answer does not contain "hello"`},
		"other value": {func(*llm.Response) {}, &spec.JSONCheck{Expect: map[string]any{"ok": false}}, nil, `preflight json: the answer is not the expected value {"ok":false}`},
		"own value":   {func(r *llm.Response) { r.Text = `{"ok":true}` }, nil, nil, `preflight json: the answer is not the expected value {"count":3,"ok":true}`},
		"expect null": {func(r *llm.Response) { r.Text = "1" }, &spec.JSONCheck{Expect: 2}, nil, "preflight json: the answer is not the expected value 2"},
		"trailing":    {func(r *llm.Response) { r.Text += " done" }, nil, nil, `preflight json: the answer goes on after its JSON value: "done"`},
		"in band": {func(r *llm.Response) { r.Failure = &llm.Failure{Class: llm.ClassInBandError, Message: "boom"} }, nil, nil,
			"preflight generate: in-band-error: boom; json: in-band-error: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			ep := healthy(`{"count":3,"ok":true}`)
			answer := ep.Answer
			ep.Answer = func(ctx context.Context, r llm.Request) llm.Response {
				res := answer(ctx, r)
				u := *res.Usage
				res.Usage = &u
				c.change(&res)
				return res
			}
			job, doc, err := run(t, all(c.json, c.gen), ep)
			if err != nil || job.Refused() != c.want || doc.Passed {
				t.Errorf("%v %q, want %q", err, job.Refused(), c.want)
			}
			if len(doc.Checks) != 4 {
				t.Errorf("%d checks were recorded: all run, also after a failure", len(doc.Checks))
			}
		})
	}
}

// TestOutsideIsNoRefusal: not being able to look refuses nothing and records
// nothing.
func TestOutsideIsNoRefusal(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*pintest.Endpoint)
		want   error
	}{
		"no health":   {func(e *pintest.Endpoint) { e.HealthErr = step.ErrUnreachable }, step.ErrUnreachable},
		"no identity": {func(e *pintest.Endpoint) { e.IDErr = step.ErrOutside }, step.ErrOutside},
		"drift":       {func(e *pintest.Endpoint) { e.ID.Served = "other" }, step.ErrOutside},
		"refused connection": {func(e *pintest.Endpoint) {
			e.Answer = func(context.Context, llm.Request) llm.Response {
				return llm.Response{Failure: &llm.Failure{Class: llm.ClassUnreachable, Message: "connection refused"}}
			}
		}, step.ErrUnreachable},
		"overload": {func(e *pintest.Endpoint) {
			e.Answer = func(context.Context, llm.Request) llm.Response {
				return llm.Response{Failure: &llm.Failure{Class: llm.ClassOverload, Message: "connection refused"}}
			}
		}, step.ErrOutside},
	} {
		t.Run(name, func(t *testing.T) {
			ep := healthy("{}")
			c.change(ep)
			job, _, err := run(t, all(nil, nil), ep)
			if !errors.Is(err, c.want) || job.Refused() != "" || job.Output(evidence.OutPreflight) != nil {
				t.Errorf("%v %q", err, job.Refused())
			}
		})
	}
}

func TestUnknownCheck(t *testing.T) {
	_, _, err := run(t, spec.Preflight{Checks: []string{"health", "jsn"}}, healthy("{}"))
	if err == nil || !strings.Contains(err.Error(), `"jsn"`) || !strings.Contains(err.Error(), "generate, health, identity, image, json") {
		t.Error(err)
	}
}

func TestCancelledIsNoRefusal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ep := healthy("{}")
	ep.Answer = func(context.Context, llm.Request) llm.Response {
		cancel()
		return llm.Response{Failure: &llm.Failure{Class: llm.ClassCutStream}}
	}
	job := &pintest.Job{S: Steps(campaign(all(nil, nil)))[0], Inputs: map[string][]byte{pin.Input: pinDoc(t, llm.Identity{Served: "m"})}}
	err := Runner{Dial: func(string) (Endpoint, error) { return ep, nil }}.Run(ctx, job)
	if !errors.Is(err, context.Canceled) || job.Refused() != "" {
		t.Errorf("%v %q", err, job.Refused())
	}
}

func TestAnswerIsClipped(t *testing.T) {
	_, doc, err := run(t, spec.Preflight{Checks: []string{"generate"}}, healthy(strings.Repeat("é", 300)))
	if err != nil || doc.Checks[0].Answer != strings.Repeat("é", 200) {
		t.Errorf("%v %d", err, len(doc.Checks[0].Answer))
	}
}

func TestOneValue(t *testing.T) {
	for text, c := range map[string]struct {
		expect string
		ok     bool
	}{
		`{"a":1}`:                 {"", true},
		" [1, 2]\n":               {"", true},
		`"x"`:                     {"", true},
		`{"a":1.0,"b":[true]}`:    {`{"b":[true],"a":1}`, true},
		`{"a":1e0}`:               {`{"a":1}`, true},
		`{"a":"1"}`:               {`{"a":1}`, false},
		`{"a":2}`:                 {`{"a":1}`, false},
		`{"a":1,"a":1}`:           {"", false},
		"{\"a\":\"\xff\"}":        {"", false},
		`{"a":1} {"b":2}`:         {"", false},
		`{"a":1}}`:                {"", false},
		`{"a":1`:                  {"", false},
		`{'a':1}`:                 {"", false},
		``:                        {"", false},
		"```json\n{\"a\":1}\n```": {"", false},
		`Here it is: {"a":1}`:     {"", false},
		"\ufeff{\"a\":1}":         {"", false},
		"1\f":                     {"", false},
		`9007199254740993`:        {`9007199254740992`, false},
		`NaN`:                     {"", false},
		`{"a":1} // yes`:          {"", false},
	} {
		var expect json.RawMessage
		if c.expect != "" {
			expect = json.RawMessage(c.expect)
		}
		if why := oneValue(text, expect); (why == "") != c.ok {
			t.Errorf("%q, expecting %q: %q", text, c.expect, why)
		}
	}
}

// FuzzOneValue: whatever is accepted is one JSON value for encoding/json too,
// and equals itself.
func FuzzOneValue(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[1e400]`, `"\ud800"`, `1 2`, "```json\n1```", `{"a":{"a":[]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if oneValue(text, nil) != "" {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is not JSON", text)
		}
		if _, err := step.Canonical([]byte(text)); err != nil {
			return // accepted, and not comparable
		}
		if why := oneValue(text, json.RawMessage(text)); why != "" {
			t.Fatalf("%q does not equal itself: %s", text, why)
		}
	})
}
