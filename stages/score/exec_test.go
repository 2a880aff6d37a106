package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
)

var digest = strings.Repeat("ab", 32)

func execParamsText(more string) string {
	return `"program":"score.py","sha256":"` + digest + `","language":"python"` + more
}

func TestExec(t *testing.T) {
	for name, tc := range map[string]struct {
		line   string // that the program writes
		scored bool
		value  float64
		reason string
	}{
		"a value":        {`{"id":"i","value":0.25,"reason":"close"}`, true, 0.25, "close"},
		"no reason":      {`{"id":"i","value":1}`, true, 1, "the program gave no reason"},
		"zero":           {`{"id":"i","value":0,"reason":"wrong"}`, true, 0, "wrong"},
		"none":           {`{"id":"i","value":null,"reason":"cannot tell"}`, false, 0, "exec: cannot tell"},
		"none, silently": {`{"id":"i","value":null}`, false, 0, "scorer-error: score.py: the program gave no value and no reason"},
		"nothing":        {``, false, 0, `scorer-error: `},
		"no value":       {`{"id":"i","reason":"x"}`, false, 0, "scorer-error: "},
		"another item":   {`{"id":"j","value":1}`, false, 0, `scorer-error: `},
		"above":          {`{"id":"i","value":1.01}`, false, 0, "scorer-error: "},
		"below":          {`{"id":"i","value":-0.01}`, false, 0, "scorer-error: "},
		"a word":         {`{"id":"i","value":"1"}`, false, 0, "scorer-error: "},
		"true":           {`{"id":"i","value":true}`, false, 0, "scorer-error: "},
		"not a number":   {`{"id":"i","value":NaN}`, false, 0, "scorer-error: "},
		"infinite":       {`{"id":"i","value":1e999}`, false, 0, "scorer-error: "},
		"twice":          {`{"id":"i","value":1,"value":0}`, false, 0, "scorer-error: "},
		"more":           {`{"id":"i","value":1,"score":0}`, false, 0, "scorer-error: "},
		"two lines":      {`{"id":"i","value":1} {"id":"i","value":1}`, false, 0, "scorer-error: "},
	} {
		r := &fakeRunner{ask: func([]byte) ([]byte, error) { return []byte(tc.line), nil }}
		s := programScore(t, r, withParams("exec", execParamsText("")), `"answer":null`, "text")
		if s.Scored != tc.scored || s.Value != tc.value || !strings.HasPrefix(s.Reason, strings.Replace(tc.reason, "score.py: ", "", 1)) {
			t.Errorf("%s: %+v, want %v %v %q", name, s, tc.scored, tc.value, tc.reason)
		}
		if r.open != 0 {
			t.Errorf("%s: %d sessions are open after Close", name, r.open)
		}
	}
}

func TestExecQuestion(t *testing.T) {
	var asked map[string]any
	r := &fakeRunner{ask: func(line []byte) ([]byte, error) {
		if strings.Contains(string(line), "\n") {
			t.Errorf("the line holds a line end: %q", line)
		}
		return []byte(`{"id":"i","value":1}`), json.Unmarshal(line, &asked)
	}}
	programScore(t, r, withParams("exec", execParamsText(`,"trust":true`)), `"answer":{"a":1},"facts":["f"],"strata":{"task":"x"}`, "two\nlines \xff")
	if asked["text"] != "two\nlines \uFFFD" || asked["id"] != "i" || fmt.Sprint(asked["answer"]) != "map[a:1]" || asked["input"] == nil {
		t.Errorf("asked %v", asked)
	}
	if p := r.ran[0]; !p.Trust || p.SHA256 != digest || p.Language != "python" || p.Path != "score.py" {
		t.Errorf("ran %+v", p)
	}
}

// One process serves all items; one that fails is started again, a few times.
func TestExecSessions(t *testing.T) {
	broken := false
	r := &fakeRunner{}
	r.ask = func(line []byte) ([]byte, error) {
		if broken {
			return nil, errors.New("it ended")
		}
		return []byte(`{"id":"i","value":1}`), nil
	}
	c := programCompiler(t, r)
	f, err := c.Compile(itemOf(t, withParams("exec", execParamsText("")), `"answer":1`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Compile(itemOf(t, withParams("exec", execParamsText("")), `"answer":2`))
	if err != nil {
		t.Fatal(err)
	}
	score := func(want bool, opens int) Score {
		t.Helper()
		f.Score(Output{})
		s := g.Score(Output{})
		if s.Scored != want || r.opens != opens {
			t.Errorf("%+v after %d starts, want %v after %d", s, r.opens, want, opens)
		}
		return s
	}
	score(true, 1)
	broken = true
	score(false, 2) // the first failed one is closed, the next is new
	broken = false
	score(true, 3)
	broken = true
	score(false, 4)
	s := score(false, 5)
	if s = g.Score(Output{}); !strings.Contains(s.Reason, "3 times in a row") || r.opens != 5 || r.open != 0 {
		t.Errorf("%+v after %d starts, %d open", s, r.opens, r.open)
	}
	if err := c.Close(); err != nil || r.open != 0 {
		t.Errorf("close: %v, %d open", err, r.open)
	}
}

func TestExecItemErrors(t *testing.T) {
	for params, want := range map[string]string{
		``:                                   "parameter program is missing",
		`"program":"a.py"`:                   "program is given without sha256",
		execParamsText(`,"language":"perl"`): `duplicate`,
		`"program":"a","sha256":"x"`:         "sha256: digest",
		`"program":"a","sha256":"` + digest + `","language":"perl"`: `"perl" is not one of`,
		`"program":"a","sha256":"` + digest + `","wall":0`:          "wall: 0 is not",
	} {
		var it = `{"id":"i","input":"q","answer":1,"scorer":` + withParams("exec", params) + `}`
		err := compileLine(t, it)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", params, err, want)
		}
	}
	r := &fakeRunner{fails: &Undetermined{ReasonNoSandbox, errors.New("forbidden")}}
	if s := programScore(t, r, withParams("exec", execParamsText("")), `"answer":1`, "x"); s.Scored || !strings.HasPrefix(s.Reason, "no-sandbox: ") {
		t.Errorf("%+v", s)
	}
}

func FuzzVerdict(f *testing.F) {
	for _, s := range []string{`{"id":"i","value":0.5,"reason":"x"}`, `{"id":"i","value":null,"reason":"x"}`, `{"id":"i","value":-0}`, `{`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		v, reason, err := readVerdict(line, "i")
		if err == nil && (!(v >= 0 && v <= 1) || reason == "") {
			t.Errorf("%q: %v %q", line, v, reason)
		}
	})
}

func compileLine(t *testing.T, line string) error {
	t.Helper()
	var compiled error
	err := items.Read(strings.NewReader(line), func(it items.Item) error {
		_, compiled = programCompiler(t, nil).Compile(&it)
		return nil
	})
	return errors.Join(err, compiled)
}
