package pin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

var probe = llm.TokenProbe{Tokens: 60, Twice: 115, By: "usage"}

func TestProbeField(t *testing.T) {
	const refused = "the engine refuses a request of one token (HTTP 400)"
	for name, c := range map[string]struct {
		declared int
		probe    llm.TokenProbe
		want     evidence.PinField
	}{
		"observed": {0, probe, evidence.PinField{Observed: "60 tokens (usage)", By: "usage of two requests", State: observedOnly}},
		"equal":    {60, probe, evidence.PinField{Declared: "60 tokens", Observed: "60 tokens (usage)", By: "usage of two requests", State: equal}},
		"differs":  {50, probe, evidence.PinField{Declared: "50 tokens", Observed: "60 tokens (usage)", By: "usage of two requests", State: differs}},
		"refused":  {0, llm.TokenProbe{Unknown: refused}, evidence.PinField{State: unknown, Note: refused}},
		"declared": {60, llm.TokenProbe{Unknown: refused}, evidence.PinField{Declared: "60 tokens", State: declaredOnly, Note: refused}},
	} {
		c.want.Name = "tokenizer.probe"
		if d := cmp.Diff(c.want, probeField(c.declared, c.probe)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A declared count that is not the engine's stops the candidate, with both.
func TestOtherTokenizerStops(t *testing.T) {
	c := candidate()
	c.Tokenizer = &spec.Tokenizer{Probe: 50}
	_, err := run(t, c, &pintest.Endpoint{ID: identity(), Probed: probe})
	if !errors.Is(err, step.ErrOutside) || !strings.Contains(fmt.Sprint(err), "tokenizer.probe: declared 50 tokens, observed 60 tokens (usage)") {
		t.Error(err)
	}
	c.Tokenizer.Probe = 60
	job, err := run(t, c, &pintest.Endpoint{ID: identity(), Probed: probe})
	var doc evidence.PinDoc
	if err != nil || json.Unmarshal(job.Output(evidence.OutPin), &doc) != nil || doc.Probe != probe {
		t.Errorf("%v %+v", err, doc.Probe)
	}
}

func TestProbeFails(t *testing.T) {
	_, err := run(t, candidate(), &pintest.Endpoint{ID: identity(), ProbeErr: step.Mark(step.ErrOutside, errors.New("busy"))})
	if !errors.Is(err, step.ErrOutside) || !strings.Contains(fmt.Sprint(err), "pin fp8: busy") {
		t.Error(err)
	}
}

func TestParameters(t *testing.T) {
	const hidden = "the model sets none, so this is Ollama's default by its source (api.DefaultOptions of 0.17.4), which its llama.cpp path applies also at temperature 0"
	for name, c := range map[string]struct {
		engine         string
		set            map[string]string
		all, penalty   string
		note           string
		nothingIsKnown bool
	}{
		"another engine":   {engine: "vllm", nothingIsKnown: true},
		"nothing set":      {"ollama", nil, "none", "1.1 over the last 64 tokens", hidden, false},
		"off":              {"ollama", map[string]string{"repeat_penalty": "1", "stop": "\"a\"\n\"b\""}, `repeat_penalty=1 stop="a","b"`, "1 (off)", "", false},
		"off, otherwise":   {"ollama", map[string]string{"repeat_penalty": "1.0"}, "repeat_penalty=1.0", "1.0 (off)", "", false},
		"on":               {"ollama", map[string]string{"repeat_penalty": "1.2"}, "repeat_penalty=1.2", "1.2 over the last 64 tokens", "", false},
		"another distance": {"ollama", map[string]string{"repeat_last_n": "8"}, "repeat_last_n=8", "1.1 over the last 8 tokens", hidden, false},
	} {
		got := parameters(llm.Identity{EngineName: c.engine, Parameters: c.set})
		want := []evidence.PinField{
			{Name: "parameters", Observed: c.all, State: observedOnly},
			{Name: "parameters.repeat_penalty", Observed: c.penalty, State: observedOnly, Note: c.note},
		}
		if c.nothingIsKnown {
			want = nil
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Another engine behind the same address says the same of itself.
func TestRecheckCountsAgain(t *testing.T) {
	other := llm.TokenProbe{Tokens: 70, Twice: 135, By: "usage"}
	untold := identity()
	untold.TokenizerSHA256 = ""
	for name, c := range map[string]struct {
		before llm.TokenProbe
		id     llm.Identity
		now    llm.TokenProbe
		err    error
		drift  bool
	}{
		"the same":             {probe, untold, probe, nil, false},
		"other tokens":         {probe, untold, other, nil, true},
		"a digest vouches":     {probe, identity(), other, nil, false},
		"not known before":     {llm.TokenProbe{Unknown: "x"}, untold, other, nil, false},
		"not known now":        {probe, untold, llm.TokenProbe{Unknown: "x"}, nil, false},
		"busy now":             {probe, untold, llm.TokenProbe{}, step.ErrOutside, false},
		"another template":     {llm.TokenProbe{Template: hexA}, untold, llm.TokenProbe{Template: hexB}, nil, true},
		"template not told":    {llm.TokenProbe{Template: hexA}, untold, llm.TokenProbe{}, nil, false},
		"template, a digest":   {llm.TokenProbe{Template: hexA}, identity(), llm.TokenProbe{Template: hexB}, nil, true},
		"another context":      {llm.TokenProbe{Context: 4096}, untold, llm.TokenProbe{Context: 2048}, nil, true},
		"unloaded since":       {llm.TokenProbe{Context: 4096}, untold, llm.TokenProbe{}, nil, false},
		"counted in other way": {probe, untold, llm.TokenProbe{Tokens: 53, Twice: 106, By: "tokenize"}, nil, false},
	} {
		err := Recheck(t.Context(), &pintest.Endpoint{ID: c.id, Probed: c.now, ProbeErr: c.err}, evidence.PinDoc{Observed: c.id, Probe: c.before})
		var drift *step.Drift
		if errors.As(err, &drift) != c.drift || err != nil && drift == nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.drift && c.before == probe && (drift.Before != "60 and 115 tokens of the probe texts" || drift.After != "70 and 135 tokens of the probe texts") {
			t.Errorf("%s: %+v", name, drift)
		}
	}
}
