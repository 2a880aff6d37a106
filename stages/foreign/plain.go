package foreign

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// plainRow is one line of the simplest form. Names that mean the same are
// alternatives; what a writer adds beside them is counted and not used.
type plainRow struct {
	ID        jsontext.Value            `json:"id"`
	Output    jsontext.Value            `json:"output"`
	Sample    int                       `json:"sample"`
	Repeat    *int                      `json:"repeat"`
	Finish    string                    `json:"finish"`
	Finish2   string                    `json:"finish_reason"`
	Reasoning string                    `json:"reasoning"`
	ToolCalls []openAICall              `json:"tool_calls"`
	Model     string                    `json:"model"`
	Candidate string                    `json:"candidate"`
	Usage     *openAIUsage              `json:"usage"`
	Error     jsontext.Value            `json:"error"`
	Score     jsontext.Value            `json:"score"`
	Target    jsontext.Value            `json:"target"`
	Rest      map[string]jsontext.Value `json:",embed"`
}

func parsePlain(line []byte, o Options) ([]Row, error) {
	var p plainRow
	plain, err := decode(line, &p)
	if err != nil {
		return nil, err
	}
	row := Row{notJSON: !plain, Candidate: p.Candidate, Target: p.Target, unused: sortedKeys(p.Rest)}
	if o.ID == "" && !isNull(p.ID) {
		if row.ID, err = idText(p.ID); err != nil {
			return nil, fmt.Errorf("id: %w", err)
		}
	}
	if err := setID(&row, line, o, "id"); err != nil {
		return nil, err
	}
	row.Sample, row.Repeat = p.Sample, RepeatUnknown
	if p.Repeat != nil {
		row.Repeat = *p.Repeat
	}
	if p.Sample < 0 || row.Repeat < RepeatUnknown || p.Repeat != nil && *p.Repeat < 0 {
		return nil, errors.New("sample and repeat count from 0")
	}
	row.Reasoning, row.Model, row.ToolCalls, row.Usage = p.Reasoning, p.Model, openAICalls(p.ToolCalls), p.Usage.usage()
	if row.Finish = p.Finish; row.Finish == "" {
		row.Finish = p.Finish2
	}
	row.output(p.Output, p.Error)
	if p.Score != nil {
		row.Theirs = theirs("score", p.Score)
	}
	return []Row{row}, nil
}

// output puts an output in place. Null is not an empty answer, and a value that
// is no text is scored as its JSON.
func (r *Row) output(v, failure jsontext.Value) {
	switch {
	case !isNull(failure):
		r.Failure = failed(ClassToolError, message(failure))
	case isNull(v) && r.ToolCalls == nil:
		r.Failure = failed(ClassNoOutput, "the output is null")
	case isNull(v):
	case v.Kind() == '"':
		r.Text = text(v)
	default:
		r.Text, r.asJSON = compact(v), true
	}
}

// message words an error that is a text, an object with a message, or else.
func message(v jsontext.Value) string {
	if v.Kind() == '"' {
		return text(v)
	}
	if m, err := field(v, "message"); err == nil && text(m) != "" {
		return text(m)
	}
	return compact(v)
}

// openAIUsage is the token count of OpenAI's APIs, in either of their words.
type openAIUsage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

func (u *openAIUsage) usage() *llm.Usage {
	if u == nil {
		return nil
	}
	out := &llm.Usage{PromptTokens: u.Prompt, OutputTokens: u.Completion, ReasoningTokens: u.Reasoning}
	if out.PromptTokens == nil {
		out.PromptTokens = u.Input
	}
	if out.OutputTokens == nil {
		out.OutputTokens = u.Output
	}
	if out.PromptTokens == nil && out.OutputTokens == nil {
		return nil
	}
	return out
}
