package score

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// fakeRunner answers with what a test wants and keeps what it was asked.
type fakeRunner struct {
	run   func(Program, []byte) (Outcome, error)
	ask   func([]byte) ([]byte, error)
	ran   []Program
	opens int
	open  int // sessions that are not closed
	fails error
}

func (f *fakeRunner) Runtimes() map[string]string {
	return map[string]string{"python": "3.99 sha256:abc"}
}

func (f *fakeRunner) Run(_ context.Context, p Program, stdin []byte) (Outcome, error) {
	f.ran = append(f.ran, p)
	return f.run(p, stdin)
}

func (f *fakeRunner) Open(_ context.Context, p Program) (Session, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	f.ran = append(f.ran, p)
	f.opens++
	f.open++
	return f, nil
}

func (f *fakeRunner) Ask(_ context.Context, line []byte) ([]byte, error) { return f.ask(line) }
func (f *fakeRunner) Close() error                                       { f.open--; return nil }

// programScore scores one text with a scorer that runs programs.
func programScore(t testing.TB, r Runner, scorer, fields, text string) Score {
	t.Helper()
	c := programCompiler(t, r)
	defer c.Close()
	f, err := c.Compile(itemOf(t, scorer, fields))
	if err != nil {
		t.Fatalf("case %s %s: %v", scorer, fields, err)
	}
	return f.Score(Output{Text: text})
}

func programCompiler(t testing.TB, r Runner) *Compiler {
	t.Helper()
	c, err := NewCompiler(map[string]map[string]any{"code": {}, "exec": {}})
	if err != nil {
		t.Fatal(err)
	}
	c.Use(t.Context(), r)
	return c
}

// done is a program that ran to the end of its tests.
func done(p Program, _ []byte) (Outcome, error) {
	return Outcome{Stdout: []byte("noise\n" + tokenIn(p) + "\n")}, nil
}

func tokenIn(p Program) string {
	i := bytes.Index(p.Files[0].Data, []byte("tests-done-"))
	if i < 0 {
		return ""
	}
	return string(p.Files[0].Data[i : i+len("tests-done-")+32])
}

func TestCodeOutcomes(t *testing.T) {
	outcome := func(o Outcome, err error) func(Program, []byte) (Outcome, error) {
		return func(Program, []byte) (Outcome, error) { return o, err }
	}
	failed := func(stderr string) func(Program, []byte) (Outcome, error) {
		return outcome(Outcome{Exit: 1, Stderr: []byte(stderr)}, nil)
	}
	for name, tc := range map[string]struct {
		run    func(Program, []byte) (Outcome, error)
		scored bool
		value  float64
		reason string
	}{
		"passes":            {done, true, 1, "passed"},
		"fails":             {failed("Traceback\n  line 1\nAssertionError: 4\n"), true, 0, "exit status 1: AssertionError: 4"},
		"fails silently":    {failed(""), true, 0, "exit status 1"},
		"fails in node":     {failed("TypeError: f is not a function\n    at main.js\n\nNode.js v20\n"), true, 0, "exit status 1: TypeError: f is not a function"},
		"leaves early":      {outcome(Outcome{}, nil), true, 0, "the program ended before its tests did"},
		"guesses the token": {outcome(Outcome{Stdout: []byte("tests-done-00000000000000000000000000000000\n")}, nil), true, 0, "ended before"},
		"network":           {failed("OSError: [Errno 101] Network is unreachable"), true, 0, "net-denied: exit status 1: OSError"},
		"file":              {failed("OSError: [Errno 30] Read-only file system: '/etc/x'"), true, 0, "file-denied: exit status 1: OSError"},
		"memory, own":       {failed("MemoryError\n"), true, 0, "memory: exit status 1: MemoryError"},
		"processes, own":    {failed("sh: 1: Cannot fork"), true, 0, "too-many-processes: "},
		"cpu":               {outcome(Outcome{Exit: 152, Limit: LimitCPU}, nil), true, 0, "timeout: the CPU time ran out"},
		"memory":            {outcome(Outcome{Limit: LimitMemory}, nil), true, 0, "memory: "},
		"processes":         {outcome(Outcome{Limit: LimitProcesses}, nil), true, 0, "too-many-processes: "},
		"output":            {outcome(Outcome{Limit: LimitOutput}, nil), true, 0, "output-limit: "},
		"wall":              {outcome(Outcome{Limit: LimitWall}, nil), false, 0, "timeout: the wall clock ran out"},
		"killed":            {outcome(Outcome{}, &Undetermined{ReasonKilled, errors.New("no memory")}), false, 0, "killed: no memory"},
		"no sandbox":        {outcome(Outcome{}, &Undetermined{ReasonNoSandbox, errors.New("forbidden")}), false, 0, "no-sandbox: forbidden"},
		"broken":            {outcome(Outcome{}, errors.New("no pipe")), false, 0, "scorer-error: no pipe"},
		"panics":            {func(Program, []byte) (Outcome, error) { panic("oh") }, false, 0, "scorer-error: panic: oh"},
	} {
		s := programScore(t, &fakeRunner{run: tc.run}, `"code"`, `"tests":"assert f(2) == 4"`, "def f(x): return x*x")
		if s.Scored != tc.scored || s.Value != tc.value || !strings.Contains(s.Reason, tc.reason) {
			t.Errorf("%s: %+v, want %v %v %q", name, s, tc.scored, tc.value, tc.reason)
		}
	}
}

// Without anything that runs programs an answer has no value, and an answer
// without code is 0 all the same.
func TestCodeWithoutRunner(t *testing.T) {
	s := programScore(t, nil, `"code"`, `"tests":"assert f(2) == 4"`, "def f(x): return x*x")
	if s.Scored || !strings.HasPrefix(s.Reason, "no-sandbox: ") {
		t.Errorf("%+v", s)
	}
	for _, empty := range []string{"", " \n", "```python\n```", "```sql\nselect 1\n```"} {
		s := programScore(t, nil, `"code"`, `"tests":"assert f(2) == 4"`, empty)
		if !s.Scored || s.Value != 0 || s.Reason != "no python code in the answer" {
			t.Errorf("%q: %+v", empty, s)
		}
	}
}

func TestExtract(t *testing.T) {
	two := "First:\n```python\na = 1\n```\nthen\n```sh\npip install x\n```\nand\n~~~py\nb = 2\n~~~\n"
	for _, tc := range []struct{ text, blocks, want string }{
		{"def f(): pass", "all", "def f(): pass"},
		{two, "all", "a = 1\nb = 2"},
		{two, "first", "a = 1"},
		{two, "last", "b = 2"},
		{"```\nx\n```", "all", "x"},
		{"```python title=\"x\"\nx\n```", "all", "x"},
		{"```Python\nx\n```", "all", "x"},
		{"````python\n```\ninner\n```\n````", "all", "```\ninner\n```"},
		{"```python\nx = '''\n``` no end\n'''\n```", "all", "x = '''\n``` no end\n'''"},
		{"```python\ncut = 1", "all", "cut = 1"},
		{"  ```python\n  x\n  ```", "all", "  x"},
		{"```python\r\nx\r\n```\r\n", "all", "x"},
		{"```x``` is inline", "all", "```x``` is inline"},
		{"```python\nx\n```", "none", "```python\nx\n```"},
		{"```rust\nx\n```", "all", ""},
		{"", "all", ""},
	} {
		if got := extract(tc.text, "python", tc.blocks); got != tc.want {
			t.Errorf("%s %q: %q, want %q", tc.blocks, tc.text, got, tc.want)
		}
	}
}

func TestCodeHarness(t *testing.T) {
	r := &fakeRunner{run: done}
	s := programScore(t, r, `"code"`, `"tests":{"before":"import math","source":"assert f()"}`, "def f(): return 1")
	if !s.Scored || s.Value != 1 {
		t.Fatalf("%+v", s)
	}
	var names []string
	for _, f := range r.ran[0].Files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"main.py", "answer.py", "tests.py"}, names); diff != "" {
		t.Error(diff)
	}
	if got := string(r.ran[0].Files[1].Data); got != "import math\ndef f(): return 1\n" {
		t.Errorf("answer.py is %q", got)
	}
	if diff := cmp.Diff([]string{"/work/main.py"}, r.ran[0].Args); diff != "" {
		t.Error(diff)
	}
	first := tokenIn(r.ran[0])
	programScore(t, r, `"code"`, `"tests":"assert f()"`, "def f(): return 2")
	if first == "" || tokenIn(r.ran[1]) == first {
		t.Errorf("two answers have the token %q", first)
	}
}

func TestCodeCases(t *testing.T) {
	const double = `"tests":[{"stdin":"1\n","stdout":"2\n"},{"stdin":"2\n","stdout":"4"},{"stdin":"","stdout":"0"}]`
	echo := func(_ Program, stdin []byte) (Outcome, error) { // right for two cases
		switch string(stdin) {
		case "1\n":
			return Outcome{Stdout: []byte("2  \r\n\n")}, nil
		case "2\n":
			return Outcome{Stdout: []byte("5\n")}, nil
		}
		return Outcome{Stdout: []byte("0")}, nil
	}
	r := &fakeRunner{run: echo}
	s := programScore(t, r, `"code"`, double, "print(2*int(input()))")
	if s.Value != 0 || s.Reason != `1 of 3 cases; case 2: printed "5", want "4"` || len(r.ran) != 2 {
		t.Errorf("%+v after %d runs", s, len(r.ran))
	}
	s = programScore(t, r, withParams("code", `"partial":true`), double, "x")
	if s.Value != 2.0/3 || s.Reason != `2 of 3 cases; case 2: printed "5", want "4"` {
		t.Errorf("%+v", s)
	}
	r.run = func(Program, []byte) (Outcome, error) { return Outcome{Limit: LimitWall}, nil }
	if s := programScore(t, r, withParams("code", `"partial":true`), double, "x"); s.Scored {
		t.Errorf("a share of cases without a value: %+v", s)
	}
}

func TestCodeItemErrors(t *testing.T) {
	for _, tc := range []struct{ params, fields, want string }{
		{``, `"answer":"x"`, `the item has no "tests"`},
		{``, `"tests":""`, `"tests" is empty`},
		{``, `"tests":[]`, `"tests" is empty`},
		{``, `"tests":{"sorce":"x"}`, `"tests":`},
		{``, `"tests":{"before":"x"}`, `"tests" is empty`},
		{``, `"tests":[{"stdin":"x"}]`, `case 1 has no stdout`},
		{``, `"tests":[{"stdin":"x","stdout":" \n"}]`, `a program that does nothing would pass`},
		{`"partial":true`, `"tests":"x"`, `no list of cases`},
		{`"language":"cobol"`, `"tests":"x"`, `"cobol" is not one of python, node, sh`},
		{`"language":""`, `"tests":"x"`, `"" is not one of`},
		{`"module":"m.wasm"`, `"tests":"x"`, `module is given without sha256`},
		{`"module":"m.wasm","sha256":"12"`, `"tests":"x"`, `sha256: digest`},
		{`"sha256":"12"`, `"tests":"x"`, `without module`},
		{`"blocks":"middle"`, `"tests":"x"`, `"middle" is not one of`},
		{`"cpu":0`, `"tests":"x"`, `cpu: 0 is not a whole number`},
		{`"cpu":0.5`, `"tests":"x"`, `cpu: 0.5 is not a whole number`},
		{`"cpu":60`, `"tests":"x"`, `wall (1m0s) is not above cpu`},
		{`"memory":-1`, `"tests":"x"`, `memory: -1 is negative`},
		{`"memory":1e30`, `"tests":"x"`, `memory: 1e30 is not`},
		{`"processes":0`, `"tests":"x"`, `processes: 0 is not`},
	} {
		_, err := programCompiler(t, nil).Compile(itemOf(t, withParams("code", tc.params), tc.fields))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %s", tc.params, tc.fields, err, tc.want)
		}
	}
	if err := items.Read(strings.NewReader(`{"id":"a","input":"q","scorer":"code","tests":3}`), nil); err == nil || !strings.Contains(err.Error(), "tests: 3 is not allowed") {
		t.Errorf("tests that are a number: %v", err)
	}
}

// An item set alone runs nothing: the campaign must name the scorer.
func TestProgramsNeedConsent(t *testing.T) {
	for _, scorer := range []string{"code", "exec"} {
		c := compiler(t)
		c.Use(t.Context(), &fakeRunner{})
		_, err := c.Compile(itemOf(t, `"`+scorer+`"`, `"tests":"x"`))
		if err == nil || !strings.Contains(err.Error(), "the campaign does not name it") {
			t.Errorf("%s: %v", scorer, err)
		}
	}
}

// A stage that runs programs has their interpreters in its keys and in its
// summaries; one that does not has neither.
func TestRuntimesAreRecorded(t *testing.T) {
	campaign := func(scorers map[string]map[string]any) *spec.Campaign {
		return &spec.Campaign{Candidates: map[string]spec.Candidate{"c": {}},
			Measure: map[string]spec.Workload{"w": {Quality: &spec.Quality{Stratify: "task", Scorers: scorers}}}}
	}
	stage := Stage{Programs: &fakeRunner{run: done}}
	plain := string(stage.Steps(campaign(nil))[0].Params)
	with := stage.Steps(campaign(map[string]map[string]any{"code": {}}))[0].Params
	without := string(Steps(campaign(map[string]map[string]any{"code": {}}))[0].Params)
	if strings.Contains(plain, "runtimes") || !strings.Contains(string(with), "sha256:abc") || !strings.Contains(without, `"sandbox":"none"`) {
		t.Errorf("params:\n%s\n%s\n%s", plain, with, without)
	}
	job := &fakeJob{params: with, outputs: map[string]*bytes.Buffer{}, inputs: map[string]string{
		inItems:     `{"id":"a","input":"q","strata":{"task":"x"},"scorer":"code","tests":"assert f()"}`,
		inResponses: response("a", 0, `"text":"def f(): return 1"`)}}
	if err := stage.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var sum evidence.ScoreSummary
	if err := json.Unmarshal(job.outputs[evidence.OutSummary].Bytes(), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Scorers["code"] != "1; python 3.99 sha256:abc" || *sum.Overall.Mean.Value != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestCheckSaysWhatIsMissing(t *testing.T) {
	for want, tc := range map[string]struct {
		have    map[string]string
		scorers map[string]map[string]any
	}{
		"scorers.code: there is no sandbox here: forbidden": {map[string]string{"sandbox": "none: forbidden"}, map[string]map[string]any{"code": {}}},
		"scorers.code: node: none: not installed":           {map[string]string{"node": "none: not installed"}, map[string]map[string]any{"code": {"language": "node"}}},
		"": {map[string]string{"sandbox": "none: forbidden"}, map[string]map[string]any{"exec": {"trust": true}, "exact": {}}},
	} {
		errs := Stage{Programs: having(tc.have)}.checkRuntimes(tc.scorers)
		if got := fmt.Sprint(errors.Join(errs...)); want == "" && len(errs) > 0 || !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s, want %s", tc, got, want)
		}
	}
}

type haveRunner struct {
	fakeRunner
	have map[string]string
}

func having(have map[string]string) Runner        { return &haveRunner{have: have} }
func (h *haveRunner) Runtimes() map[string]string { return h.have }

// Whatever a program does, a value is in [0,1] or there is none.
func TestCodeIsTotal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := Outcome{
			Exit:   rapid.IntRange(0, 255).Draw(rt, "exit"),
			Limit:  rapid.SampledFrom([]Limit{"", LimitCPU, LimitWall, LimitMemory, LimitProcesses, LimitOutput}).Draw(rt, "limit"),
			Stdout: []byte(snippet.Draw(rt, "stdout")), Stderr: []byte(snippet.Draw(rt, "stderr")),
		}
		text := strings.Join(rapid.SliceOfN(snippet, 0, 5).Draw(rt, "text"), "\n")
		for _, fields := range []string{`"tests":"assert f()"`, `"tests":[{"stdout":"yes"},{"stdin":"1","stdout":"1.5"}]`} {
			r := &fakeRunner{run: func(Program, []byte) (Outcome, error) { return o, nil }}
			s := programScore(t, r, `"code"`, fields, text)
			again := programScore(t, r, `"code"`, fields, text)
			if s != again || s.Reason == "" || !(s.Value >= 0 && s.Value <= 1) || !s.Scored && o.Limit != LimitWall {
				rt.Fatalf("%+v %q: %+v, then %+v", o, text, s, again)
			}
		}
	})
}

func FuzzExtract(f *testing.F) {
	f.Add("```python\nx\n```\n~~~\ny", "python", "all")
	f.Fuzz(func(t *testing.T, text, language, which string) {
		got := extract(text, language, which)
		if len(got) > len(text) {
			t.Errorf("%q: more code than text: %q", text, got)
		}
	})
}

func FuzzTestsOf(f *testing.F) {
	for _, s := range []string{`"x"`, `{"before":"a","source":"b"}`, `[{"stdin":"1","stdout":"2"}]`, `[]`, `{`, `[null]`, `[{"stdout":null}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) == 0 {
			return
		}
		tests, err := testsOf(&items.Item{Tests: raw})
		if err == nil && strings.TrimSpace(tests.Source) == "" && len(tests.Cases) == 0 {
			t.Errorf("%q: nothing to test, and no error", raw)
		}
	})
}
