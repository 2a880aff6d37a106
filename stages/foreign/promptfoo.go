package foreign

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// promptfooError is the failureReason of a row that got no output; 1 is an
// output that an assertion found wrong, which is an answer.
const promptfooError = 2

type promptfooRow struct {
	TestIdx   jsontext.Value            `json:"testIdx"`
	PromptIdx int                       `json:"promptIdx"`
	Vars      map[string]jsontext.Value `json:"vars"`
	Provider  jsontext.Value            `json:"provider"`
	TestCase  struct {
		Description string                    `json:"description"`
		Metadata    map[string]jsontext.Value `json:"metadata"`
		Assert      []jsontext.Value          `json:"assert"`
	} `json:"testCase"`
	Response *struct {
		Output    jsontext.Value `json:"output"`
		Error     jsontext.Value `json:"error"`
		Finish    string         `json:"finishReason"`
		Reasoning jsontext.Value `json:"reasoning"`
		Usage     *struct {
			Prompt     *int64 `json:"prompt"`
			Completion *int64 `json:"completion"`
		} `json:"tokenUsage"`
	} `json:"response"`
	Error   jsontext.Value `json:"error"`
	Failure int            `json:"failureReason"`
	Success jsontext.Value `json:"success"`
	Score   jsontext.Value `json:"score"`
	Named   jsontext.Value `json:"namedScores"`
	Grading *struct {
		Components []jsontext.Value `json:"componentResults"`
	} `json:"gradingResult"`
}

func walkPromptfoo(r io.Reader, yield func([]byte) error) (version string, err error) {
	err = walk(r, map[string]func(*jsontext.Decoder) error{
		"/results/results":           elements(yield),
		"/metadata/promptfooVersion": textAt(&version),
	})
	return version, err
}

// parsePromptfoo reads one result. Which item it belongs to is, in this order,
// vars.id, testCase.metadata.id, testCase.description or testIdx: with the
// last, each of promptfoo's repeats is an item of its own, as it is to
// promptfoo.
func parsePromptfoo(raw []byte, o Options) ([]Row, error) {
	var p promptfooRow
	plain, err := decode(raw, &p)
	if err != nil {
		return nil, err
	}
	row := Row{notJSON: !plain, Theirs: p.theirs(), Candidate: p.candidate()}
	row.Repeat = RepeatUnknown
	if err := setID(&row, raw, o, p.idField()); err != nil {
		return nil, err
	}
	failure := p.Error
	if p.Failure != promptfooError {
		failure = nil
	}
	if p.Response == nil {
		row.output(nil, failure)
		return []Row{row}, nil
	}
	row.Finish, row.Reasoning = p.Response.Finish, text(p.Response.Reasoning)
	if u := p.Response.Usage; u != nil && u.Completion != nil && *u.Completion > 0 {
		row.Usage = &llm.Usage{PromptTokens: u.Prompt, OutputTokens: u.Completion} // it writes 0 for what it was not told
	}
	if isNull(failure) && isNull(p.Response.Output) {
		failure = p.Response.Error
	}
	row.output(p.Response.Output, failure)
	return []Row{row}, nil
}

func (p *promptfooRow) idField() string {
	switch {
	case !isNull(p.Vars["id"]):
		return "vars.id"
	case !isNull(p.TestCase.Metadata["id"]):
		return "testCase.metadata.id"
	case p.TestCase.Description != "":
		return "testCase.description"
	}
	return "testIdx"
}

// candidate is the provider with the prompt, which together answered.
func (p *promptfooRow) candidate() string {
	id := text(p.Provider)
	if v, err := field(p.Provider, "id"); err == nil && v != nil {
		id = text(v)
	}
	if v, err := field(p.Provider, "label"); err == nil && text(v) != "" {
		id = text(v)
	}
	if p.PromptIdx > 0 {
		id += fmt.Sprintf("#%d", p.PromptIdx)
	}
	return id
}

// theirs are the score, whether the row passed, and the named scores. A test
// without assertions passes with score 1 there; it was not checked.
func (p *promptfooRow) theirs() []Their {
	if p.Grading == nil || len(p.TestCase.Assert) == 0 && len(p.Grading.Components) == 0 {
		return []Their{{Name: "score", Reason: "no assertion"}, {Name: "pass", Reason: "no assertion"}}
	}
	out := append(theirs("score", p.Score), theirs("pass", p.Success)...)
	if p.Named.Kind() == '{' {
		out = append(out, theirs("named", p.Named)...)
	}
	return out
}
