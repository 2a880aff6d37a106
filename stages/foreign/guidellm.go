package foreign

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

var errNoGuideLLM = step.WithHint(ErrNoOutputs, "GuideLLM drops requests from its report when it is told to sample none; keep them, or score what its server logged")

// guideBenchmark is one benchmark of a report, as far as it holds requests.
type guideBenchmark struct {
	Requests struct {
		Successful []jsontext.Value `json:"successful"`
		Errored    []jsontext.Value `json:"errored"`
		Incomplete []jsontext.Value `json:"incomplete"`
	} `json:"requests"`
}

type guideRequest struct {
	Output jsontext.Value `json:"output"`
	Info   struct {
		Error jsontext.Value `json:"error"`
	} `json:"info"`
	Error         jsontext.Value `json:"error"`
	PromptTokens  *int64         `json:"prompt_tokens"`
	OutputTokens  *int64         `json:"output_tokens"`
	InputMetrics  guideTokens    `json:"input_metrics"`
	OutputMetrics guideTokens    `json:"output_metrics"`
}

type guideTokens struct {
	Text *int64 `json:"text_tokens"`
}

func walkGuideLLM(r io.Reader, yield func([]byte) error) (version string, err error) {
	err = walk(r, map[string]func(*jsontext.Decoder) error{
		"/benchmarks":                elements(yield),
		"/metadata/guidellm_version": textAt(&version),
	})
	return version, err
}

// parseGuideLLM reads the requests of one benchmark. An incomplete one was cut
// by the end of the benchmark, not by the model.
func parseGuideLLM(raw []byte, o Options) ([]Row, error) {
	var b guideBenchmark
	if _, err := decode(raw, &b); err != nil {
		return nil, err
	}
	var rows []Row
	for _, group := range []struct {
		name string
		list []jsontext.Value
	}{{"successful", b.Requests.Successful}, {"errored", b.Requests.Errored}, {"incomplete", b.Requests.Incomplete}} {
		for i, v := range group.list {
			row, err := guideRow(v, group.name, o)
			if err != nil {
				return nil, fmt.Errorf("%s request %d: %w", group.name, i+1, err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func guideRow(v jsontext.Value, group string, o Options) (Row, error) {
	var g guideRequest
	plain, err := decode(v, &g)
	if err != nil {
		return Row{}, err
	}
	row := Row{notJSON: !plain}
	row.Repeat = RepeatUnknown
	if err := setID(&row, v, o, "request_id"); err != nil {
		return row, err
	}
	counts := openAIUsage{Prompt: g.PromptTokens, Completion: g.OutputTokens, Input: g.InputMetrics.Text, Output: g.OutputMetrics.Text}
	row.Usage = counts.usage()
	switch group {
	case "errored":
		row.Failure = failed(ClassToolError, guideError(g))
	case "incomplete":
		row.Failure = failed(ClassToolError, "the benchmark ended before the answer did")
	default:
		row.output(g.Output, nil)
	}
	return row, nil
}

func guideError(g guideRequest) string {
	for _, v := range []jsontext.Value{g.Error, g.Info.Error} {
		if !isNull(v) {
			return message(v)
		}
	}
	return "the request failed"
}
