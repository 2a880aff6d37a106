package measure

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// TestReplicas: the same cell at the same moment on each, added up over the
// union of their windows.
func TestReplicas(t *testing.T) {
	engines := []*engine{newEngine(), newEngine()}
	engines[1].took = func(int) time.Duration { return 150 * time.Millisecond }
	c := only(everyKind(), "replicas")
	job := cellJob(t, load())
	for _, s := range Steps(c) {
		if s.Kind == KindCell && strings.Contains(s.Name, "replicas") {
			job.S = s
		}
	}
	var needs []Need
	synctest.Test(t, func(t *testing.T) {
		d := func(n Need) (Endpoint, error) { needs = append(needs, n); return engines[n.Replica], nil }
		if err := (Cell{Dial: d}).Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	})
	blocks := readCellFile(t, job.Output(evidence.OutCell))
	if len(needs) != 2 || needs[1] != (Need{Candidate: "fp8", Conns: 1, Replica: 1}) || len(blocks) != 2 || blocks[0].head.Replica != 1 || blocks[1].head.Replica != 2 {
		t.Fatalf("%+v", needs)
	}
	if a, b := blocks[0].head, blocks[1].head; a.StartUnixNS != b.StartUnixNS || a.WallNS != 500e6 || b.WallNS != 750e6 || a.Prompts.SHA256 != b.Prompts.SHA256 || a.Kind != "replicas" {
		t.Errorf("%+v\n%+v", a, b)
	}
	s := metricsStep(c, "fp8", "replicas")
	derive := &pintest.Job{S: s, Inputs: map[string][]byte{"c=1-t1": job.Output(evidence.OutCell), "c=1-t1-server": job.Output(evidence.OutScrapes)}}
	if err := (Metrics{}).Run(t.Context(), derive); err != nil {
		t.Fatal(err)
	}
	doc := decoded[evidence.LoadMetrics](t, derive.Output(evidence.OutMetrics))
	// Ten answers of one token over 750 ms.
	if u, c := doc.Unions[0], doc.Cells[0]; u.Alignment != "exact-explicit-common-clock-domain" || u.WallLowMS != 750 || u.Tokens != 10 || c.Concurrency != 1 || c.Attempted != 10 || *c.ThroughputTokS.Value != *u.TokS.Value || c.ClientBound {
		t.Errorf("%+v %+v", u, c)
	}
	engines[1].Answer = func(context.Context, llm.Request) llm.Response {
		return failing(llm.Failure{Class: llm.ClassUnreachable})
	}
	synctest.Test(t, func(t *testing.T) {
		again := &pintest.Job{S: job.S, Inputs: job.Inputs}
		d := func(n Need) (Endpoint, error) { return engines[n.Replica], nil }
		if err := (Cell{Dial: d}).Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), "replica 2") || again.Output(evidence.OutCell) != nil {
			t.Error(err)
		}
	})
}
