package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// completionChunk is one event of a completions stream, or the whole answer.
type completionChunk struct {
	openAIHead `json:",inline"`
	Choices    []completionChoice `json:"choices"`
}

type completionChoice struct {
	Index        int64          `json:"index"`
	Text         string         `json:"text"`
	FinishReason string         `json:"finish_reason"`
	Logprobs     jsontext.Value `json:"logprobs"`
}

// completion reads an event of the completions API. Ollama sends a usage of
// zeros in every event before the last, which counts as none.
func (d *decoding) completion(payload []byte, e event) error {
	var c completionChunk
	if err := json.Unmarshal(payload, &c); err != nil {
		return err
	}
	if !d.begin(&c.openAIHead, payload) {
		return nil
	}
	first := d.resp.Times.FirstOutput == never
	for i := range c.Choices {
		if o := &c.Choices[i]; o.Index == 0 {
			d.output(o.Text, "", false, e)
			d.resp.Logprobs = appendLogprobs(d.resp.Logprobs, o.Logprobs)
			d.finish(o.FinishReason)
		}
	}
	d.conclude(&c.openAIHead, first, e)
	return nil
}
