package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaLine is what a line of both of Ollama's own streams has, and the whole
// answer too. Zero counts are left out by the server, so absent is not zero.
type ollamaLine struct {
	Model         string         `json:"model"`
	Done          bool           `json:"done"`
	DoneReason    string         `json:"done_reason"`
	Error         jsontext.Value `json:"error"`
	Logprobs      jsontext.Value `json:"logprobs"`
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
	var l struct {
		ollamaLine `json:",inline"`
		Message    ollamaMessage `json:"message"`
	}
	if err := json.Unmarshal(payload, &l); err != nil {
		return err
	}
	d.line(&l.ollamaLine, &l.Message, e)
	return nil
}

// line takes one line with the message that it brings.
func (d *decoding) line(l *ollamaLine, m *ollamaMessage, e event) {
	if present(l.Error) {
		d.failure = inBand(messageIn(l.Error))
		return
	}
	d.model(l.Model)
	for i := range m.ToolCalls {
		d.calls.addWhole(&m.ToolCalls[i])
	}
	d.output(m.Content, m.Thinking, len(m.ToolCalls) > 0, e)
	d.resp.Logprobs = appendLogprobs(d.resp.Logprobs, l.Logprobs)
	if !l.Done {
		return
	}
	d.finish(l.DoneReason)
	d.finished, d.ended = true, e.at
	d.resp.Usage = ollamaUsage(l)
	if s := (ServerTimes{Total: max(l.TotalDuration, 0), Load: max(l.LoadDuration, 0),
		PromptEval: max(l.PromptEvalDur, 0), Eval: max(l.EvalDuration, 0)}); s != (ServerTimes{}) {
		d.resp.Server = &s
	}
}

func ollamaUsage(l *ollamaLine) *Usage {
	var u Usage
	ok := count(l.PromptTokens, &u.PromptTokens) && count(l.OutputTokens, &u.OutputTokens)
	if !ok || u == (Usage{}) {
		return nil
	}
	return &u
}
