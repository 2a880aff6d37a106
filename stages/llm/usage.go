package llm

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxCount is the largest count that every JSON reader agrees on.
const maxCount = 1<<53 - 1

// readUsage reads an OpenAI usage object. It returns nil when there is none,
// when any count in it is not a whole number from 0 (then none of it can be
// trusted), and when all are 0, as some servers send in every chunk before the
// last. A partial one is kept.
func readUsage(v jsontext.Value) *Usage {
	if v.Kind() != '{' {
		return nil
	}
	var w struct {
		Prompt     jsontext.Value `json:"prompt_tokens"`
		Completion jsontext.Value `json:"completion_tokens"`
		Reasoning  jsontext.Value `json:"reasoning_tokens"`
		In         jsontext.Value `json:"prompt_tokens_details"`
		Out        jsontext.Value `json:"completion_tokens_details"`
	}
	if json.Unmarshal(v, &w) != nil {
		return nil
	}
	var u Usage
	ok := count(w.Prompt, &u.PromptTokens) && count(w.Completion, &u.OutputTokens) &&
		count(w.Reasoning, &u.ReasoningTokens) &&
		detail(w.Out, "reasoning_tokens", &u.ReasoningTokens) && detail(w.In, "cached_tokens", &u.CachedTokens)
	if !ok || u.zero() {
		return nil
	}
	return &u
}

func (u *Usage) zero() bool {
	for _, n := range []*int64{u.PromptTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens} {
		if n != nil && *n != 0 {
			return false
		}
	}
	return true
}

// count reads an optional token count and reports whether it is a fair one.
func count(v jsontext.Value, to **int64) bool {
	if !present(v) {
		return true
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 || n > maxCount {
		return false
	}
	*to = &n
	return true
}

// detail reads one count of a details object.
func detail(object jsontext.Value, name string, to **int64) bool {
	if !present(object) {
		return true
	}
	var m map[string]jsontext.Value
	if json.Unmarshal(object, &m) != nil {
		return false
	}
	return count(m[name], to)
}
