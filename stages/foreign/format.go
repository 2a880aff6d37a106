package foreign

import "io"

// Format is one kind of stored output.
type Format struct {
	Name    string
	Doc     string
	Unknown []string // what no file of this format can tell
	Notes   []string // what a reader of the scores should know

	parse   func(row []byte, o Options) ([]Row, error)
	walk    func(r io.Reader, yield func(value []byte) error) (version string, err error) // nil = lines
	element string                                                                        // what a value of the document is called
	archive bool
	empty   error // what a file without rows means, nil = errEmpty
}

// Formats is the table of all readers; documentation is printed from it.
var Formats = []Format{
	{Name: "cupel", Doc: "responses.jsonl of a generate step", parse: parseCupel},
	{Name: "plain", Doc: `lines of {"id", "output"}; finish, repeat, sample, reasoning, tool_calls, model, usage, error and score are read too`, parse: parsePlain},
	{Name: "lm-eval", Doc: "samples_*.jsonl of lm-evaluation-harness, written with --log_samples", parse: parseLMEval,
		Unknown: []string{"which model answered: the results file beside it names it"}},
	{Name: "inspect", Doc: "an .eval log of Inspect, a zip of JSON", archive: true},
	{Name: "inspect-json", Doc: "a .json log of Inspect", parse: parseInspect, walk: walkInspect, element: "sample"},
	{Name: "promptfoo", Doc: "the JSON output of promptfoo eval", parse: parsePromptfoo, walk: walkPromptfoo, element: "result"},
	{Name: "promptfoo-jsonl", Doc: "the JSONL output of promptfoo eval", parse: parsePromptfoo},
	{Name: "openai-batch", Doc: "output or error file of an OpenAI batch", parse: parseBatch},
	{Name: "guidellm", Doc: "a JSON report of GuideLLM that keeps outputs", parse: parseGuideLLM, walk: walkGuideLLM, element: "benchmark", empty: errNoGuideLLM,
		Unknown: []string{"which item a prompt belongs to: ids are GuideLLM's own request ids"}},
}

// Named returns a format of the table.
func named(name string) Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	panic("there is no format " + name)
}
