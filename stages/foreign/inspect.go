package foreign

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// inspectSample is one sample at one epoch; its events are skipped.
type inspectSample struct {
	ID          jsontext.Value            `json:"id"`
	Epoch       int                       `json:"epoch"`
	Target      jsontext.Value            `json:"target"`
	Output      inspectOutput             `json:"output"`
	Scores      map[string]inspectScore   `json:"scores"`
	Score       *inspectScore             `json:"score"` // of version 1
	Error       jsontext.Value            `json:"error"`
	Limit       jsontext.Value            `json:"limit"`
	Attachments map[string]jsontext.Value `json:"attachments"`
}

type inspectOutput struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content   jsontext.Value `json:"content"`
			Reasoning string         `json:"reasoning"`
			ToolCalls []struct {
				ID        string         `json:"id"`
				Function  jsontext.Value `json:"function"`
				Arguments jsontext.Value `json:"arguments"`
			} `json:"tool_calls"`
		} `json:"message"`
		Stop string `json:"stop_reason"`
	} `json:"choices"`
	Usage *openAIUsage   `json:"usage"`
	Error jsontext.Value `json:"error"`
}

type inspectScore struct {
	Value jsontext.Value `json:"value"`
}

func walkInspect(r io.Reader, yield func([]byte) error) (version string, err error) {
	err = walk(r, map[string]func(*jsontext.Decoder) error{
		"/samples":                  elements(yield),
		"/eval/packages/inspect_ai": textAt(&version),
	})
	return version, err
}

// parseInspect reads one sample. Its id is the sample's, and an epoch is a
// repeat.
func parseInspect(raw []byte, o Options) ([]Row, error) {
	var s inspectSample
	plain, err := decode(raw, &s)
	if err != nil {
		return nil, err
	}
	row := Row{notJSON: !plain, Target: s.Target, Theirs: s.theirs()}
	if err := setID(&row, raw, o, "id"); err != nil {
		return nil, err
	}
	if s.Epoch < 1 {
		return nil, fmt.Errorf("epoch %d, want 1 or more", s.Epoch)
	}
	row.Repeat = s.Epoch - 1
	row.Model, row.Usage = s.Output.Model, s.Output.Usage.usage()
	switch {
	case !isNull(s.Error):
		row.Failure = failed(ClassToolError, message(s.Error))
	case !isNull(s.Output.Error):
		row.Failure = failed(ClassToolError, message(s.Output.Error))
	case len(s.Output.Choices) == 0:
		row.Failure = failed(ClassNoOutput, "the sample has no output")
	default:
		err = row.fromInspect(&s)
	}
	if !isNull(s.Limit) {
		row.Finish, row.cut = "length", true
	}
	return []Row{row}, err
}

func (r *Row) fromInspect(s *inspectSample) error {
	first := s.Output.Choices[0]
	r.more = len(s.Output.Choices) - 1
	if r.Finish = first.Stop; r.Finish == "max_tokens" || r.Finish == "model_length" {
		r.Finish = "length"
	}
	if r.Finish == "unknown" {
		r.Finish = ""
	}
	for _, c := range first.Message.ToolCalls {
		r.ToolCalls = append(r.ToolCalls, llm.ToolCall{ID: c.ID, Name: text(c.Function), Arguments: arguments(c.Arguments)})
	}
	said, err := readContent(first.Message.Content)
	if err != nil {
		return err
	}
	if r.Text, err = s.attached(said.text); err != nil {
		return err
	}
	r.Reasoning = first.Message.Reasoning + said.reasoning
	if said.none && r.ToolCalls == nil {
		r.Failure = failed(ClassNoOutput, "the content is null")
	}
	return nil
}

// attached puts in a text that the log keeps apart because it is long.
func (s *inspectSample) attached(t string) (string, error) {
	for _, scheme := range []string{"attachment://", "tc://"} {
		key, ok := strings.CutPrefix(t, scheme)
		if !ok || strings.ContainsAny(key, " \n") {
			continue
		}
		v, ok := s.Attachments[key]
		if !ok {
			return "", errors.New("the output is an attachment that the sample does not have")
		}
		return text(v), nil
	}
	return t, nil
}

func (s *inspectSample) theirs() []Their {
	var out []Their
	for _, name := range sortedKeys(s.Scores) {
		out = append(out, theirs(name, s.Scores[name].Value)...)
	}
	if s.Score != nil && len(out) == 0 {
		out = theirs("score", s.Score.Value)
	}
	return out
}
