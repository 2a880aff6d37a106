package foreign

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// lmEvalKnown are the fields of a row that are no metric.
var lmEvalKnown = []string{"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
	"doc_hash", "prompt_hash", "target_hash", "task_name", "idx"}

// parseLMEval reads one row of samples_*.jsonl. Its id is doc_id, the place in
// the task's data set. The harness writes a row for each filter with the same
// responses, and never a finish reason.
func parseLMEval(line []byte, o Options) ([]Row, error) {
	var m map[string]jsontext.Value
	plain, err := decode(line, &m)
	if err != nil {
		return nil, err
	}
	base := Row{notJSON: !plain, Target: m["target"], filter: text(m["filter"])}
	if base.filter == "" {
		base.filter = "none"
	}
	if err := setID(&base, line, o, "doc_id"); err != nil {
		return nil, err
	}
	if base.Theirs, err = lmEvalScores(m, base.filter); err != nil {
		return nil, err
	}
	if o.Filter != "" && base.filter != o.Filter {
		base.OnlyTheirs = true
	}
	responses := m["resps"]
	if o.Filter == base.filter || responses == nil {
		responses = m["filtered_resps"]
	}
	sum := fnv.New64a()
	sum.Write(m["resps"])
	base.sum = sum.Sum64()
	return lmEvalAnswers(base, responses, o)
}

// lmEvalAnswers makes a row of each repeat: resps is a list of requests, each a
// list of repeats.
func lmEvalAnswers(base Row, responses jsontext.Value, o Options) ([]Row, error) {
	repeats, why := lmEvalTexts(responses)
	if why != "" {
		base.Failure = failed(ClassNotText, why)
		return []Row{base}, nil
	}
	rows := make([]Row, len(repeats))
	for i, v := range repeats {
		row := base
		if row.Repeat = i; i > 0 {
			row.Theirs = nil // the harness scores all repeats at once
		}
		row.output(v, nil)
		rows[i] = row
	}
	if o.Filter != "" && len(rows) > 1 && base.filter != o.Filter {
		return rows[:1], nil
	}
	return rows, nil
}

// lmEvalTexts unpacks [request][repeat]text. Multiple choice has a request for
// each choice and (log-likelihood, is it greedy) for each of them.
func lmEvalTexts(v jsontext.Value) (repeats []jsontext.Value, why string) {
	var requests []jsontext.Value
	if _, err := decode(v, &requests); err != nil || len(requests) == 0 {
		return nil, "the row holds no response"
	}
	if len(requests) > 1 {
		return nil, fmt.Sprintf("the row holds %d requests: log-likelihoods or several turns, not one text", len(requests))
	}
	if k := requests[0].Kind(); k != '[' {
		return requests, ""
	}
	if _, err := decode(requests[0], &repeats); err != nil || len(repeats) == 0 {
		return nil, "the row holds no response"
	}
	for _, r := range repeats {
		if k := r.Kind(); k != '"' && k != 'n' {
			return nil, "the response is a log-likelihood, not a text"
		}
	}
	return repeats, ""
}

// lmEvalScores are the metrics that the row names; rows of older versions name
// none, and then every further number is one.
func lmEvalScores(m map[string]jsontext.Value, filter string) ([]Their, error) {
	var metrics []string
	if v := m["metrics"]; v != nil {
		if _, err := decode(v, &metrics); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	} else {
		for _, name := range sortedKeys(m) {
			if k := m[name].Kind(); !slices.Contains(lmEvalKnown, name) && (k == '0' || k == 't' || k == 'f' || k == 'n') {
				metrics = append(metrics, name)
			}
		}
	}
	var out []Their
	for _, name := range metrics {
		v, ok := m[name]
		if !ok {
			return nil, step.WithHint(fmt.Errorf("the row names a metric %q and does not have it", clip(name, 60)), "the row is incomplete")
		}
		out = append(out, theirs(name+","+filter, v)...)
	}
	return out, nil
}
