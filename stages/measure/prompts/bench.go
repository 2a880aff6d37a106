package prompts

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
)

// BenchItem is one prompt of a bench.
type BenchItem struct {
	Name      string
	Text      string
	MaxTokens int
	Tools     json.RawMessage // nil = none
	Place     string          // whose prompt it is: two places share no tag
}

// BenchWarmup is sent once per candidate, untimed.
var BenchWarmup = BenchItem{Name: "warm-up", Text: "Say hello and count to ten in words.", MaxTokens: 32}

// benchItems have the shape and the size of asiai's prompts: 23 to 40 words,
// the same limits, the same kinds of task.
var benchItems = []BenchItem{
	{Name: "code", MaxTokens: 512, Text: "Write a Python class for a min-heap on a list with the methods push, pop, peek and heapify. " +
		"Give every method type hints and a docstring, and end with three short assertions that show the class at work."},
	{Name: "tool_call", MaxTokens: 256, Text: "Two colleagues are about to leave. Look up the next train from Lyon to Turin and the next one from Graz to Zagreb, " +
		"using the tool you have, once for each journey.", Tools: trainTool},
	{Name: "reasoning", MaxTokens: 384, Text: "A straight path of 84 metres gets a lamp every 6 metres, one at each end. Every third lamp, counted from the first, is blue. " +
		"How many lamps are there, and how many of them are blue? Show your steps."},
	{Name: "long_gen", MaxTokens: 1024, Text: "Write a bash script that sets up a fresh Debian server: updates, a user with sudo, SSH with keys only, a firewall, " +
		"automatic security updates and a nightly backup. Comment every section and stop at the first error."},
}

var trainTool = json.RawMessage(`[{"type":"function","function":{"name":"next_train","description":"Departure of the next direct train between two cities","parameters":{"type":"object","properties":{"from":{"type":"string","description":"City of departure"},"to":{"type":"string","description":"City of arrival"}},"required":["from","to"]}}}]`)

// Bench returns the prompts of those names as place sends them, in order, or all
// four of spec.BenchPrompts if none is named. A name that is not one of them has none.
func Bench(place string, names []string) (out []BenchItem) {
	if len(names) == 0 {
		names = spec.BenchPrompts
	}
	for _, name := range names {
		if i := slices.IndexFunc(benchItems, func(b BenchItem) bool { return b.Name == name }); i >= 0 {
			item := benchItems[i]
			item.Place = place
			out = append(out, item)
		}
	}
	return out
}

// ID names the builder.
func (BenchItem) ID() string { return BenchV1 }

// Build returns the prompt of a run, from 0. A few characters at its head are
// the run's own: asked twice with the same bytes, an engine answers the second
// time from its cache, and the median would be of warm answers.
func (b BenchItem) Build(run int) (Prompt, error) {
	if err := indexed(run); err != nil {
		return Prompt{}, err
	}
	tag := random(key(BenchV1, b.Place, b.Name, run)).Uint32()
	text := fmt.Sprintf("[%08x] %s", tag, b.Text)
	return Prompt{Text: text, Builder: BenchV1, Group: b.Name, Length: countWords(text)}, nil
}
