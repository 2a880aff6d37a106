package tinyengine

// usage counts as the engine does: the prompt with BOS and tags, the answer
// with its end token.
type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func usageOf(r Result) *usage {
	return &usage{r.PromptTokens, r.CompletionTokens, r.PromptTokens + r.CompletionTokens}
}

// chatResponse is a completion or one chunk of a stream.
type chatResponse struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	System  string   `json:"system_fingerprint"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitzero"`
}

type choice struct {
	Index   int          `json:"index"`
	Message *wireAnswer  `json:"message,omitzero"`
	Delta   *chunkAnswer `json:"delta,omitzero"`
	Finish  *string      `json:"finish_reason"`
}

type wireAnswer struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chunkAnswer struct {
	Role    string `json:"role,omitzero"`
	Content string `json:"content,omitzero"`
}
