package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// derive runs all steps of the campaign's candidate fp8 against an endpoint and
// returns what the metrics step makes of them.
func derive(t *testing.T, c *spec.Campaign, ep func() Endpoint, inputs map[string][]byte) evidence.LoadMetrics {
	t.Helper()
	steps := Steps(c)
	last := &pintest.Job{S: steps[len(steps)-1], Inputs: map[string][]byte{}}
	for _, s := range steps[:len(steps)-1] {
		if !slices.ContainsFunc(slices.Collect(maps.Values(last.S.Inputs)), func(in step.Input) bool { return in.Step == s.Name }) {
			continue // another workload's
		}
		job := cellJob(t, load())
		job.S = s
		for name, b := range inputs {
			job.Inputs[name] = b
		}
		synctest.Test(t, func(t *testing.T) {
			all := func(Need) (Endpoint, error) { return ep(), nil }
			if err := (Cell{Dial: all, CPU: func() int64 { return 0 }, open: openInBubble}).Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		})
		for name, in := range last.S.Inputs {
			if in.Step == s.Name {
				last.Inputs[name] = job.Output(in.Output)
			}
		}
	}
	if err := (Metrics{}).Run(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	out := last.Output(evidence.OutMetrics)
	if canon, err := step.Canonical(out); err != nil || !bytes.Equal(canon, out) {
		t.Error("not canonical")
	}
	return decoded[evidence.LoadMetrics](t, out)
}

// only keeps one workload of a campaign, and what it refers to.
func only(c *spec.Campaign, work string) *spec.Campaign {
	w := c.Measure[work]
	kept := map[string]spec.Workload{work: w}
	if w.Replicas != nil {
		under := c.Measure[w.Replicas.Of]
		kept[w.Replicas.Of] = under
	}
	c.Measure = kept
	return c
}

func obeying() Endpoint { return endpoint(obey) }

// TestMetrics: from steps over cell files to the derived document.
func TestMetrics(t *testing.T) {
	under := spec.Capacity{}
	load(func(_ *cellParams, c *spec.Capacity) { under = *c })
	under.Concurrency, under.Requests, under.Warmup, under.Trials = []int{1, 3}, 6, 0, 2
	doc := derive(t, &spec.Campaign{
		Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}},
		Measure:    map[string]spec.Workload{"load": {Kind: "capacity", Capacity: &under}},
	}, obeying, nil)
	if doc.Workload != "load" || doc.Kind != "capacity" || len(doc.Cells) != 2 || doc.Cells[1].Concurrency != 3 || doc.Cells[1].Name != "c=3" || len(doc.Cells[1].PerTrial) != 2 {
		t.Fatalf("%+v", doc)
	}
	// 3 workers: 6 requests in 200 ms, 8 tokens each; twice.
	cell := doc.Cells[1]
	got := []*float64{cell.ThroughputTokS.Value, cell.TTFT.P99, cell.ITL.P50, cell.ClientOverhead.Value, cell.LittleRatio.Value, cell.DriftPct.Value}
	if d := cmp.Diff([]float64{240, 20, 10, 0, 1, 0}, values(got)); d != "" || cell.Attempted != 12 || cell.WallS != 0.4 || cell.ITL.N != 84 {
		t.Errorf("%s: %d attempted in %v s, %d gaps", d, cell.Attempted, cell.WallS, cell.ITL.N)
	}
}

// TestDoubtfulCells: what a hostile endpoint does shows in the metrics, and in
// nothing that it should not.
func TestDoubtfulCells(t *testing.T) {
	half := newEngine()
	answer, n := half.Answer, 0
	half.Answer = func(ctx context.Context, r llm.Request) llm.Response {
		if n++; n%2 == 0 {
			return failing(llm.Failure{Class: llm.ClassInBandError, Message: "out of memory"})
		}
		return answer(ctx, r)
	}
	c := only(everyKind(), "capacity")
	if cell := derive(t, c, func() Endpoint { return half }, nil).Cells[0]; cell.Failures["in-band-error"] != 3 || cell.Completed != 2 || cell.ThroughputTokS.Value != nil || cell.TTFT.N != 2 {
		t.Errorf("%d completed, %v", cell.Completed, cell.Failures)
	}
	thinks := newEngine()
	said := thinks.Answer
	thinks.Answer = func(ctx context.Context, r llm.Request) llm.Response {
		resp := said(ctx, r)
		resp.ReasoningChunks, resp.Reasoning = 3, "hm"
		return resp
	}
	doc := derive(t, c, func() Endpoint { return thinks }, nil)
	if doubts := strings.Join(doc.Cells[0].Doubts, "\n"); doc.Protocol != "capacity-v3" || !strings.Contains(doubts, "reasoning") {
		t.Errorf("%s: %s", doc.Protocol, doubts)
	}
	late := newEngine()
	c.Measure["capacity"].Capacity.Prompt.Tokens, c.Measure["capacity"].Capacity.Prompt.Calibrate = 500, "nominal"
	if doubts := strings.Join(derive(t, c, func() Endpoint { return late }, nil).Cells[0].Doubts, "\n"); !strings.Contains(doubts, "nominal, at 3 characters a token") {
		t.Errorf("%s", doubts)
	}
}

// TestHeadersMakeDoubts: what a client could not do is held against it.
func TestHeadersMakeDoubts(t *testing.T) {
	b := []measured{{head: evidence.CellHeader{Trial: 2, Concurrency: 4, WallNS: 1e9, StalledNS: 50e6, Stalls: 3}}}
	c := noted([]metric.Cell{{}}, b)[0]
	if !c.ClientBound || len(c.Doubts) != 2 {
		t.Errorf("%v %v", c.ClientBound, c.Doubts)
	}
	b[0].head.StalledNS, b[0].head.Stalls = 30e6, 0
	if c := noted([]metric.Cell{{}}, b)[0]; c.ClientBound || c.Doubts != nil {
		t.Errorf("%v %v", c.ClientBound, c.Doubts)
	}
}

// values reads pointers; -1 stands for null.
func values(of []*float64) (out []float64) {
	for _, v := range of {
		if v == nil {
			out = append(out, -1)
			continue
		}
		out = append(out, *v)
	}
	return out
}

const goodCell = `{"kind":"capacity","cell":"c=1","trial":1,"requests":2,"cpu_self_ns":-1,"server_scrape":"none"}` + "\n" + `{"index":1}` + "\n" + `{"index":0}` + "\n"

func TestDamagedCellFile(t *testing.T) {
	c := &spec.Campaign{Candidates: map[string]spec.Candidate{"a": {}}, Measure: map[string]spec.Workload{"load": capacityOf([]int{1}, 1)}}
	s := metricsStep(c, "a", "load")
	look := func(phase string) string { return `{"at_ns":1,"phase":"` + phase + `","body":"x 1\n"}` + "\n" }
	for name, c := range map[string]struct {
		file, scrapes string
		bad           bool
	}{
		"whole":                {goodCell, "", false},
		"a row off":            {goodCell[:len(goodCell)-12], "", true},
		"torn":                 {goodCell[:len(goodCell)-3], "", true},
		"a hole":               {strings.Replace(goodCell, `"index":1`, `"index":2`, 1), "", true},
		"negative":             {strings.Replace(goodCell, `"index":1`, `"index":-1`, 1), "", true},
		"twice":                {strings.Replace(goodCell, `"index":1`, `"index":0`, 1), "", true},
		"one more":             {goodCell + `{"index":2}`, "", true},
		"two blocks":           {goodCell + goodCell, "", true},
		"unknown":              {strings.Replace(goodCell, `"index":1`, `"index":1,"x":1`, 1), "", true},
		"empty":                {"", "", true},
		"too many":             {strings.Replace(goodCell, `"requests":2`, `"requests":2000000000`, 1), "", true},
		"other cell":           {strings.Replace(goodCell, "c=1", "c=2", 1), "", true},
		"other trial":          {strings.Replace(goodCell, `"trial":1`, `"trial":2`, 1), "", true},
		"other kind":           {strings.Replace(goodCell, `"capacity"`, `"decode"`, 1), "", true},
		"looks of no block":    {goodCell, look("before"), true},
		"looks without before": {strings.Replace(goodCell, `"none"`, `""`, 1), look("during"), true},
		"looks":                {strings.Replace(goodCell, `"none"`, `""`, 1), look("before") + look("after"), false},
		"looks of two":         {strings.Replace(goodCell, `"none"`, `""`, 1), look("before") + look("before"), true},
		"a failed look":        {strings.Replace(goodCell, `"none"`, `""`, 1), strings.Replace(look("before"), `x 1\n"`, `","failed":"no"`, 1) + look("during"), false},
		"torn looks":           {strings.Replace(goodCell, `"none"`, `""`, 1), look("before")[:20], true},
	} {
		job := &pintest.Job{S: s, Inputs: map[string][]byte{"c=1-t1": []byte(c.file), "c=1-t1-server": []byte(c.scrapes)}}
		if err := (Metrics{}).Run(t.Context(), job); (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Params = bytes.Replace(s.Params, []byte("capacity-v3"), []byte("capacity-v9"), 1)
	if err := (Metrics{}).Run(t.Context(), &pintest.Job{S: s}); err == nil || !strings.Contains(err.Error(), "capacity-v9") {
		t.Errorf("an unknown protocol: %v", err)
	}
}

// TestRowToRequest: contracts, failures and every number reach the metrics.
func TestRowToRequest(t *testing.T) {
	n := int64(9)
	row := evidence.LoadRow{Planned: 10, Dispatched: 11, Times: llm.Times{Written: 12, FirstOutput: 1, FirstVisible: 2, LastOutput: 3, End: 4}, OutputNS: []int64{1, 1, 0, 1},
		Usage:  &llm.Usage{PromptTokens: &n, CachedTokens: &n, ReasoningTokens: &n, OutputTokens: &n},
		Server: &llm.ServerTimes{PromptEval: 5, Total: 13, Eval: 14}, ContentChunks: 6, ReasonChunks: 7, FirstTokens: 8, AskedTokens: 15, Group: "code", Answer: &evidence.Answer{Passed: true}}
	yes := true
	want := metric.Request{Planned: 10, Dispatched: 11, Written: 12, FirstOutput: 1, FirstVisible: 2, LastOutput: 3, End: 4, Gaps: []int64{1, 0, 1},
		PromptTokens: &n, CachedTokens: &n, ReasoningTokens: &n, OutputTokens: &n,
		ServerTotal: 13, ServerPrefill: 5, ServerDecode: 14, ContentChunks: 6, ReasoningChunks: 7, FirstTokens: 8, AskedPromptTokens: 15, Group: "code", Check: &yes, Eligible: true}
	if d := cmp.Diff(want, request(&row, 9)); d != "" {
		t.Error(d)
	}
	if request(&row, 8).Eligible {
		t.Error("nine tokens are not the eight that were to be decoded")
	}
	for i, bad := range []evidence.LoadRow{{Canary: &evidence.Canary{}}, {Output: &evidence.Output{}}} {
		if request(&bad, 0).Eligible {
			t.Errorf("%d is eligible", i)
		}
	}
	failed := evidence.LoadRow{Failure: &llm.Failure{Class: llm.ClassTimeout}, Times: llm.Times{FirstVisible: -1}, OutputNS: []int64{5}}
	if got := request(&failed, 0); got.FailureClass != "timeout" || got.FirstVisible != -1 {
		t.Error(got)
	}
	calls := evidence.LoadRow{Times: llm.Times{FirstOutput: 5, FirstVisible: -1}, ReasonChunks: 2, OutputNS: []int64{5, 1, 3, 1}}
	if got := request(&calls, 0).FirstVisible; got != 9 {
		t.Errorf("the first tool call came at 9, not %d", got)
	}
}

func decoded[T any](t testing.TB, b []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

// FuzzCellFile: no file breaks the reader, and one that is accepted has each
// row once.
func FuzzCellFile(f *testing.F) {
	f.Add([]byte(goodCell))
	f.Add([]byte(goodCell + goodCell))
	f.Add([]byte(`{"requests":1,"arrivals":{"window_ns":1}}{"index":0,"output_ns":[1,2],"failure":{"class":"x"}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		blocks, err := readBlocks(&pintest.Job{Inputs: map[string][]byte{"c": file}}, "c", 0)
		if err != nil {
			return
		}
		for _, b := range blocks {
			if len(b.trial.Requests) != b.head.Requests {
				t.Fatalf("%d requests of %d", len(b.trial.Requests), b.head.Requests)
			}
		}
	})
}
