package research

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// fakeJob has parameters and keeps one output.
type fakeJob struct {
	step.Job
	params []byte
	out    bytes.Buffer
}

func (j *fakeJob) Params(v any) error                            { return json.Unmarshal(j.params, v) }
func (j *fakeJob) Logf(string, ...any)                           {}
func (j *fakeJob) Create(string, string) (io.WriteCloser, error) { return nopCloser{&j.out}, nil }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func campaign() *spec.Campaign {
	snap := &spec.File{Digest: step.Digest{7}}
	return &spec.Campaign{
		Candidates: map[string]spec.Candidate{"base": {Role: "baseline"}, "a": {Role: "candidate"}, "b": {Role: "candidate"}},
		Measure: map[string]spec.Workload{
			"load": {Kind: "capacity", Capacity: &spec.Capacity{Concurrency: []int{1, 4}}},
			"qa":   {Kind: "quality", Quality: &spec.Quality{}},
		},
		Research: &spec.Research{ObservedOn: "2026-11-20", Shortlist: []string{"a"}, Sources: []spec.Source{
			{ID: "z-first", Kind: "model-card", PublishedOn: "2026-11-01", Snapshot: snap, Claims: []spec.Claim{{Candidate: "a", Metric: "context.advertised", Value: 1}}},
			{ID: "aging", Kind: "advisory", PublishedOn: "2026-09-01", Snapshot: snap, Claims: []spec.Claim{
				{Candidate: "a", Metric: "ttft_ms.p50", Value: 1, Unit: "furlongs", Workload: "load", Cell: "c=1"},
			}},
		}},
	}
}

func TestStep(t *testing.T) {
	if Steps(&spec.Campaign{}) != nil {
		t.Error("a step without research")
	}
	s := Steps(campaign())
	if len(s) != 1 || !s[0].Pure || s[0].Name != evidence.ResearchStep || len(s[0].Inputs) != 0 {
		t.Fatalf("%+v", s)
	}
	var outs [2]string
	for i := range outs {
		j := &fakeJob{params: s[0].Params}
		if err := Run(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		outs[i] = j.out.String()
	}
	if outs[0] != outs[1] {
		t.Error("the same parameters gave two documents")
	}
	var r evidence.Research
	if err := json.Unmarshal([]byte(outs[0]), &r); err != nil {
		t.Fatal(err)
	}
	// The order of the campaign, not of the ids.
	if r.Sources[0].ID != "z-first" || r.Sources[0].Role != evidence.Primary || r.Sources[0].Claims[0].Label != evidence.ExternalPrior || *r.Sources[0].Snapshot != (step.Digest{7}) {
		t.Errorf("%+v", r.Sources[0])
	}
	other := campaign()
	other.Research.Sources[0].Snapshot = &spec.File{Digest: step.Digest{8}}
	if bytes.Equal(Steps(other)[0].Params, s[0].Params) {
		t.Error("another snapshot has the same parameters")
	}
}

func TestCheck(t *testing.T) {
	c := campaign()
	if got := Check(c); got != nil {
		t.Errorf("%+v", got)
	}
	c.Research.Sources[1].Claims = []spec.Claim{{Workload: "load", Cell: "c=2"}, {Workload: "qa", Cell: "c=1"}, {Workload: "load"}}
	got := Check(c)
	if len(got) != 2 || got[0].Hint != "it has c=1, c=4" || !strings.Contains(got[1].Hint, "no serving workload") {
		t.Errorf("%+v", got)
	}
}

func TestCheckRefusesLessThanNothing(t *testing.T) {
	c := campaign()
	for metric, want := range map[string]bool{"ttft_ms.p50": true, "throughput_tok_s": true, "context.served": true, "request_rate": true, "failure_rate": true,
		"cost.per_1k_items": false, "gpu_hours": true, "drift_pct": false, "mean": false, "elo": false} {
		c.Research.Sources[1].Claims = []spec.Claim{{Metric: metric, Value: -5}, {Metric: metric, Value: 0}}
		got := Check(c)
		if want != (len(got) == 1 && got[0].Field == "value" && got[0].Msg == `found -5, and "`+metric+`" is never below 0`) || !want && got != nil {
			t.Errorf("%s: %+v", metric, got)
		}
	}
}

func TestWarnings(t *testing.T) {
	got := strings.Join(Warnings(campaign()), "\n")
	for _, want := range []string{"source aging is aging: 80 days old", "source aging is a lead only: an advisory is a fit estimate", `claims ttft_ms.p50 in "furlongs"`, "candidate b is measured and not on the shortlist"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "z-first") {
		t.Errorf("a current primary source is warned of:\n%s", got)
	}
	if Warnings(&spec.Campaign{}) != nil {
		t.Error("warnings without research")
	}
}
