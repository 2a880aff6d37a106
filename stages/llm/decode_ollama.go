package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaLine is one line of an Ollama chat stream, or its whole answer. Zero
// counts are left out by the server, so absent is not zero.
type ollamaLine struct {
	Model         string         `json:"model"`
	Message       ollamaMessage  `json:"message"`
	Done          bool           `json:"done"`
	DoneReason    string         `json:"done_reason"`
	Error         jsontext.Value `json:"error"`
	PromptTokens  jsontext.Value `json:"prompt_eval_count"`
	OutputTokens  jsontext.Value `json:"eval_count"`
	TotalDuration int64          `json:"total_duration"`
	LoadDuration  int64          `json:"load_duration"`
	PromptEvalDur int64          `json:"prompt_eval_duration"`
	EvalDuration  int64          `json:"eval_duration"`
}

type ollamaMessage struct {
	Content   string      `json:"content"`
	Thinking  string      `json:"thinking"`
	ToolCalls []toolDelta `json:"tool_calls"`
}

func (d *decoding) ollama(payload []byte, e event) error {
	var l ollamaLine
	if err := json.Unmarshal(payload, &l); err != nil {
		return err
	}
	if present(l.Error) {
		d.failure = inBand(messageIn(l.Error))
		return nil
	}
	d.model(l.Model)
	for i := range l.Message.ToolCalls {
		d.calls.addWhole(&l.Message.ToolCalls[i])
	}
	d.output(l.Message.Content, l.Message.Thinking, len(l.Message.ToolCalls) > 0, e)
	if !l.Done {
		return nil
	}
	d.finish(l.DoneReason)
	d.finished, d.ended = true, e.at
	d.resp.Usage = ollamaUsage(&l)
	if s := (ServerTimes{Total: max(l.TotalDuration, 0), Load: max(l.LoadDuration, 0),
		PromptEval: max(l.PromptEvalDur, 0), Eval: max(l.EvalDuration, 0)}); s != (ServerTimes{}) {
		d.resp.Server = &s
	}
	return nil
}

func ollamaUsage(l *ollamaLine) *Usage {
	var u Usage
	ok := count(l.PromptTokens, &u.PromptTokens) && count(l.OutputTokens, &u.OutputTokens)
	if !ok || u == (Usage{}) {
		return nil
	}
	return &u
}
