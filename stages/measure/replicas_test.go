package measure

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
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

// TestUnions: one by cell and trial, named after both; what one replica's engine
// says of it marks the cell.
func TestUnions(t *testing.T) {
	campaign := func() *spec.Campaign {
		c := only(everyKind(), "replicas")
		c.Measure["capacity"] = capacityOf([]int{1, 2}, 2)
		return c
	}
	twice := func(e *engine) func() ([]byte, error) {
		page := counting(e)
		return func() ([]byte, error) {
			b, err := page()
			return fmt.Appendf(bytes.ReplaceAll(b, []byte("vllm:generation_"), []byte("none_")), "vllm:generation_tokens_total{model_name=\"m\"} %d\n", 2*len(e.Sent())), err
		}
	}
	warm := func(e *engine) func() ([]byte, error) {
		page := counting(e)
		return func() ([]byte, error) {
			b, err := page()
			n := len(e.Sent())
			return fmt.Appendf(b, "vllm:prefix_cache_queries_total{model_name=\"m\"} %d\nvllm:prefix_cache_hits_total{model_name=\"m\"} %d\n", 1000*n, 15*n), err
		}
	}
	half := func(e *engine) func() ([]byte, error) {
		answer, n := e.Answer, atomic.Int64{}
		e.Answer = func(ctx context.Context, r llm.Request) llm.Response {
			resp := answer(ctx, r)
			if n.Add(1) == 3 {
				resp.Usage.OutputTokens = nil
			}
			return resp
		}
		return counting(e)
	}
	for name, c := range map[string]struct {
		second      func(*engine) func() ([]byte, error)
		usage, warm bool
		unions      int
		says        string
	}{
		"fine":       {counting, false, false, 4, ""},
		"usage":      {twice, true, false, 4, "replica 2: usage-off: the client counted "},
		"warm":       {warm, false, true, 4, "replica 2: warm-cache: 1.5 % of its prompt tokens"},
		"not a word": {half, false, false, 3, "trial 1 has no union: replica 2: the engine did not count the output tokens of request"},
	} {
		engines := []*engine{newEngine(), newEngine()}
		engines[0].Metrics, engines[1].Metrics = counting(engines[0]), c.second(engines[1])
		n := 0
		ep := func() Endpoint { n++; return engines[(n-1)%2] }
		cells := 0
		work := campaign()
		for range work.Measure["capacity"].Capacity.Concurrency {
			cells += work.Measure["capacity"].Capacity.Trials
		}
		doc := derive(t, work, ep, nil)
		var got []string
		for _, u := range doc.Unions {
			got = append(got, fmt.Sprintf("%s-t%d", u.Cell, u.Trial))
		}
		if len(doc.Cells) != 2 || len(got) != c.unions || c.unions == cells && strings.Join(got, " ") != "c=1-t1 c=1-t2 c=2-t1 c=2-t2" {
			t.Errorf("%s: %d cells, unions %v", name, len(doc.Cells), got)
		}
		usage, warm, doubts := false, false, ""
		for _, cell := range doc.Cells {
			usage, warm, doubts = usage || cell.UsageOff, warm || cell.WarmCache, doubts+strings.Join(cell.Doubts, "\n")+"\n"
			if (cell.ThroughputTokS.Value == nil) != strings.Contains(strings.Join(cell.Doubts, "\n"), "has no union") || cell.StartedUnixS == 0 || len(cell.PerTrial) != 2 {
				t.Errorf("%s: %s: %+v, %d trials", name, cell.Name, cell.ThroughputTokS, len(cell.PerTrial))
			}
		}
		if usage != c.usage || warm != c.warm || !strings.Contains(doubts, c.says) {
			t.Errorf("%s: usage %v, warm %v: %s", name, usage, warm, doubts)
		}
	}
}
