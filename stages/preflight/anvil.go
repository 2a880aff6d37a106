package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// The prompts and pass rules of another tool, for comparing with what it said.
// They are weaker than cupel's own: values are not checked, lengths not counted.
const (
	anvilSmoke     = "Write a Python one-liner that returns the sum of a list `xs`."
	anvilSmokeWant = "sum("
	anvilJSON      = `Return ONLY a JSON object: {"language":"python","ok":true}. No prose.`

	anvilNeedleTokens = 128000
	anvilNominal      = "The engineers continued routine checks while the telemetry stayed nominal. "
	anvilNominalWords = 10
	anvilSecret       = "ZEBRA-42917-QUARTZ"
	anvilAt           = 0.58

	anvilArchived      = "Archived repository telemetry remained nominal during this interval. "
	anvilArchivedWords = 8

	anvilContract  = "You are a coding specialist agent. Follow the harness contract.\n"
	anvilContracts = 400
	anvilWeather   = "What's the weather in Oakland? Use the tool."
)

// anvil asks as that tool does: greedily, without a system prompt, and not as a
// stream.
func (s *session) anvil(prompt string) llm.Request {
	return llm.Request{
		Messages:  []llm.Message{{Role: "user", Content: prompt}},
		Reasoning: s.control(),
		NoStream:  true,
		Sampling:  llm.Sampling{TopP: s.Sampling.TopP, Seed: s.Sampling.Seed, MaxTokens: leastVisible + s.headroom()},
	}
}

// anvilJSONWrong wants the text from the first brace to the last to be an object
// with the key language. Its value may be any.
func anvilJSONWrong(text string) string {
	first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if first < 0 || last < first {
		return "the answer holds no object"
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text[first:last+1]), &got); err != nil {
		return "what stands between the first brace and the last is not JSON"
	}
	if _, ok := got["language"]; !ok {
		return `the object has no key "language"`
	}
	return ""
}

// anvilNeedleText has as many words as three quarters of the tokens that are
// wanted. What they come to is not looked at.
func anvilNeedleText(tokens int) string {
	words := int(float64(tokens) * 0.75)
	text := strings.Repeat(anvilNominal, max(1, words/anvilNominalWords))
	at := int(float64(len(text)) * anvilAt)
	return text[:at] + "\n\nIMPORTANT: The launch code is " + anvilSecret + ".\n\n" + text[at:] +
		"\n\nWhat is the launch code? Reply with ONLY the code."
}

func (s *session) anvilNeedle(ctx context.Context) (evidence.Check, error) {
	tokens := anvilNeedleTokens
	if s.Needle != nil {
		tokens = s.Needle.PromptTokens
	}
	a, err := s.ask(ctx, question{what: "the request", request: s.anvil(anvilNeedleText(tokens))})
	if err != nil {
		return evidence.Check{}, err
	}
	c := a.check(func(a answer) string {
		bare := strings.NewReplacer("-", "", " ", "")
		if !strings.Contains(bare.Replace(a.Text), strings.ReplaceAll(anvilSecret, "-", "")) {
			return "the launch code is not in the answer"
		}
		return ""
	})
	wanted := float64(tokens)
	c.Measured = []evidence.Measured{counted("prompt_tokens", "tokens", promptTokens(&a.Response), &wanted)}
	return c, nil
}

func anvilArchive(tokens int) string {
	return strings.Repeat(anvilArchived, max(1, int(float64(tokens)*0.75)/anvilArchivedWords))
}

// anvilTool is the one tool that is offered.
var anvilTool = newTool("get_weather", "Get the weather of a city.", `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)

func (s *session) anvilTools() llm.Request {
	r := s.anvil(anvilWeather)
	r.Messages = append([]llm.Message{{Role: "system", Content: strings.Repeat(anvilContract, anvilContracts)}}, r.Messages...)
	r.Tools = definitions(anvilTool)
	return r
}

// anvilCallWrong looks at the first call alone.
func anvilCallWrong(r llm.Response) string {
	if why := leak(r.Text); why != "" {
		return why
	}
	if len(r.ToolCalls) == 0 {
		return "no call was made"
	}
	c := r.ToolCalls[0]
	if c.Name != anvilTool.name {
		return fmt.Sprintf("it calls %q, want %s", clip(c.Name, 64), anvilTool.name)
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil || args == nil {
		return "the arguments are not a JSON object"
	}
	if city, _ := args["city"].(string); city == "" {
		return "the city is not a text, or is empty"
	}
	return ""
}

func (s *session) anvilTurns() resultTurns {
	t := resultTurns{city: "Oakland", result: `{"city":"Oakland","temperature_f":72,"condition":"sunny"}`}
	t.first = s.anvilTools()
	t.first.Messages[1].Content = anvilWeather + " Reply exactly OAKLAND 72F using the tool result."
	t.wrong = func(text string) string {
		bare := strings.ReplaceAll(fold.String(text), " ", "")
		if !strings.Contains(bare, "oakland") || !strings.Contains(bare, "72f") {
			return "the answer does not hold OAKLAND and 72F"
		}
		return ""
	}
	return t
}
