package llm

import (
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// openAIHead is what the events of both older OpenAI APIs have in common. A
// null is an empty value everywhere.
type openAIHead struct {
	Object  string         `json:"object"`
	Model   string         `json:"model"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Timings jsontext.Value `json:"timings"` // llama.cpp
	Stats   jsontext.Value `json:"stats"`   // LM Studio
}

// chatChunk is one event of an OpenAI-compatible stream, or the whole answer
// when it does not stream.
type chatChunk struct {
	openAIHead `json:",inline"`
	Choices    []chatChoice `json:"choices"`
}

type chatChoice struct {
	Index        int64          `json:"index"`
	Delta        chatDelta      `json:"delta"`
	Message      chatDelta      `json:"message"`
	FinishReason string         `json:"finish_reason"`
	Logprobs     jsontext.Value `json:"logprobs"`
}

type chatDelta struct {
	Content          string     `json:"content"`
	ReasoningContent string     `json:"reasoning_content"`
	Reasoning        string     `json:"reasoning"`
	Thinking         string     `json:"thinking"`
	ToolCalls        toolDeltas `json:"tool_calls"`
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

func (d *decoding) openAI(payload []byte, e event) error {
	var c chatChunk
	if err := json.Unmarshal(payload, &c); err != nil {
		return err
	}
	if d.begin(&c.openAIHead, payload) {
		first := d.resp.Times.FirstOutput == never
		for i := range c.Choices {
			if c.Choices[i].Index == 0 {
				d.choice(&c.Choices[i], e)
			}
		}
		d.conclude(&c.openAIHead, first, e)
	}
	return nil
}

// begin reads what stands before the choices; false = it is an error.
func (d *decoding) begin(h *openAIHead, payload []byte) bool {
	if present(h.Error) || h.Object == "error" {
		d.failure = inBand(failedWords(payload))
		return false
	}
	d.model(h.Model)
	return true
}

// conclude reads the counts and durations of an event whose choices have been
// read. first = no output had come before it. Counts that are sent in every
// event are running ones: those of the first output say how many tokens it
// carried, and the last ones stand.
func (d *decoding) conclude(h *openAIHead, first bool, e event) {
	usage := readUsage(h.Usage)
	if usage != nil {
		d.resp.Usage = usage
	}
	if first && d.resp.Times.FirstOutput != never && usage != nil && usage.OutputTokens != nil {
		d.resp.FirstChunkToks = int(*usage.OutputTokens)
	}
	if present(h.Timings) {
		d.timings(h.Timings)
	}
	if present(h.Stats) {
		d.stats(h.Stats)
	}
	if !d.stream {
		d.ended = e.at // a whole document is complete, even without a finish reason
	}
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
	d.resp.Logprobs = appendLogprobs(d.resp.Logprobs, c.Logprobs)
	d.finish(c.FinishReason)
}

// timings reads llama.cpp's own durations in milliseconds, and how much of the
// prompt it had in its cache when the usage does not say so. What is of another
// form is another engine's.
func (d *decoding) timings(v jsontext.Value) {
	var t struct {
		PromptMS    float64        `json:"prompt_ms"`
		PredictedMS float64        `json:"predicted_ms"`
		CacheN      jsontext.Value `json:"cache_n"`
	}
	if json.Unmarshal(v, &t) != nil {
		return
	}
	d.resp.Server = &ServerTimes{PromptEval: fromMS(t.PromptMS), Eval: fromMS(t.PredictedMS)}
	if u := d.resp.Usage; u != nil && u.CachedTokens == nil {
		count(t.CacheN, &u.CachedTokens)
	}
}

// stats reads LM Studio's own durations in seconds. Its time to the first
// token holds more than the evaluation of the prompt, and is not reported as
// that.
func (d *decoding) stats(v jsontext.Value) {
	var s struct {
		FirstToken float64 `json:"time_to_first_token"`
		Generation float64 `json:"generation_time"`
	}
	if json.Unmarshal(v, &s) != nil || s.Generation <= 0 {
		return
	}
	d.resp.Server = &ServerTimes{Eval: fromMS(1000 * s.Generation)}
	if s.FirstToken > 0 {
		d.resp.Server.Total = fromMS(1000*s.FirstToken) + d.resp.Server.Eval
	}
}

// fromMS converts a duration; anything that is not a sensible one is "not reported".
func fromMS(ms float64) int64 {
	if !(ms > 0) || ms > float64(1000*time.Hour/time.Millisecond) {
		return 0
	}
	return int64(math.Round(ms * float64(time.Millisecond)))
}
