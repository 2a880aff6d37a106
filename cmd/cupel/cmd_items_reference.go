package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/score"
)

// selfCheck scores an item's own reference with the item's scorers: one that
// does not get 1 marks every right answer wrong.
type selfCheck struct{ compiler *score.Compiler }

func newSelfCheck() *selfCheck { return &selfCheck{score.Looking()} }

func (s *selfCheck) findings(it *items.Item) []suite.Finding {
	if _, err := s.compiler.Compile(it); err != nil {
		return []suite.Finding{{Code: suite.CodeScorer, Text: err.Error()}}
	}
	for _, ref := range it.Scorer {
		answers, ok := ownAnswers[ref.Name]
		if !ok {
			continue
		}
		one := *it
		one.Scorer = items.Scorers{ref}
		compiled, err := s.compiler.Compile(&one)
		if err != nil {
			continue // said above
		}
		for _, out := range answers(it, ref) {
			if sc := compiled.Score(out); !sc.Scored || sc.Value != 1 {
				return []suite.Finding{{Code: suite.CodeSelf, Text: fmt.Sprintf("its own answer gets %s from %s: %s", scoreText(sc), ref.Name, sc.Reason)}}
			}
		}
	}
	return nil
}

func scoreText(s score.Score) string {
	if !s.Scored {
		return "no score"
	}
	return fmt.Sprint(s.Value)
}

// ownAnswers says by scorer which outputs a reference makes, each of which is
// right. Scorers whose reference is no answer (an expression, a schema, a
// rubric, tests) are not here.
var ownAnswers = map[string]func(*items.Item, items.ScorerRef) []score.Output{
	"exact":                 eachText,
	"numeric":               asJSONText,
	"compat/numeric":        asJSONText,
	"choice":                asLetter,
	"contains":              eachText,
	"contains_any":          eachText,
	"contains_all":          allTexts,
	"required_facts":        allFacts,
	"compat/required_facts": allFacts,
	"json_equal":            asJSON,
	"json_schema":           asEqualJSON,
	"tool_call":             asCalls,
}

// answerTexts are the texts of an answer that is a text or a list of texts.
func answerTexts(it *items.Item) (out []string) {
	var one string
	if json.Unmarshal(it.Answer, &one) == nil {
		return []string{one}
	}
	if json.Unmarshal(it.Answer, &out) != nil {
		return nil
	}
	return out
}

func eachText(it *items.Item, _ items.ScorerRef) (out []score.Output) {
	for _, t := range answerTexts(it) {
		out = append(out, score.Output{Text: t})
	}
	return out
}

// asLetter: with a pattern of its own, a letter alone is no answer.
func asLetter(it *items.Item, ref items.ScorerRef) []score.Output {
	if _, own := ref.Params["pattern"]; own {
		return nil
	}
	return eachText(it, ref)
}

func allTexts(it *items.Item, _ items.ScorerRef) []score.Output {
	if texts := answerTexts(it); texts != nil {
		return []score.Output{{Text: strings.Join(texts, "\n")}}
	}
	return nil
}

func allFacts(it *items.Item, _ items.ScorerRef) []score.Output {
	return []score.Output{{Text: strings.Join(it.Facts, "\n")}}
}

// asJSONText writes a number as it stands, and a text without quotes.
func asJSONText(it *items.Item, _ items.ScorerRef) []score.Output {
	if it.Answer == nil {
		return nil
	}
	return []score.Output{{Text: answerText(it.Answer)}}
}

func asJSON(it *items.Item, _ items.ScorerRef) []score.Output {
	if it.Answer == nil {
		return nil
	}
	return []score.Output{{Text: string(it.Answer)}}
}

// asEqualJSON: where the answer must equal one value and satisfy a schema, that
// value must.
func asEqualJSON(it *items.Item, ref items.ScorerRef) []score.Output {
	for _, s := range it.Scorer {
		if s.Name == "json_equal" {
			return asJSON(it, ref)
		}
	}
	return nil
}

// asCalls makes the calls that are expected. Where any arguments will do, there
// is one that says nothing about the tool: none.
func asCalls(it *items.Item, _ items.ScorerRef) []score.Output {
	var out score.Output
	for _, c := range it.ExpectTool {
		out.ToolCalls = append(out.ToolCalls, llm.ToolCall{Name: c.Name, Arguments: string(c.Arguments)})
	}
	return []score.Output{out}
}
