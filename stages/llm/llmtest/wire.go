package llmtest

import (
	"fmt"
	"slices"
)

// dialect writes an answer in one of the protocols.
type dialect interface {
	contentType() string
	events() []string
	whole() string
}

type openAIWire struct{ answer }

func (openAIWire) contentType() string { return "text/event-stream" }

func (o openAIWire) chunk(delta, finish string) string {
	return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":%s,\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n",
		quote(o.model), delta, finish)
}

func (o openAIWire) usageDoc() string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, o.prompt, o.tokens(), o.prompt+o.tokens())
}

func (o openAIWire) tool() string {
	return fmt.Sprintf(`"tool_calls":[{"index":0,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]`,
		quote(o.f.Tool.ID), quote(o.f.Tool.Name), quote(o.f.Tool.Arguments))
}

func (o openAIWire) events() []string {
	out := []string{o.chunk(`"role":"assistant","content":""`, "null")}
	if o.f.Reasoning != "" {
		out = append(out, o.chunk(`"reasoning_content":`+quote(o.f.Reasoning), "null"))
	}
	for _, p := range o.pieces {
		out = append(out, o.chunk(`"content":`+quote(p), "null"))
	}
	if o.f.Tool != nil {
		out = append(out, o.chunk(o.tool(), "null"))
	}
	if o.f.InBand {
		at := min(o.f.After, len(out))
		return append(slices.Clone(out[:at]), fmt.Sprintf("data: {\"error\":{\"message\":%s}}\n\n", quote(o.f.Message)))
	}
	out = append(out, o.chunk("", quote(o.finish)))
	if o.usage {
		out = append(out, fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":%s,\"choices\":[],\"usage\":%s}\n\n", quote(o.model), o.usageDoc()))
	}
	if !o.f.NoDone {
		out = append(out, "data: [DONE]\n\n")
	}
	return out
}

func (o openAIWire) whole() string {
	message := `"role":"assistant","content":` + quote(o.text())
	if o.f.Reasoning != "" {
		message += `,"reasoning_content":` + quote(o.f.Reasoning)
	}
	if o.f.Tool != nil {
		message += "," + o.tool()
	}
	usage := ""
	if o.usage {
		usage = `,"usage":` + o.usageDoc()
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","model":%s,"choices":[{"index":0,"message":{%s},"finish_reason":%s}]%s}`,
		quote(o.model), message, quote(o.finish), usage)
}

type ollamaWire struct{ answer }

func (ollamaWire) contentType() string { return "application/x-ndjson" }

func (o ollamaWire) line(message, rest string) string {
	return fmt.Sprintf("{\"model\":%s,\"created_at\":\"2026-01-02T03:04:05Z\",\"message\":{\"role\":\"assistant\",%s},%s}\n", quote(o.model), message, rest)
}

func (o ollamaWire) last() string {
	rest := `"done":true,"done_reason":` + quote(o.finish)
	if !o.f.NoUsage {
		rest += fmt.Sprintf(`,"total_duration":4000000,"load_duration":1000000,"prompt_eval_count":%d,"prompt_eval_duration":1000000,"eval_count":%d,"eval_duration":2000000`,
			o.prompt, o.tokens())
	}
	return rest
}

func (o ollamaWire) tool() string {
	return fmt.Sprintf(`"tool_calls":[{"id":%s,"function":{"index":0,"name":%s,"arguments":%s}}]`, quote(o.f.Tool.ID), quote(o.f.Tool.Name), o.f.Tool.Arguments)
}

func (o ollamaWire) events() []string {
	var out []string
	if o.f.Reasoning != "" {
		out = append(out, o.line(`"content":"","thinking":`+quote(o.f.Reasoning), `"done":false`))
	}
	for _, p := range o.pieces {
		out = append(out, o.line(`"content":`+quote(p), `"done":false`))
	}
	if o.f.Tool != nil {
		out = append(out, o.line(`"content":"",`+o.tool(), `"done":false`))
	}
	if o.f.InBand {
		at := min(o.f.After, len(out))
		return append(slices.Clone(out[:at]), fmt.Sprintf("{\"error\":%s}\n", quote(o.f.Message)))
	}
	if o.f.NoDone {
		return out
	}
	return append(out, o.line(`"content":""`, o.last()))
}

func (o ollamaWire) whole() string {
	message := `"content":` + quote(o.text())
	if o.f.Reasoning != "" {
		message += `,"thinking":` + quote(o.f.Reasoning)
	}
	if o.f.Tool != nil {
		message += "," + o.tool()
	}
	return o.line(message, o.last())
}
