package artifact

import (
	"fmt"
	"math"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/metric"
)

// classTheirs is the failure class of a request that another tool says failed.
const classTheirs = "tool-error"

// Trial reads the rows of a capacity artifact as one run of a cell, so that its
// metrics are derived here and none of its own numbers is taken over. It returns
// the requests in flight as well. A file without rows is an error: there is
// nothing to derive from.
func Trial(content []byte) (t metric.Trial, concurrency int, err error) {
	doc, err := Read(content, Options{})
	if err != nil {
		return t, 0, err
	}
	r := doc.Records[0]
	switch {
	case len(r.Invalid) > 0:
		return t, 0, fmt.Errorf("it is no valid evidence: %s", r.Invalid[0])
	case doc.Format != "anvil/capacity":
		return t, 0, step.WithHint(fmt.Errorf("a file of %s holds no rows that cupel derives load metrics from", doc.Format), "imported are capacity artifacts with request_timings")
	}
	value, _, err := parse(content)
	if err != nil {
		return t, 0, err
	}
	d := node{v: value}
	rows, err := anvilRows(d)
	if err != nil {
		return t, 0, err
	}
	wall := r.Results.WallS
	if len(rows) == 0 || !wall.has() || !r.Workload.Concurrency.has() {
		return t, 0, step.WithHint(fmt.Errorf("it holds no rows, or not the wall time and the concurrency that its numbers rest on"), "artifacts before capacity-v3 hold none: nothing can be derived from them")
	}
	t = metric.Trial{CPUNS: -1, WallNS: int64(math.Round(*wall.Value * 1e9)), Nominal: true, StartUnixNS: startedAt(r)}
	for i := range rows {
		t.Requests = append(t.Requests, rows[i].request())
	}
	for range missing(r, len(rows)) {
		t.Requests = append(t.Requests, metric.Request{Planned: -1, Written: -1, FirstOutput: -1, FirstVisible: -1, LastOutput: -1, End: -1, FailureClass: classTheirs})
	}
	return t, int(*r.Workload.Concurrency.Value), nil
}

// missing is how many requests have no row: they failed.
func missing(r *Record, rows int) int {
	if !r.Workload.Requests.has() {
		return 0
	}
	return max(int(min(*r.Workload.Requests.Value, 10_000))-rows, 0)
}

func startedAt(r *Record) int64 {
	if s := r.Provenance.StartedAt.Value; s != nil {
		if t, err := time.Parse(time.RFC3339, *s); err == nil {
			return t.UnixNano()
		}
	}
	return 0
}

// request is a row in nanoseconds.
func (r *anvilRow) request() metric.Request {
	return metric.Request{
		Planned: -1, Written: -1, FirstOutput: ns(r.ttfo), FirstVisible: ns(r.ttft), LastOutput: -1, End: ns(r.e2e),
		PromptTokens: whole(r.prompt), OutputTokens: whole(r.output), ContentChunks: small(r.content), ReasoningChunks: small(r.reason), Eligible: true,
	}
}

func ns(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

func whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(*v)
	return &n
}

func small(v *float64) int {
	if v == nil || *v < 0 || *v > 1e9 {
		return 0
	}
	return int(*v)
}
