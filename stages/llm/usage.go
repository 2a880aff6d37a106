package llm

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxCount is the largest count that every JSON reader agrees on.
const maxCount = 1<<53 - 1

// usageNames are the names of the counts in a usage object.
type usageNames struct{ prompt, output, promptDetails, outputDetails string }

var (
	chatNames      = usageNames{"prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"}
	responsesNames = usageNames{"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"}
)

// readUsage reads the usage object of the chat and completions APIs. Some
// servers tell the reasoning tokens beside the others (SGLang), some among the
// details.
func readUsage(v jsontext.Value) *Usage { return usageOf(v, chatNames) }

// usageOf returns nil when there is no usage, when any count in it is not a
// whole number from 0 (then none of it can be trusted), and when all are 0, as
// some servers send in every chunk before the last. A partial one is kept.
func usageOf(v jsontext.Value, n usageNames) *Usage {
	if v.Kind() != '{' {
		return nil
	}
	var m map[string]jsontext.Value
	if json.Unmarshal(v, &m) != nil {
		return nil
	}
	var u Usage
	ok := count(m[n.prompt], &u.PromptTokens) && count(m[n.output], &u.OutputTokens) &&
		count(m["reasoning_tokens"], &u.ReasoningTokens) &&
		detail(m[n.outputDetails], "reasoning_tokens", &u.ReasoningTokens) && detail(m[n.promptDetails], "cached_tokens", &u.CachedTokens)
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
