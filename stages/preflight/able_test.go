package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
	"github.com/cupel-dev/cupel/stages/preflight/picture"
)

// able is a model that can do everything that is asked of it.
type able struct {
	mu   sync.Mutex
	asks []llm.Request
	// change spoils an answer; it is not called for requests that only count.
	change func(llm.Request, *llm.Response)
}

func (m *able) answer(_ context.Context, r llm.Request) llm.Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks = append(m.asks, r)
	in, out := int64(20), int64(7)
	for _, t := range r.Messages {
		in += int64(len(t.Content)) / 4
	}
	res := llm.Response{FinishReason: "stop", Model: "m", Usage: &llm.Usage{PromptTokens: &in, OutputTokens: &out}, Times: llm.Times{FirstVisible: 1}, Ended: true, Events: 4}
	if r.NoOutput {
		return res
	}
	say(r, &res)
	if m.change != nil {
		m.change(r, &res)
	}
	return res
}

var secretIn = regexp.MustCompile(`ORCHID safe opens with (K[0-9]{12})`)

// say is what the model says.
func say(r llm.Request, res *llm.Response) {
	last := r.Messages[len(r.Messages)-1]
	prompt := last.Content
	switch {
	case last.Role == "tool":
		res.Text = station
		if strings.Contains(prompt, "72") {
			res.Text = "Oakland 72F"
		}
	case r.Tools != nil:
		res.ToolCalls, res.FinishReason = calls(prompt), "tool_calls"
	case len(last.Media) > 0:
		res.Text = see(last.Media[0])
	case r.Format != nil:
		res.Text = `{"shelf": "teal-17", "crates": 4, "sealed": true}`
	case secretIn.MatchString(prompt):
		res.Text = "It opens with " + secretIn.FindStringSubmatch(prompt)[1] + "."
	case strings.Contains(prompt, "launch code is"):
		res.Text = "ZEBRA 42917 QUARTZ"
	case strings.Contains(prompt, "READY"):
		res.Text = " READY\n"
	case prompt == puzzle:
		think(r, res)
	case prompt == numbersPrompt:
		*res.Usage.OutputTokens, res.FinishReason, res.Text = int64(r.Sampling.MaxTokens), "length", "1, 2, 3"
	case prompt == copyPrompt:
		res.Text = "Spring is mild. Summer is hot. Autumn is windy. Winter is cold."
		if len(r.Sampling.Stop) > 0 {
			res.Text = res.Text[:strings.Index(res.Text, r.Sampling.Stop[0])]
		}
	case prompt == story:
		res.Text = fmt.Sprintf("Once, at %v with %d.", r.Sampling.Temperature, r.Sampling.Seed)
	case prompt == anvilSmoke:
		res.Text = "lambda xs: sum(xs)"
	case prompt == anvilJSON:
		res.Text = "Here: {\"language\": \"go\"} !"
	default:
		res.Text = `{"ok": true, "count": 3}`
	}
}

func think(r llm.Request, res *llm.Response) {
	res.Text = "16, 19, 19"
	n := map[string]int{"thinking-on": 200, "effort-low": 30, "effort-medium": 90, "effort-high": 400}[r.Reasoning]
	res.Reasoning = strings.Repeat("x", n)
	*res.Usage.OutputTokens = int64(7 + n/4)
}

func calls(prompt string) []llm.ToolCall {
	call := func(name, city string) llm.ToolCall {
		return llm.ToolCall{ID: "drawn", Name: name, Arguments: fmt.Sprintf(`{"city": %q}`, city)}
	}
	if strings.Contains(prompt, "all three at once") {
		return []llm.ToolCall{call("get_weather", "Oakland"), call("get_weather", "Lisbon"), call("get_local_time", "Lisbon")}
	}
	for _, c := range cities {
		if strings.Contains(prompt, c) {
			return []llm.ToolCall{call("get_weather", c)}
		}
	}
	return nil
}

func see(m llm.Media) string {
	switch string(m.Data) {
	case string(scenes[0].draw()):
		return "A red circle and a blue square."
	case string(scenes[1].draw()):
		return "Green triangle, black circle"
	case string(picture.Lines(written...)):
		return "Kestrel 4827\nMarrow 9163"
	}
	return "a Cat on a mat, " + m.MIME
}

// withAbilities runs checks against a model; files are inputs by check.
func withAbilities(t *testing.T, pre spec.Preflight, declared spec.Candidate, files map[string][]byte, m *able, beside func(Endpoint, llm.API) (Asker, error)) (*pintest.Job, evidence.PreflightDoc, error) {
	t.Helper()
	c := &spec.Campaign{Preflight: pre, Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, Seed: 3, MaxTokens: 64, Stop: []string{"END"}}}}}
	doc, err := json.Marshal(evidence.PinDoc{Observed: llm.Identity{API: llm.OpenAI, Served: "m"}, Declared: declared})
	if err != nil {
		t.Fatal(err)
	}
	job := &pintest.Job{S: Steps(c)[0], Inputs: map[string][]byte{pin.Input: doc}}
	for name, b := range files {
		job.Inputs[name] = b
	}
	ep := &pintest.Endpoint{ID: llm.Identity{API: llm.OpenAI, Served: "m"}, Answer: m.answer}
	err = Runner{Dial: func(string) (Endpoint, error) { return ep, nil }, Beside: beside}.Run(t.Context(), job)
	var out evidence.PreflightDoc
	if b := job.Output(evidence.OutPreflight); b != nil {
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatal(err)
		}
	}
	return job, out, err
}

func same1(ep Endpoint, _ llm.API) (Asker, error) { return ep, nil }

func one(name string) spec.Preflight {
	p := spec.Preflight{Checks: []string{name}}
	switch name {
	case "needle":
		p.Needle = &spec.NeedleCheck{PromptTokens: 2000}
	case "long-tools":
		p.LongTools = &spec.LongToolsCheck{PromptTokens: 12000, Min: 10000}
	case "seed":
		p.Seed = &spec.SeedCheck{Requests: 4, Concurrency: 2, MinSame: 1, Temperature: 0.8}
	case "tools":
		p.Tools = &spec.ToolsCheck{Parallel: 12}
	case "image", "ocr":
	case "video":
		p.Video = &spec.VideoCheck{Expect: []string{"cat"}}
	}
	return p
}

var film = map[string][]byte{"video": []byte("\x00\x00\x00\x18ftypisom....")}

var thinkingOn = spec.Candidate{Reasoning: &spec.Reasoning{Control: "thinking-on", HeadroomTokens: 50}}

// TestEveryCheckPasses: a model that can do everything passes all checks, under
// cupel's rules and the other tool's.
func TestEveryCheckPasses(t *testing.T) {
	for _, compat := range []string{"", "anvil"} {
		for _, name := range Checks() {
			p := one(name)
			p.Compat = compat
			job, doc, err := withAbilities(t, p, thinkingOn, film, &able{}, same1)
			if err != nil || !doc.Passed || job.Refused() != "" || len(doc.Checks) < 1 {
				t.Errorf("%s %s: %v %+v", name, compat, err, doc)
				continue
			}
			c := doc.Checks[0]
			if c.Verdict != evidence.CheckPassed || c.Reason == "" || (c.Compat != "") != (compat != "" && checks[name].compat) {
				t.Errorf("%s: %+v", name, c)
			}
			if n := len(c.Observations); n == 0 != (name == "health" || name == "identity") || n > 0 && *c.Request != c.Observations[0].Request {
				t.Errorf("%s: %d observations", name, n)
			}
		}
	}
}

// TestCostBoundsWhatIsSent: the plan's estimate is never too low.
func TestCostBoundsWhatIsSent(t *testing.T) {
	for _, name := range Checks() {
		m := &able{}
		p := one(name)
		if _, _, err := withAbilities(t, p, thinkingOn, film, m, same1); err != nil {
			t.Fatal(err)
		}
		raw := paramsOf(&p, spec.Sampling{MaxTokens: 64})
		if cost := raw.cost(spec.Candidate{Sampling: spec.Sampling{MaxTokens: 64}}); cost.Requests < len(m.asks) || len(m.asks) > 0 && cost.Tokens < 1 {
			t.Errorf("%s: %+v, and %d requests were sent", name, cost, len(m.asks))
		}
	}
}

func fail(class llm.Class, message string) func(llm.Request, *llm.Response) {
	return func(_ llm.Request, r *llm.Response) { r.Failure = &llm.Failure{Class: class, Message: message} }
}

func text(s string) func(llm.Request, *llm.Response) {
	return func(_ llm.Request, r *llm.Response) { r.Text = s }
}

func call(c ...llm.ToolCall) func(llm.Request, *llm.Response) {
	return func(_ llm.Request, r *llm.Response) { r.ToolCalls = c }
}

func finish(s string) func(llm.Request, *llm.Response) {
	return func(_ llm.Request, r *llm.Response) { r.FinishReason = s }
}

// second spoils the n-th answer alone, from 1.
func second(n int, change func(llm.Request, *llm.Response)) func(llm.Request, *llm.Response) {
	k := 0
	return func(q llm.Request, r *llm.Response) {
		if k++; k == n {
			change(q, r)
		}
	}
}

// TestWhatFails: what each check does not let pass, and what it says.
func TestWhatFails(t *testing.T) {
	weather := func(args string) llm.ToolCall { return llm.ToolCall{Name: "get_weather", Arguments: args} }
	for _, c := range []struct {
		check  string
		change func(llm.Request, *llm.Response)
		want   string
	}{
		{"needle", text("K111111111111"), "the answer holds the secret K111111111111, which the text does not"},
		{"needle", text("I do not know"), "is not in the answer"},
		{"needle", text("k557508437185"), "the secret K557508437185 is not in the answer"},
		{"needle", text("K5575084371850"), "is not in the answer"},
		{"needle", func(_ llm.Request, r *llm.Response) { *r.Usage.PromptTokens = 1500 }, "the endpoint counts 1500 prompt tokens, want 2000 within 2 %"},
		{"needle", func(_ llm.Request, r *llm.Response) { r.Usage = nil }, "reports no prompt tokens"},
		{"tools", second(3, call()), "1 of 12 calls at once were wrong: request "},
		{"tools", call(weather(`{"city":"Oakland"}`), weather(`{"city":"Oakland"}`)), "2 calls were made, want one"},
		{"tools", call(llm.ToolCall{Name: "get_local_time", Arguments: `{"city":"Oakland"}`}), "it calls get_local_time, want get_weather"},
		{"tools", call(llm.ToolCall{Name: "rm", Arguments: `{}`}), `it calls "rm", which was not offered`},
		{"tools", call(weather(`{"city":""}`)), "does not fit the schema: at /city"},
		{"tools", call(weather(`{"city":"Oakland","unit":"c"}`)), "does not fit the schema: at /: additional properties"},
		{"tools", call(weather(`{"city":"Oakland"`)), "the argument object of get_weather is not one JSON value"},
		{"tools", call(weather(`{"city":"Berlin"}`)), `it asks for "Berlin", want`},
		{"tools", text("<<tool get_weather"), `holds "<<tool"`},
		{"tools", text("<|python|>"), `holds "<|"`},
		{"tools", text("function=get_weather"), `holds "function="`},
		{"tools", text("\ufffd"), "holds"},
		{"tools", finish("stop"), `the finish reason is "stop", want tool_calls`},
		{"long-tools", func(_ llm.Request, r *llm.Response) { *r.Usage.PromptTokens = 9999 }, "the endpoint counts 9999 prompt tokens, want at least 10000"},
		{"long-tools", func(_ llm.Request, r *llm.Response) { r.Usage.PromptTokens = nil }, "no prompt tokens"},
		{"long-tools", call(), "no call was made"},
		{"streaming-tools", func(_ llm.Request, r *llm.Response) { r.Ended = false }, "without its end mark"},
		{"streaming-tools", func(_ llm.Request, r *llm.Response) { r.Events = 1 }, "came as one event"},
		{"streaming-tools", finish("stop"), "the finish reason"},
		{"streaming-tools", fail(llm.ClassProtocol, "does not stream"), "protocol: does not stream"},
		{"tool-result", second(1, call()), "turn 1: no call was made, want one"},
		{"tool-result", second(2, text("QV-4827")), "turn 2: the answer does not hold QV-48271"},
		{"tool-result", second(2, call(weather(`{"city":"Lisbon"}`))), "turn 2: a tool is called again"},
		{"parallel-tools", call(weather(`{"city":"Oakland"}`)), "one call was made in one answer"},
		{"parallel-tools", call(weather(`{"city":"Oakland"}`), weather(`{"city":"oakland "}`)), "call 2 repeats"},
		{"responses", text("READY."), `the answer is "READY.", want READY`},
		{"responses", finish("length"), `ended with "length"`},
		{"structured", text("A ripe tomato is red."), "the answer is not one JSON value"},
		{"structured", text(`{"shelf":"red","crates":4,"sealed":true}`), "the answer does not fit the schema: at /shelf"},
		{"structured", text("```json\n{}\n```"), "not one JSON value"},
		{"stop", second(2, text("Spring is mild. Summer is hot. Autumn is windy.")), "the answer holds the stop sequence"},
		{"stop", second(2, text("Something else")), "is not what stood before the stop sequence"},
		{"stop", second(2, finish("length")), `the finish reason is "length", want stop`},
		{"stop", text("Cold"), "too short"},
		{"max-tokens", func(q llm.Request, r *llm.Response) { *r.Usage.OutputTokens = 40960 }, "counts 40960 output tokens, and the limit was 16"},
		{"max-tokens", func(_ llm.Request, r *llm.Response) { *r.Usage.OutputTokens, r.FinishReason = 1, "stop" }, "ended with \"stop\" and not by the limit, of which it used 1 of 1 tokens"},
		{"max-tokens", func(_ llm.Request, r *llm.Response) { r.Usage = nil }, "no output tokens"},
		{"image", text("a red square and a circle"), `picture 1: the answer does not say "blue"`},
		{"image", text("red, green and blue circle and square and triangle"), `picture 1: the answer says "green"`},
		{"image", second(2, text("A red circle and a blue square.")), `picture 2: the answer does not say "green"`},
		{"ocr", text("KESTREL 4821 MARROW 9163"), `the answer does not hold "KESTREL 4827"`},
		{"video", text("a dog"), `the answer does not hold "cat"`},
		{"seed", second(6, text("other")), "greedy under_load: the share of answers that equal the first is 0.75, want at least 1"},
		{"seed", second(2, text("other")), "greedy alone: the share of answers that equal the first is 0"},
		{"seed", second(9, text("other")), "sampled under_load"},
		{"reasoning", func(_ llm.Request, r *llm.Response) { r.Reasoning = "hm" }, "contradicted: with thinking-off there is reasoning all the same (2 characters)"},
		{"reasoning", func(_ llm.Request, r *llm.Response) { r.Reasoning = "" }, "unverified: no reasoning was seen"},
		{"reasoning", text("<think>hm</think> 16"), "contradicted: reasoning stands in the visible answer"},
		{"reasoning", func(_ llm.Request, r *llm.Response) { *r.Usage.OutputTokens = 7 }, "unverified: reasoning appears with thinking-on alone, and yet the output has 7 tokens"},
		{"reasoning", func(_ llm.Request, r *llm.Response) { r.Usage = nil }, "does not count output tokens"},
	} {
		job, doc, err := withAbilities(t, one(c.check), thinkingOn, film, &able{change: c.change}, same1)
		if err != nil || doc.Passed || len(doc.Checks) != 1 || doc.Checks[0].Verdict != evidence.CheckFailed || !strings.Contains(doc.Checks[0].Reason, c.want) {
			t.Errorf("%s: %v, %+v, want %q", c.check, err, doc.Checks, c.want)
		}
		if !strings.HasPrefix(job.Refused(), "preflight "+c.check+": ") {
			t.Errorf("%s: refused as %q", c.check, job.Refused())
		}
	}
}

// TestNotSupported: an ability that is not there is told apart from a failure,
// and opens nothing either.
func TestNotSupported(t *testing.T) {
	for _, c := range []struct {
		check  string
		change func(llm.Request, *llm.Response)
	}{
		{"tools", fail(llm.ClassRejected, `registry.ollama.ai/library/tiny:latest does not support tools`)},
		{"tools", fail(llm.ClassRejected, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`)},
		{"image", fail(llm.ClassServerError, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj")},
		{"image", fail(llm.ClassRejected, "Qwen/Qwen3-8B is not a multimodal model")},
		{"video", fail(llm.ClassServerError, `Failed to parse messages: Unsupported content part type: "video_url"`)},
		{"reasoning", fail(llm.ClassRejected, `"tiny" does not support thinking`)},
		{"responses", fail(llm.ClassNotFound, "404 page not found")},
	} {
		job, doc, err := withAbilities(t, one(c.check), thinkingOn, film, &able{change: c.change}, same1)
		if err != nil || doc.Passed || doc.Checks[0].Verdict != evidence.CheckNotSupported || doc.Checks[0].Passed || job.Refused() == "" {
			t.Errorf("%s: %v %+v", c.check, err, doc.Checks)
		}
	}
	if _, _, err := withAbilities(t, one("responses"), thinkingOn, nil, &able{}, nil); err == nil {
		t.Error("there is no way to the other protocol, and nobody says so")
	}
}

// TestOutsideOfAbilities: not having been able to look is no finding.
func TestOutsideOfAbilities(t *testing.T) {
	for _, name := range Checks() {
		if checks[name].sends == nil {
			continue
		}
		job, _, err := withAbilities(t, one(name), thinkingOn, film, &able{change: fail(llm.ClassServerError, "out of memory")}, same1)
		if !errors.Is(err, step.ErrOutside) || job.Refused() != "" || job.Output(evidence.OutPreflight) != nil {
			t.Errorf("%s: %v %q", name, err, job.Refused())
		}
	}
}

func TestEffort(t *testing.T) {
	high := spec.Candidate{Model: spec.Model{Repo: "openai/gpt-oss-20b"}, Reasoning: &spec.Reasoning{Control: "effort-high"}}
	m := &able{}
	_, doc, err := withAbilities(t, one("reasoning"), high, nil, m, same1)
	if err != nil || doc.Checks[0].Status != statusVerified || m.asks[0].Reasoning != "effort-high" || m.asks[1].Reasoning != "effort-low" {
		t.Errorf("%v %+v", err, doc)
	}
	low := high
	low.Reasoning = &spec.Reasoning{Control: "effort-low"}
	m = &able{}
	if _, doc, err := withAbilities(t, one("reasoning"), low, nil, m, same1); err != nil || doc.Checks[0].Status != statusVerified || m.asks[1].Reasoning != "effort-high" {
		t.Errorf("%v %+v", err, doc)
	}
	reversed := &able{change: func(q llm.Request, r *llm.Response) {
		r.Reasoning = strings.Repeat("x", map[string]int{"effort-low": 400, "effort-high": 9}[q.Reasoning])
	}}
	if _, doc, err := withAbilities(t, one("reasoning"), low, nil, reversed, same1); err != nil || doc.Checks[0].Status != statusContradicted {
		t.Errorf("%v %+v", err, doc)
	}
	level := &able{change: func(_ llm.Request, r *llm.Response) { r.Reasoning = "same" }}
	if _, doc, err := withAbilities(t, one("reasoning"), low, nil, level, same1); err != nil || doc.Checks[0].Status != statusUnverified || doc.Passed {
		t.Errorf("%v %+v", err, doc)
	}
	lenient := one("reasoning")
	lenient.Reasoning = &spec.ReasoningCheck{Require: "not-contradicted"}
	if _, doc, err := withAbilities(t, lenient, low, nil, level, same1); err != nil || !doc.Passed || doc.Checks[0].Status != statusUnverified {
		t.Errorf("%v %+v", err, doc)
	}
	if _, doc, err := withAbilities(t, one("reasoning"), spec.Candidate{}, nil, &able{}, same1); err != nil || doc.Passed || doc.Checks[0].Status != statusUnverified {
		t.Errorf("%v %+v", err, doc)
	}
}

// TestAlone: only what compares an answer given alone holds the endpoint.
func TestAlone(t *testing.T) {
	for name, want := range map[string]int{"seed": 1, "tools": 0} {
		s := Steps(&spec.Campaign{Preflight: one(name), Candidates: map[string]spec.Candidate{"a": {}}})[0]
		if len(s.Resources) != want {
			t.Errorf("%s holds %v", name, s.Resources)
		}
	}
	m := &able{}
	if _, doc, err := withAbilities(t, one("responses"), thinkingOn, nil, m, same1); err != nil || !doc.Passed || m.asks[0].Reasoning != "" {
		t.Errorf("%v %+v", err, m.asks)
	}
}

func TestOpposite(t *testing.T) {
	for _, c := range [][3]string{
		{"thinking-on", "", "thinking-off"}, {"thinking-off", "", "thinking-on"}, {"effort-medium", "gpt-oss", "effort-low"},
		{"effort-low", "deepseek-v4", "effort-max"}, {"effort-minimal", "some", "effort-high"}, {"effort-max", "some", "effort-low"}, {"effort-xhigh", "qwen3.8", "effort-low"},
	} {
		if got := opposite(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestFiles: a file of the user's is sent as it is, under the type of its content.
func TestFiles(t *testing.T) {
	p := one("image")
	p.Image = &spec.PictureCheck{File: &spec.File{Digest: step.Sum(nil)}, Prompt: "What is it?", Expect: []string{"CAT", "image/jpeg"}}
	jpeg := []byte("\xff\xd8\xff\xe0 and so on")
	m := &able{}
	_, doc, err := withAbilities(t, p, spec.Candidate{}, map[string][]byte{"image": jpeg}, m, same1)
	if err != nil || !doc.Passed || m.asks[0].Messages[0].Content != "What is it?" || string(m.asks[0].Messages[0].Media[0].Data) != string(jpeg) {
		t.Errorf("%v %+v", err, doc)
	}
	if _, _, err := withAbilities(t, p, spec.Candidate{}, map[string][]byte{"image": []byte("GIF89a")}, m, same1); err == nil || !strings.Contains(err.Error(), "no image that cupel knows") {
		t.Error(err)
	}
	s := Steps(&spec.Campaign{Preflight: p, Candidates: map[string]spec.Candidate{"a": {}}})[0]
	if s.Inputs["image"].Blob != step.Sum(nil) || strings.Contains(string(s.Params), step.Sum(nil).String()) {
		t.Errorf("%+v %s", s.Inputs, s.Params)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff\xdb": "image/jpeg", "RIFF\x00\x00\x00\x00WEBPVP8 ": "image/webp", "RIFF\x00\x00\x00\x00WAVEfmt ": "",
		"\x1a\x45\xdf\xa3\x01": "video/webm", "\x00\x00\x00\x14ftypqt  \x00": "video/quicktime", "\x00\x00\x00\x20ftypisom": "video/mp4",
		"\x00\x00\x00\x08wide\x00\x00\x00\x00": "video/quicktime", "GIF89a": "", "": "",
	} {
		kind, _, _ := strings.Cut(or(want, "image"), "/")
		if got, err := sniff([]byte(head), kind); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s %v", head, got, err)
		}
	}
	if _, err := sniff([]byte("\x89PNG\r\n\x1a\n"), "video"); err == nil {
		t.Error("a picture is no film")
	}
}

func TestPolicy(t *testing.T) {
	seen := func(f string, reasoning int, limited bool) evidence.Check {
		return evidence.Check{Name: "tools", Observations: []evidence.Observation{{What: "request 1", Finish: f, ReasoningChars: reasoning, Limited: limited}}}
	}
	usual := []string{"stop", "tool_calls"}
	for name, c := range map[string]struct {
		policy spec.EvidencePolicy
		checks []evidence.Check
		want   string
	}{
		"fine":        {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "any"}, []evidence.Check{seen("stop", 9, false), seen("length", 0, true)}, ""},
		"length":      {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "any"}, []evidence.Check{seen("length", 0, false)}, `tools, request 1: the finish reason is "length"; allowed stop, tool_calls`},
		"required":    {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "required"}, []evidence.Check{seen("stop", 0, false)}, "required, and none of 1 answers"},
		"nothing":     {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "required"}, nil, "none of 0 answers"},
		"required ok": {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "required"}, []evidence.Check{seen("stop", 0, false), seen("stop", 1, false)}, ""},
		"forbidden":   {spec.EvidencePolicy{FinishReasons: usual, Reasoning: "forbidden"}, []evidence.Check{seen("stop", 5, false)}, "forbidden, and 1 of 1 answers show some, the first in tools"},
	} {
		if got := policyWrong(&c.policy, c.checks); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	p := one("generate")
	p.Evidence = &spec.EvidencePolicy{FinishReasons: []string{"tool_calls"}, Reasoning: "any"}
	job, doc, err := withAbilities(t, p, spec.Candidate{}, nil, &able{}, same1)
	if err != nil || doc.Passed || len(doc.Checks) != 2 || doc.Checks[1].Name != "evidence" || !strings.Contains(job.Refused(), "preflight evidence: generate, the request") {
		t.Errorf("%v %+v", err, doc)
	}
}

// TestObservations: what is kept of an answer is bounded, and the digest stands
// for the rest; ids that are drawn are not kept.
func TestObservations(t *testing.T) {
	long := strings.Repeat("é", 10000)
	_, doc, err := withAbilities(t, one("generate"), spec.Candidate{}, nil, &able{change: func(_ llm.Request, r *llm.Response) { r.Text, r.Reasoning = long, long }}, same1)
	if err != nil {
		t.Fatal(err)
	}
	o := doc.Checks[0].Observations[0]
	if o.TextChars != 10000 || len(o.Text) != 2*8192 || *o.TextDigest != step.Sum([]byte(long)) || len(o.Reasoning) != 0 && len(o.Reasoning) != 2*2048 || o.ReasoningChars != 10000 {
		t.Errorf("%d %d %d", o.TextChars, len(o.Text), len(o.Reasoning))
	}
	_, doc, err = withAbilities(t, one("seed"), spec.Candidate{}, nil, &able{}, same1)
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for _, o := range doc.Checks[0].Observations {
		if o.Text != "" {
			texts++
		}
		if o.TextDigest == nil {
			t.Errorf("%s has no digest", o.What)
		}
	}
	if texts != 3 || len(doc.Checks[0].Observations) != 13 {
		t.Errorf("%d texts of %d", texts, len(doc.Checks[0].Observations))
	}
	i := slices.IndexFunc(doc.Checks[0].Measured, func(m evidence.Measured) bool { return m.Name == "differs_by_seed" })
	if i < 0 || *doc.Checks[0].Measured[i].Value != 1 {
		t.Errorf("%+v", doc.Checks[0].Measured)
	}
	job, doc, _ := withAbilities(t, one("tools"), spec.Candidate{}, nil, &able{}, same1)
	if c := doc.Checks[0].Observations[0].ToolCalls; len(c) != 1 || c[0].ID != "" {
		t.Errorf("%+v", c)
	}
	again, _, _ := withAbilities(t, one("tools"), spec.Candidate{}, nil, &able{}, same1)
	if string(job.Output(evidence.OutPreflight)) != string(again.Output(evidence.OutPreflight)) {
		t.Error("the same answers gave other bytes")
	}
}

// TestHistory: the second turn repeats the call as it was made.
func TestHistory(t *testing.T) {
	m := &able{}
	if _, _, err := withAbilities(t, one("tool-result"), spec.Candidate{SystemPrompt: "be brief"}, nil, m, same1); err != nil {
		t.Fatal(err)
	}
	turns := m.asks[1].Messages
	if len(turns) != 4 || turns[0].Content != "be brief" || turns[2].Role != "assistant" || turns[3].ToolCallID != "drawn" ||
		string(turns[2].ToolCalls) != `[{"id":"drawn","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Lisbon\"}"}}]` {
		t.Errorf("%+v", turns)
	}
	if got := string(history([]llm.ToolCall{{Name: "f", Arguments: "{}"}})); !strings.Contains(got, `"id":"call_1"`) {
		t.Error(got)
	}
}

// TestAnvil holds the other tool's prompts and rules.
func TestAnvil(t *testing.T) {
	text := anvilNeedleText(1000)
	filler := strings.Count(text, "The engineers continued")
	at := strings.Index(text, "\n\nIMPORTANT: The launch code is ZEBRA-42917-QUARTZ.\n\n")
	if filler != 75 && filler != 74 || at != 3262 {
		t.Errorf("%d lines, the code at %d", filler, at)
	}
	for text, ok := range map[string]bool{`{"language":1}`: true, `x {"language":"go","ok":false} y`: true, `{"ok":true}`: false, `{`: false, `}{`: false, `{"language":} `: false} {
		if (anvilJSONWrong(text) == "") != ok {
			t.Errorf("%s: %s", text, anvilJSONWrong(text))
		}
	}
	for args, ok := range map[string]bool{`{"city":"x","y":1}`: true, `{"city":""}`: false, `{"city":1}`: false, `null`: false, `x`: false} {
		if why := anvilCallWrong(llm.Response{ToolCalls: []llm.ToolCall{{Name: "get_weather", Arguments: args}}}); (why == "") != ok {
			t.Errorf("%s: %s", args, why)
		}
	}
	own := one("json")
	own.Compat, own.JSON = "anvil", &spec.JSONCheck{Expect: map[string]any{"ok": false}}
	if _, doc, err := withAbilities(t, own, thinkingOn, nil, &able{}, same1); err != nil || doc.Checks[0].Passed || doc.Checks[0].Compat != "" {
		t.Errorf("an expectation of the campaign's own was not looked at: %v %+v", err, doc)
	}
	m := &able{}
	p := one("tools")
	p.Compat = "anvil"
	if _, _, err := withAbilities(t, p, thinkingOn, nil, m, same1); err != nil || len(m.asks) != 12 {
		t.Fatal(err, len(m.asks))
	}
	r := m.asks[0]
	if len(r.Messages[0].Content) != 400*len(anvilContract) || r.Sampling.Temperature != 0 || r.Sampling.MaxTokens != 306 || !r.NoStream || r.Messages[1].Content != anvilWeather {
		t.Errorf("%+v", r.Sampling)
	}
}

func TestMiddleWord(t *testing.T) {
	for text, want := range map[string][2]string{
		"aa bb cc dd": {"cc", "aa bb "}, "aa": {"", ""}, "": {"", ""}, "a a a a": {"", ""}, "aa aa aa": {"", ""}, "one two": {"two", "one "},
	} {
		if w, before := middleWord(text); w != want[0] || before != want[1] {
			t.Errorf("%q: %q after %q, want %q", text, w, before, want)
		}
	}
}

// FuzzMiddleWord: what is returned stands in the text, for the first time there.
func FuzzMiddleWord(f *testing.F) {
	f.Add("Spring is mild. Summer is hot.")
	f.Add("é é éé \xff\xff b")
	f.Fuzz(func(t *testing.T, text string) {
		w, before := middleWord(text)
		if w != "" && (!strings.HasPrefix(text, before+w) || strings.Contains(before, w)) {
			t.Fatalf("%q: %q after %q", text, w, before)
		}
	})
}

// FuzzCallWrong: no arguments pass that are not an object with a city.
func FuzzCallWrong(f *testing.F) {
	for _, s := range []string{`{"city":"x"}`, `{"city":"x","city":"y"}`, `{"city":null}`, `[]`, `{"city":"\ud800"}`, `1e999`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if callWrong(llm.ToolCall{Name: "get_weather", Arguments: args}, offered) != "" {
			return
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(args), &v); err != nil || len(v) != 1 || v["city"] == "" {
			t.Fatalf("%q passed: %v %v", args, v, err)
		}
	})
}
