package gen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/score"
)

// perfect answers from the reference, as a model would that makes no mistake.
func perfect(t *testing.T, it *items.Item) score.Output {
	t.Helper()
	var out score.Output
	for _, c := range it.ExpectTool {
		out.ToolCalls = append(out.ToolCalls, llm.ToolCall{Name: c.Name, Arguments: string(c.Arguments)})
	}
	if it.Answer == nil {
		return out
	}
	var one string
	var list []string
	switch {
	case json.Unmarshal(it.Answer, &one) == nil:
		out.Text = one
	case asText(it) && json.Unmarshal(it.Answer, &list) == nil:
		out.Text = list[0]
	default:
		out.Text = string(it.Answer)
	}
	return out
}

// asText reports whether an answer that is a list lists accepted texts.
func asText(it *items.Item) bool {
	for _, s := range it.Scorer {
		if strings.HasPrefix(s.Name, "json") {
			return false
		}
	}
	return true
}

func scored(t *testing.T, c *score.Compiler, it *items.Item, out score.Output) float64 {
	t.Helper()
	compiled, err := c.Compile(it)
	if err != nil {
		t.Fatalf("%s: %v", it.ID, err)
	}
	s := compiled.Score(out)
	if !s.Scored {
		t.Errorf("%s: no value: %s", it.ID, s.Reason)
	}
	return s.Value
}

// Who answers from the reference is right everywhere.
func TestOracle(t *testing.T) {
	for _, name := range Names() {
		c := score.Looking()
		for _, it := range build(t, name).Items {
			if v := scored(t, c, &it, perfect(t, &it)); v != 1 {
				t.Errorf("%s %s: the reference has the value %v", name, it.ID, v)
			}
		}
	}
}

// Who says nothing, rubbish, or what was said to him is right nowhere.
func TestGarbage(t *testing.T) {
	for _, name := range Names() {
		c := score.Looking()
		for _, it := range build(t, name).Items {
			for i, out := range garbage(&it) {
				if v := scored(t, c, &it, out); v != 0 {
					t.Errorf("%s %s: rubbish %d has the value %v: %.80q %v", name, it.ID, i, v, out.Text, out.ToolCalls)
				}
			}
		}
	}
}

func garbage(it *items.Item) []score.Output {
	var all []string
	for _, m := range it.Turns() {
		all = append(all, m.Content)
	}
	last := it.Input[len(it.Input)-1].Content
	out := []score.Output{}
	for _, text := range []string{"", " ", "{}", "[]", "null", "I do not know.", "Sorry, I cannot help with that.", last, all[0], strings.Join(all, "\n"), "MISSING", "MISSING:", "0", "yes"} {
		out = append(out, score.Output{Text: text})
	}
	var tools []struct {
		Function struct{ Name string } `json:"function"`
	}
	_ = json.Unmarshal(it.Tools, &tools) // absent where there are none
	for _, tool := range tools {
		out = append(out, score.Output{ToolCalls: []llm.ToolCall{{Name: tool.Function.Name, Arguments: "{}"}}})
	}
	return out
}

// chances are what the READMEs say: the largest number of items that one and
// the same answer is right for.
var chances = map[string]int{"functional-gate": 3, "planning": 1, "needle": 1, "long-tools": 1, "tool-use": 3, "multimodal-smoke": 1}

// No answer is right for many items.
func TestConstantAnswers(t *testing.T) {
	for _, name := range Names() {
		list, c := build(t, name).Items, score.Looking()
		most, best := 0, ""
		seen := map[string]bool{}
		for i := range list {
			out := perfect(t, &list[i])
			key := fmt.Sprint(out.Text, out.ToolCalls)
			if seen[key] {
				continue
			}
			seen[key] = true
			if n := rightFor(t, c, list, out); n > most {
				most, best = n, key
			}
		}
		if most > chances[name] {
			t.Errorf("%s: %q is right for %d of %d items", name, best, most, len(list))
		}
		t.Logf("%s: one answer is right for at most %d of %d items: %.60q", name, most, len(list), best)
	}
}

func rightFor(t *testing.T, c *score.Compiler, list []items.Item, out score.Output) (n int) {
	for i := range list {
		n += int(scored(t, c, &list[i], out))
	}
	return n
}
