package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// load is a capacity cell of ten requests by three clients.
func load(change ...func(*cellParams, *spec.Capacity)) cellParams {
	c := &spec.Capacity{Protocol: "capacity-v3", Requests: 10, Warmup: 4,
		Prompt: spec.CapacityPrompt{Tokens: 40, Cache: "unique", Canary: true, Calibrate: "nominal"},
		Output: spec.CapacityOutput{Words: 8, Policy: "strict"}}
	p := cellParams{Cell: "c=3", Concurrency: 3, Workload: spec.Workload{Kind: "capacity", Capacity: c}, Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}
	for _, f := range change {
		f(&p, c)
	}
	return p
}

func cellJob(t testing.TB, p cellParams) *pintest.Job {
	t.Helper()
	doc, err := json.Marshal(evidence.PinDoc{Observed: me})
	if err != nil {
		t.Fatal(err)
	}
	s := step.Step{Name: evidence.CellStep("fp8", "load", p.Cell, 1), Where: "fp8", Trial: 1, Params: plain(p), Hints: plain(cellHints{Order: 5})}
	return &pintest.Job{S: s, Inputs: map[string][]byte{pin.Input: doc}}
}

// measureCell runs a cell in a bubble of its own and returns its blocks.
func measureCell(t *testing.T, c Cell, job *pintest.Job) []cellBlock {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if err := c.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	})
	return readCellFile(t, job.Output(evidence.OutCell))
}

var markers = regexp.MustCompile(`REQ-[0-9]{4,}\b`)

// obey answers as the default template asks, after a tenth of a second.
func obey(ctx context.Context, r llm.Request) llm.Response {
	select {
	case <-time.After(100 * time.Millisecond): // of the bubble's clock
	case <-ctx.Done():
		return failing(llm.Failure{Class: llm.ClassCanceled})
	}
	text := r.Messages[0].Content
	words := text[strings.LastIndex(text, ": ")+2:]
	n, p := int64(8), int64(50)
	return llm.Response{Text: markers.FindString(text) + " " + words, FinishReason: "stop", Usage: &llm.Usage{OutputTokens: &n, PromptTokens: &p},
		Times: llm.Times{FirstOutput: 20e6, FirstVisible: 20e6, LastOutput: 90e6, End: 100e6}, ContentChunks: 8,
		OutputNS: []int64{20e6, 10e6, 10e6, 10e6, 10e6, 10e6, 10e6, 10e6}}
}

// cellBlock is a block as it stands in a cell file.
type cellBlock struct {
	head evidence.CellHeader
	rows []evidence.LoadRow
}

func readCellFile(t testing.TB, b []byte) (out []cellBlock) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	for dec.More() {
		var one cellBlock
		if err := dec.Decode(&one.head); err != nil {
			t.Fatal(err)
		}
		one.rows = make([]evidence.LoadRow, one.head.Requests)
		for i := range one.rows {
			if err := dec.Decode(&one.rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(one.rows, func(a, b evidence.LoadRow) int { return a.Index - b.Index })
		out = append(out, one)
	}
	return out
}

// TestCell: ten requests of 100 ms by three workers take 400 ms; the warm-up
// is outside.
func TestCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ep, job := endpoint(obey), cellJob(t, load(func(_ *cellParams, c *spec.Capacity) { c.CoolDown = "3s" }))
		cpu := atomic.Int64{}
		began := time.Now()
		check := func(_ context.Context, n int) (*metric.SelfCheck, error) {
			if at := time.Since(began); at != 3200*time.Millisecond || n != 3 {
				t.Errorf("self-check of %d streams after %s", n, at)
			}
			return &metric.SelfCheck{Concurrency: n}, nil
		}
		c := Cell{Dial: dial(ep), CPU: func() int64 { return cpu.Add(7e6) }, SelfCheck: check, Attempt: func() string { return "7" }}
		if err := c.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		blocks := readCellFile(t, job.Output(evidence.OutCell))
		want := evidence.CellHeader{Kind: "capacity", Cell: "c=3", Model: "m", Loop: "closed", Concurrency: 3, Trial: 1, Order: 5,
			Requests: 10, StartUnixNS: began.UnixNano() + 3200e6, WallNS: 400e6, CPUSelfNS: 7e6, MaxInFlight: 3, InFlightNS: 1000e6,
			SelfCheck: &metric.SelfCheck{Concurrency: 3}, Pulse: &metric.Pulse{Ticks: 80}, ServerScrape: "the engine has no /metrics",
			Prompts: evidence.PromptSet{Attempt: "7", Builder: "cupel/words-v1", Distinct: 10, CharsPerToken: 3, CalibratedBy: "nominal"}}
		got := blocks[0].head
		if got.Prompts.SHA256.IsZero() {
			t.Error("the prompts have no digest")
		}
		got.Prompts.SHA256 = step.Digest{}
		if d := cmp.Diff(want, got); d != "" || len(blocks) != 1 {
			t.Error(d)
		}
		if len(ep.Sent()) != 14 || !slices.Equal(ep.Warmed, []int{3}) || ep.Closed != 1 {
			t.Errorf("%d sent, warmed %v, closed %d", len(ep.Sent()), ep.Warmed, ep.Closed)
		}
		if sent := ep.Sent(); len(slices.Compact(slices.SortedFunc(slices.Values(sent), func(a, b step.Digest) int { return bytes.Compare(a[:], b[:]) }))) != 14 {
			t.Error("a warm-up request has the prompt of a timed one")
		}
		for i, r := range blocks[0].rows {
			if r.Index != i || r.Planned != -1 || r.Dispatched != int64(i/3)*100e6 || !r.Canary.Passed || !r.Output.Passed || r.Output.Got != 8 || r.Failure != nil || r.PromptWords == 0 || r.ContentChunks != 8 {
				t.Errorf("row %d: %+v %+v %+v", i, r, r.Canary, r.Output)
			}
		}
		if len(job.Lines) != 0 {
			t.Errorf("%d journal lines", len(job.Lines))
		}
	})
}

// TestCellRefills: a slow request holds up its own worker only, and its row
// comes when it ends. Either of the two that are sent first may be the slow one.
func TestCellRefills(t *testing.T) {
	n, slow := atomic.Int64{}, ""
	ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		if n.Add(1) == 1 {
			slow = markers.FindString(r.Messages[0].Content)
			time.Sleep(250 * time.Millisecond) // of the bubble's clock
		}
		return obey(ctx, r)
	})
	job := cellJob(t, load(func(p *cellParams, c *spec.Capacity) { p.Concurrency, c.Requests, c.Warmup = 2, 6, 0 }))
	if got := measureCell(t, Cell{Dial: dial(ep)}, job)[0].head; got.WallNS != 450e6 || got.MaxInFlight != 2 {
		t.Errorf("%+v", got)
	}
	if lines := bytes.Split(job.Output(evidence.OutCell), []byte("\n")); slow == "" || !bytes.Contains(lines[4], []byte(`"marker":"`+slow+`"`)) {
		t.Errorf("rows are not in the order in which requests ended: %s ended fourth, and the row is %s", slow, lines[4])
	}
}

// TestCellFailures are rows, each once, unless nothing succeeds.
func TestCellFailures(t *testing.T) {
	some := func(class llm.Class, which func(i int64) bool) *pintest.Endpoint {
		n := atomic.Int64{}
		return endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			if which(n.Add(1)) {
				return failing(llm.Failure{Class: class, Message: "said", NoByte: true})
			}
			return obey(ctx, r)
		})
	}
	all := func(int64) bool { return true }
	for name, c := range map[string]struct {
		ep     *pintest.Endpoint
		failed int
		err    error
	}{
		"one refused":       {some(llm.ClassUnreachable, func(i int64) bool { return i == 3 }), 1, nil},
		"all but one":       {some(llm.ClassTimeout, func(i int64) bool { return i != 9 }), 9, nil},
		"nothing there":     {some(llm.ClassUnreachable, all), 0, step.ErrUnreachable},
		"overloaded":        {some(llm.ClassOverload, all), 0, step.ErrOutside},
		"rejects all of it": {some(llm.ClassRejected, all), 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := cellJob(t, load(func(_ *cellParams, c *spec.Capacity) { c.Warmup = 0 }))
				err := Cell{Dial: dial(c.ep)}.Run(t.Context(), job)
				if !errors.Is(err, c.err) || len(c.ep.Sent()) != 10 {
					t.Fatalf("%v, %d sent", err, len(c.ep.Sent()))
				}
				if c.err != nil {
					if job.Output(evidence.OutCell) != nil || !strings.Contains(err.Error(), "said") {
						t.Error(err)
					}
					return
				}
				failed := 0
				for _, r := range readCellFile(t, job.Output(evidence.OutCell))[0].rows {
					if r.Failure != nil {
						failed++
						if (r.Failure.Message == "") != r.Failure.Class.Outside() {
							t.Errorf("%+v: what the client says names addresses, what the endpoint says does not", r.Failure)
						}
						if r.Canary != nil || r.Output != nil {
							t.Errorf("a failed request broke a contract: %+v", r)
						}
					}
				}
				if failed != c.failed {
					t.Errorf("%d rows failed, want %d", failed, c.failed)
				}
			})
		})
	}
}

// TestCellStops: a cell that was stopped leaves nothing, and is measured again
// from its beginning.
func TestCellStops(t *testing.T) {
	job := cellJob(t, load())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(250*time.Millisecond, cancel)
		began := time.Now()
		err := Cell{Dial: dial(endpoint(obey))}.Run(ctx, job)
		if !errors.Is(err, context.Canceled) || job.Output(evidence.OutCell) != nil || time.Since(began) != 250*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	again, ep := &pintest.Job{S: job.S, Inputs: job.Inputs, Lines: job.Lines}, endpoint(obey)
	if b := measureCell(t, Cell{Dial: dial(ep)}, again)[0]; len(ep.Sent()) != 14 || len(b.rows) != 10 {
		t.Errorf("%d sent, %d rows", len(ep.Sent()), len(b.rows))
	}
}

func TestCellDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ep, job := endpoint(obey), cellJob(t, load())
		ep.IDs = []llm.Identity{me, {Served: "other"}}
		var drift *step.Drift
		if err := (Cell{Dial: dial(ep)}).Run(t.Context(), job); !errors.As(err, &drift) || job.Output(evidence.OutCell) == nil {
			t.Errorf("%v", err)
		}
	})
}

func TestCellParams(t *testing.T) {
	for name, change := range map[string]func(*cellParams, *spec.Capacity){
		"protocol": func(p *cellParams, _ *spec.Capacity) {
			p.Workload = spec.Workload{Kind: "search", Search: &spec.Search{Protocol: "capacity-v2", Over: "concurrency", Low: 1, High: 2, Requests: 1}}
		},
		"requests": func(_ *cellParams, c *spec.Capacity) { c.Requests = 0 },
		"workers":  func(p *cellParams, _ *spec.Capacity) { p.Concurrency = 0 },
		"template": func(_ *cellParams, c *spec.Capacity) { c.Prompt.Template = "no canary" },
		"timeout":  func(_ *cellParams, c *spec.Capacity) { c.Timeout = "-1s" },
		"coolDown": func(_ *cellParams, c *spec.Capacity) { c.CoolDown = "soon" },
		"kind": func(p *cellParams, _ *spec.Capacity) {
			p.Workload = spec.Workload{Kind: "energy", Energy: &spec.Energy{}}
		},
	} {
		ep := endpoint(obey)
		if err := (Cell{Dial: dial(ep)}).Run(t.Context(), cellJob(t, load(change))); err == nil || len(ep.Sent()) != 0 {
			t.Errorf("%s: %v, %d sent", name, err, len(ep.Sent()))
		}
	}
	warm := endpoint(obey)
	warm.WarmErr = step.ErrUnreachable
	cold := func(_ *cellParams, c *spec.Capacity) { c.Warmup = 0 }
	if err := (Cell{Dial: dial(warm)}).Run(t.Context(), cellJob(t, load(cold))); !errors.Is(err, step.ErrUnreachable) || len(warm.Sent()) != 0 {
		t.Error(err)
	}
	blind := Cell{Dial: dial(endpoint(obey)), SelfCheck: func(context.Context, int) (*metric.SelfCheck, error) { return nil, errors.New("no port") }}
	if err := blind.Run(t.Context(), cellJob(t, load())); err == nil || !strings.Contains(err.Error(), "no port") {
		t.Error(err)
	}
}

// TestReasoningControl reaches every request.
func TestReasoningControl(t *testing.T) {
	for control, want := range map[string]string{"effort-high": "effort-high", "none": ""} {
		ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			if r.Reasoning != want || r.Sampling.MaxTokens != 164 {
				t.Errorf("%q was sent with %d tokens", r.Reasoning, r.Sampling.MaxTokens)
			}
			return obey(ctx, r)
		})
		measureCell(t, Cell{Dial: dial(ep)}, cellJob(t, load(func(p *cellParams, _ *spec.Capacity) {
			p.Reasoning = &spec.Reasoning{Control: control, HeadroomTokens: 100}
		})))
	}
}

func TestUsedCPU(t *testing.T) {
	if used(-1, 5) != -1 || used(5, -1) != -1 || used(5, 9) != 4 {
		t.Error("unknown CPU time must stay unknown")
	}
}
