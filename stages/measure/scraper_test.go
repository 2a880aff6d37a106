package measure

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// counting is the page of a vLLM whose counters grow with what it answered.
func counting(ep *engine) func() ([]byte, error) {
	return func() ([]byte, error) {
		ep.mu.Lock()
		defer ep.mu.Unlock()
		n := len(ep.asked)
		return fmt.Appendf(nil, "vllm:num_requests_running{model_name=\"m\"} %d\nvllm:generation_tokens_total{model_name=\"m\"} %d\nvllm:prompt_tokens_total{model_name=\"m\"} %d\nvllm:request_success_total{model_name=\"m\",finished_reason=\"stop\"} %d\n", ep.inFlight, n, 10*n, n), nil
	}
}

// TestScrapes: before, each second, after; and what they say is beside the
// client's own numbers.
func TestScrapes(t *testing.T) {
	ep := newEngine()
	ep.Metrics = counting(ep)
	ep.took = func(int) time.Duration { return 700 * time.Millisecond }
	c := only(everyKind(), "capacity") // five requests, one after the other: 3.5 s
	job := cellJob(t, load())
	job.S = Steps(c)[0]
	blocks := measureCell(t, Cell{Dial: dial(ep)}, job)
	if why := blocks[0].head.ServerScrape; why != "" {
		t.Error(why)
	}
	var got []string
	for line := range bytes.Lines(job.Output(evidence.OutScrapes)) {
		r := decoded[evidence.ScrapeRow](t, line)
		got = append(got, fmt.Sprintf("%s %d", r.Phase, r.AtNS/1e6))
	}
	if want := "before 0, during 1000, during 2000, during 3000, after 3500"; strings.Join(got, ", ") != want {
		t.Errorf("%v", got)
	}
	doc := derive(t, c, func() Endpoint { return ep }, nil)
	if s := doc.Cells[0]; *s.UsageRatio.Value != 1 {
		t.Errorf("%+v %v", s.UsageRatio, s.Doubts)
	}
}

// TestScrapeFails: a page that never comes is a reason, in words without an
// address.
func TestScrapeFails(t *testing.T) {
	ep := newEngine()
	ep.Metrics = func() ([]byte, error) { return nil, errors.New("GET http://127.0.0.1:8000/metrics: refused") }
	job := cellJob(t, load())
	job.S = Steps(only(everyKind(), "capacity"))[0]
	b := measureCell(t, Cell{Dial: dial(ep)}, job)[0]
	if why := b.head.ServerScrape; why != "the engine's /metrics could not be read" || len(job.Output(evidence.OutScrapes)) != 0 {
		t.Errorf("%q, %s", why, job.Output(evidence.OutScrapes))
	}
	if len(job.Log) == 0 || !strings.Contains(job.Log[len(job.Log)-1], "refused") {
		t.Errorf("%v", job.Log)
	}
}

// TestSomeScrapesFail: the looks that came count, and the reader is told of the
// others.
func TestSomeScrapesFail(t *testing.T) {
	for name, c := range map[string]struct {
		fails  func(look int) bool
		counts bool // the differences over the cell are known
		says   string
	}{
		"before": {func(n int) bool { return n == 1 }, false, "the engine's metrics before it: the engine's /metrics could not be read"},
		"during": {func(n int) bool { return n == 2 }, true, "the engine's metrics during it: "},
		"after":  {func(n int) bool { return n == 5 }, false, "the engine's metrics after it: "},
	} {
		ep, n := newEngine(), 0
		page := counting(ep)
		ep.took = func(int) time.Duration { return 700 * time.Millisecond }
		ep.Metrics = func() ([]byte, error) {
			if n++; c.fails(n) {
				return nil, errors.New("refused")
			}
			return page()
		}
		cell := derive(t, only(everyKind(), "capacity"), func() Endpoint { return ep }, nil).Cells[0]
		if doubts := strings.Join(cell.Doubts, "\n"); (cell.UsageRatio.Value != nil) != c.counts || strings.Count(doubts, c.says) != 1 {
			t.Errorf("%s: %+v %s", name, cell.UsageRatio, doubts)
		}
	}
}

// TestScrapesOfSeveralModels: of a server of several models ours counts, and
// what could not be read is said.
func TestScrapesOfSeveralModels(t *testing.T) {
	ep := newEngine()
	page := counting(ep)
	ours := "m"
	ep.Metrics = func() ([]byte, error) {
		b, err := page()
		b = append(b, "vllm:generation_tokens_total{model_name=\"other\"} 7\nbroken line here\n"...)
		return bytes.ReplaceAll(b, []byte(`"m"`), []byte(`"`+ours+`"`)), err
	}
	cell := derive(t, only(everyKind(), "capacity"), func() Endpoint { return ep }, nil).Cells[0]
	if v := cell.UsageRatio.Value; v == nil || *v != 1 || !strings.Contains(strings.Join(cell.Doubts, "\n"), "1 lines skipped, the first: line 6") {
		t.Errorf("%+v %q", cell.UsageRatio, cell.Doubts)
	}
	ours = "nobody's"
	if v := derive(t, only(everyKind(), "capacity"), func() Endpoint { return ep }, nil).Cells[0].UsageRatio; v.Value != nil || v.Reason != "several-models" {
		t.Errorf("%+v", v)
	}
}

// TestScrapesOfSeveralBlocks: each probe of a search has its own.
func TestScrapesOfSeveralBlocks(t *testing.T) {
	ep := newEngine()
	ep.Metrics = counting(ep)
	c := only(everyKind(), "search")
	c.Measure["search"].Search.SLO = spec.SLO{E2E: 150}
	doc := derive(t, c, func() Endpoint { return ep }, nil)
	for i, trial := range doc.Cells[0].PerTrial {
		if v := trial.UsageRatio.Value; v == nil || *v != 1 {
			t.Errorf("trial %d: %+v", i, trial.UsageRatio)
		}
	}
	if doc.Cells[0].Trials != 2 {
		t.Errorf("%+v", doc.Cells[0].MaxConcurrency)
	}
}
