package llmtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// beat is a piece and when it comes, in ms since the request.
type beat struct {
	at    int
	piece string
}

func at(ms int, pieces ...string) beat { return beat{ms, strings.Join(pieces, "")} }

// timed gives a case its pieces and pauses, and says what the clocks must show.
func timed(h Hostile, want Stamps, beats ...beat) Hostile {
	last := 0
	for _, b := range beats {
		h.Pieces = append(h.Pieces, b.piece)
		h.Pauses = append(h.Pauses, ms(b.at-last))
		last = b.at
	}
	h.Stamps = &want
	return h
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func mss(ns ...int) (out []time.Duration) {
	for _, n := range ns {
		out = append(out, ms(n))
	}
	return out
}

const rolePart = `"role":"assistant"`

// timedCases have stamps that must be exact. The truth of most: "hello " comes
// after 80 ms, "world" after 90.
func timedCases() []Hostile {
	role := func(rest string) string { return ev(chunk(rolePart + rest)) }
	first, second, rest := at(80, say("hello ")), at(90, say("world")), at(95, stop(""), usage(2))
	hello := func(events, end int) Stamps {
		return Stamps{FirstOutput: ms(80), FirstVisible: ms(80), LastOutput: ms(90), End: ms(end), Output: mss(80, 10), Events: events, Content: 2}
	}
	afterRole := func(name, delta string) Hostile {
		return timed(fine(name), hello(5, 120), at(0, head), at(30, role(delta)), first, second, rest, at(120, done))
	}
	reasoned := fine("timed: reasoning first")
	reasoned.Reasoning = "hm ok"
	thought := func(key string) string { return ev(chunk(fmt.Sprintf(key, quote("hm ")))) }
	spelled := fine("timed: reasoning beside its empty spelling")
	spelled.Reasoning = "hm "
	heartbeats := []beat{at(0, head)}
	for i := range 12 {
		heartbeats = append(heartbeats, at(10_000*(i+1), ": keep-alive\n\n"))
	}
	slow := fine("timed: comments through a long prefill")
	return []Hostile{
		afterRole("timed: role-only delta early", `,"content":""`),
		afterRole("timed: null content early", `,"content":null`),
		afterRole("timed: role without content early", ``),
		afterRole("timed: empty channels early", `,"content":"","reasoning_content":"","reasoning":null,"tool_calls":[]`),
		timed(reasoned, Stamps{FirstOutput: ms(20), FirstVisible: ms(80), LastOutput: ms(90), End: ms(120), Output: mss(20, 10, 50, 10), Events: 6, Content: 2, Reasoning: 2},
			at(0, head), at(20, thought(`"reasoning_content":%s`)), at(30, ev(chunk(`"reasoning":"ok"`))), first, second, rest, at(120, done)),
		timed(spelled, Stamps{FirstOutput: ms(20), FirstVisible: ms(80), LastOutput: ms(90), End: ms(120), Output: mss(20, 60, 10), Events: 5, Content: 2, Reasoning: 1},
			at(0, head), at(20, thought(`"reasoning_content":"","reasoning":%s`)), first, second, rest, at(120, done)),
		timed(fine("timed: usage and end long after the last output"), hello(4, 700), at(0, head), first, second, at(95, stop("")), at(500, usage(2)), at(700, done)),
		timed(fine("timed: usage with the last text"), hello(2, 120), at(0, head), first,
			at(90, ev(`{"model":"tiny","choices":[{"index":0,"delta":{"content":"world"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)), at(120, done)),
		timed(fine("timed: slow header"), Stamps{Header: ms(5000), FirstOutput: ms(5080), FirstVisible: ms(5080), LastOutput: ms(5090), End: ms(5120), Output: mss(5080, 10), Events: 4, Content: 2},
			at(5000, head), at(5080, say("hello ")), at(5090, say("world")), at(5095, stop(""), usage(2)), at(5120, done)),
		timed(slow, Stamps{FirstOutput: ms(120_080), FirstVisible: ms(120_080), LastOutput: ms(120_080), End: ms(120_080), Output: mss(120_080, 0), Coalesced: 1, Events: 4, Content: 2},
			append(heartbeats, at(120_080, good()))...),
		timed(fine("timed: two events in one read"), Stamps{FirstOutput: ms(80), FirstVisible: ms(80), LastOutput: ms(80), End: ms(120), Output: mss(80, 0), Coalesced: 1, Events: 4, Content: 2},
			at(0, head), at(80, say("hello "), say("world")), rest, at(120, done)),
		timed(fine("timed: an event in two reads"), hello(4, 120), at(0, head), at(40, say("hello ")[:30]), at(80, say("hello ")[30:]), second, rest, at(120, done)),
		timed(fine("timed: an event's blank line comes later"), hello(4, 120), at(0, head), at(80, strings.TrimSuffix(say("hello "), "\n")), at(90, "\n", say("world")), rest, at(120, done)),
	}
}

// countedCases have as many events as the engine liked, which is not the
// number of its tokens.
func countedCases() []Hostile {
	rest := func(u string) beat {
		return at(200, stop(""), ev(`{"model":"tiny","choices":[],"usage":`+u+`}`), done)
	}
	tokens := func(name string, n int64, text string) Hostile {
		return Hostile{Name: name, Text: text, Finish: "stop", Tokens: n}
	}
	running := func(text string, n int) string {
		return ev(fmt.Sprintf(`{"model":"tiny","choices":[{"index":0,"delta":{"content":%s}}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`, quote(text), n))
	}
	hidden := tokens("timed: hidden reasoning", 62, "hello world")
	hidden.Usage = `{"prompt_tokens":3,"output_tokens":62,"reasoning_tokens":60}`
	call := tokens("timed: a tool call that the server held back", 64, "")
	call.Tools = []llm.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"x"}`}}
	toolFirst := tokens("timed: tool call first", 9, "ok")
	toolFirst.Tools = call.Tools
	held := ev(chunk(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"x\"}"}}]`))
	whole := tokens("timed: one document", 12, "hello world")
	whole.NoStream = true
	return []Hostile{
		timed(tokens("timed: one token", 1, "hi"), Stamps{FirstOutput: ms(80), FirstVisible: ms(80), LastOutput: ms(80), End: ms(200), Output: mss(80), Events: 3, Content: 1},
			at(0, head), at(80, say("hi")), rest(`{"prompt_tokens":3,"completion_tokens":1}`)),
		timed(tokens("timed: three tokens in each event", 9, "a b c d e f g h i"), Stamps{FirstOutput: ms(50), FirstVisible: ms(50), LastOutput: ms(110), End: ms(200), Output: mss(50, 30, 30), Events: 5, Content: 3},
			at(0, head), at(50, say("a b c ")), at(80, say("d e f ")), at(110, say("g h i")), rest(`{"prompt_tokens":3,"completion_tokens":9}`)),
		timed(tokens("timed: five tokens in the first event", 7, "a b c d e f g"), Stamps{FirstOutput: ms(50), FirstVisible: ms(50), LastOutput: ms(60), End: ms(200), Output: mss(50, 5, 5), Events: 5, Content: 3, FirstTokens: 5},
			at(0, head), at(50, running("a b c d e ", 5)), at(55, running("f ", 6)), at(60, running("g", 7)), rest(`{"prompt_tokens":3,"completion_tokens":7}`)),
		timed(call, Stamps{FirstOutput: ms(180), FirstVisible: Never, LastOutput: ms(180), End: ms(200), Output: mss(180), Events: 4}, at(0, head),
			at(30, ev(chunk(rolePart+`,"content":null`))), at(180, held), rest(`{"prompt_tokens":3,"completion_tokens":64}`)),
		timed(toolFirst, Stamps{FirstOutput: ms(50), FirstVisible: ms(90), LastOutput: ms(90), End: ms(200), Output: mss(50, 40), Events: 4, Content: 1},
			at(0, head), at(50, held), at(90, say("ok")), rest(`{"prompt_tokens":3,"completion_tokens":9}`)),
		timed(hidden, Stamps{FirstOutput: ms(180), FirstVisible: ms(180), LastOutput: ms(181), End: ms(200), Output: mss(180, 1), Events: 4, Content: 2},
			at(0, head), at(180, say("hello ")), at(181, say("world")), rest(`{"prompt_tokens":3,"completion_tokens":62,"completion_tokens_details":{"reasoning_tokens":60}}`)),
		timed(whole, Stamps{Header: ms(70), FirstOutput: Never, FirstVisible: Never, LastOutput: Never, End: ms(90), Events: 1},
			at(70, "HTTP/1.1 200 OK\r\n"+jsonType+"\r\n"), at(90, `{"model":"tiny","choices":[{"index":0,"message":{"content":"hello world"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":12}}`)),
	}
}
