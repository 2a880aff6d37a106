package guard

import (
	"strings"
	"testing"
)

var textVars = []TextVar{{"input", Text, ""}, {"turns", Whole, ""}, {"scorers", TextList, ""}, {"strata", TextMap, ""}}

func textEnv(t testing.TB) *TextEnv {
	t.Helper()
	env, err := NewText(textVars)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func textValues(input string) map[string]any {
	return map[string]any{"input": input, "turns": int64(2), "scorers": []string{"exact"}, "strata": map[string]string{"task": "sum"}}
}

func TestTextRules(t *testing.T) {
	for _, tt := range []struct{ rule, want, err string }{
		{`size(input) > 3 ? "long" : "short"`, "long", ""},
		{`turns > 1 ? "chat" : "single"`, "chat", ""},
		{`"exact" in scorers ? "e" : "other"`, "e", ""},
		{`has(strata.task) ? strata.task : "none"`, "sum", ""},
		{`input.matches("^w.r") ? "w" : ""`, "w", ""},
		{`string(turns)`, "2", ""},
		{`strata.language`, "", "no such key"},
		{`string(turns / (turns - 2))`, "", "division by zero"},
	} {
		p, err := textEnv(t).Compile(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Eval(textValues("words"))
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %q, %v; want %q, error %q", tt.rule, got, err, tt.want, tt.err)
		}
	}
}

func TestTextRefuses(t *testing.T) {
	for rule, want := range map[string]string{
		"":                               "rule:1:1: the rule is empty",
		"size(input) > 3":                "rule:1:1: the rule gives a bool, not a text; ",
		"size(input)":                    "rule:1:1: the rule gives a int, not a text; ",
		"inputs + \"x\"":                 "rule:1:1: there is no value named inputs; did you mean input?",
		`turns * 1.5 > 2.0 ? "a" : ""`:   "double(x) and int(x) convert",
		`size(input) > 3 ? "a"`:          "rule:1:",
		`input.matches("[") ? "a" : "b"`: "rule:1:",
		strings.Repeat("(", 99) + `"a"` + strings.Repeat(")", 99): "rule:1:",
	} {
		_, err := textEnv(t).Compile(rule)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", rule, err, want)
		}
	}
}

// TestTextCost: a rule of a stranger cannot work for ever.
func TestTextCost(t *testing.T) {
	p, err := textEnv(t).Compile(`scorers.all(a, scorers.all(b, scorers.all(c, a + b != c))) ? "x" : "y"`)
	if err != nil {
		t.Fatal(err)
	}
	vars := textValues("x")
	vars["scorers"] = strings.Split(strings.Repeat("a,", 200), ",")
	if _, err := p.Eval(vars); err == nil || !strings.Contains(err.Error(), "cost") {
		t.Errorf("no limit: %v", err)
	}
}
