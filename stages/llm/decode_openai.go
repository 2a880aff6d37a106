package llm

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatChunk is one event of an OpenAI-compatible stream, or the whole answer
// when it does not stream. A null is an empty value everywhere.
type chatChunk struct {
	Object  string         `json:"object"`
	Model   string         `json:"model"`
	Choices []chatChoice   `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Timings *llamaTimings  `json:"timings"`
}

type chatChoice struct {
	Index        int64     `json:"index"`
	Delta        chatDelta `json:"delta"`
	Message      chatDelta `json:"message"`
	FinishReason string    `json:"finish_reason"`
}

type chatDelta struct {
	Content          string      `json:"content"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	Thinking         string      `json:"thinking"`
	ToolCalls        []toolDelta `json:"tool_calls"`
}

// reasoning is the first of the three spellings that is not empty. Some
// servers send the same text under two of them.
func (d *chatDelta) reasoning() string {
	for _, s := range []string{d.ReasoningContent, d.Reasoning, d.Thinking} {
		if s != "" {
			return s
		}
	}
	return ""
}

// llamaTimings are llama.cpp's own durations in milliseconds.
type llamaTimings struct {
	PromptMS    float64 `json:"prompt_ms"`
	PredictedMS float64 `json:"predicted_ms"`
}

func (d *decoding) openAI(payload []byte, e event) error {
	var c chatChunk
	if err := json.Unmarshal(payload, &c); err != nil {
		return err
	}
	if present(c.Error) || c.Object == "error" {
		d.failure = inBand(failedWords(payload))
		return nil
	}
	d.model(c.Model)
	usage := readUsage(c.Usage)
	if usage != nil {
		d.resp.Usage = usage
	}
	first := d.resp.Times.FirstOutput == never
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			d.choice(&c.Choices[i], e)
		}
	}
	if first && d.resp.Times.FirstOutput != never && usage != nil && usage.OutputTokens != nil {
		d.resp.FirstChunkToks = int(*usage.OutputTokens)
	}
	if t := c.Timings; t != nil {
		d.resp.Server = &ServerTimes{PromptEval: fromMS(t.PromptMS), Eval: fromMS(t.PredictedMS)}
	}
	if !d.stream {
		d.ended = e.at // a whole document is complete, even without a finish reason
	}
	return nil
}

// choice takes the one choice that was asked for.
func (d *decoding) choice(c *chatChoice, e event) {
	m := &c.Delta
	if !d.stream {
		m = &c.Message
	}
	tool := false
	for i := range m.ToolCalls {
		tool = d.calls.add(&m.ToolCalls[i]) || tool
	}
	d.output(m.Content, m.reasoning(), tool, e)
	d.finish(c.FinishReason)
}

// fromMS converts a duration; anything that is not a sensible one is "not reported".
func fromMS(ms float64) int64 {
	if !(ms > 0) || ms > float64(1000*time.Hour/time.Millisecond) {
		return 0
	}
	return int64(ms * float64(time.Millisecond))
}
