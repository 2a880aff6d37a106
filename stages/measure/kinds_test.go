package measure

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// TestDecode: every answer is to be as long as its limit.
func TestDecode(t *testing.T) {
	ep := newEngine()
	ep.words = func(r llm.Request) string { return strings.Repeat("one ", r.Sampling.MaxTokens) }
	c := only(everyKind(), "decode")
	w := c.Measure["decode"].Decode
	w.IgnoreEOS, w.Prompt = true, "Loop {index} for ever"
	cand := c.Candidates["fp8"]
	cand.Sampling.Stop = []string{"two"}
	c.Candidates["fp8"] = cand
	doc := derive(t, c, func() Endpoint { return ep }, nil)
	if cell := doc.Cells[0]; cell.Completed != 2 || *cell.OutputTokens.P50 != 100 || *cell.DecodeTokS.P50 != 1000 || cell.WarmCache || doc.Protocol != "capacity-v4-reasoning" {
		t.Errorf("%+v", cell)
	}
	for i, r := range ep.asked {
		index := []int{2, 0, 1}[i] // the warm-up first
		if r.Sampling.MaxTokens != 100 || !r.IgnoreEOS || r.Sampling.Stop != nil || !regexp.MustCompile(fmt.Sprintf("^[0-9a-f]{16}\nLoop %d for ever$", index)).MatchString(r.Messages[0].Content) {
			t.Errorf("%+v", r)
		}
	}
	same := newEngine()
	w.Prompt, same.words = "Loop", ep.words
	derive(t, c, func() Endpoint { return same }, nil)
	for _, r := range same.asked {
		if r.Messages[0].Content != "Loop" {
			t.Errorf("a prompt without an index is not sent as it stands: %q", r.Messages[0].Content)
		}
	}
	short := newEngine()
	short.words = func(r llm.Request) string { return strings.Repeat("one ", r.Sampling.MaxTokens-1) }
	if cell := derive(t, c, func() Endpoint { return short }, nil).Cells[0]; cell.Failures["contract-failed"] != 2 {
		t.Errorf("%v", cell.Failures)
	}
}

var (
	notes = regexp.MustCompile(`The access code of the (\w+) archive is (\w+)\.`)
	which = regexp.MustCompile(`what is the access code of the (\w+) archive`)
)

// looksUp answers a ladder's question.
func looksUp(r llm.Request) string {
	text := r.Messages[0].Content
	asked := which.FindStringSubmatch(text)
	if asked == nil {
		return "yes"
	}
	for _, m := range notes.FindAllStringSubmatch(text, -1) {
		if m[1] == asked[1] {
			return m[2]
		}
	}
	return "nothing"
}

// TestLadder: each state, with the answer that is right and real lengths.
func TestLadder(t *testing.T) {
	for state, untimed := range map[string]int{"cold": 0, "warm": 1, "prefix-cached": 1} {
		ep := newEngine()
		ep.words = looksUp
		c := only(everyKind(), "ladder")
		c.Measure["ladder"].Ladder.State = state
		doc := derive(t, c, func() Endpoint { return ep }, nil)
		cell := doc.Cells[0]
		if cell.Name != "tokens=512" || cell.Attempted != 3 || *cell.PassRate.Value != 1 || *cell.PromptAccuracy.Min < 0.98 || *cell.PromptAccuracy.Max > 1.02 {
			t.Errorf("%s: %+v", state, cell)
		}
		last := ep.asked[len(ep.asked)-3-untimed:]
		if a, b := last[0].Messages[0].Content, last[len(last)-1].Messages[0].Content; (a[:200] == b[:200]) != (state == "prefix-cached") {
			t.Errorf("%s: the requests begin with\n%q\n%q", state, a[:80], b[:80])
		}
		for i := 1; i < len(ep.at); i++ {
			if ep.at[i].Sub(ep.at[i-1]) < 100*time.Millisecond {
				t.Error("two requests of a ladder at once")
			}
		}
	}
	blind := newEngine()
	if cell := derive(t, only(everyKind(), "ladder"), func() Endpoint { return blind }, nil).Cells[0]; *cell.PassRate.Value != 0 || cell.Completed != 3 {
		t.Errorf("%+v", cell.PassRate)
	}
}

// TestBurst: all at once, and nothing of their prefix before them.
func TestBurst(t *testing.T) {
	ep := newEngine()
	b := must(t)(cellOf(t, only(everyKind(), "burst"), ep))[0]
	if b.head.Cell != "c=6" || b.head.Requests != 6 || b.head.MaxInFlight != 6 || b.head.Loop != "closed" || b.head.Prompts.Distinct != 6 {
		t.Errorf("%+v", b.head)
	}
	n := len(ep.asked) - 6
	prefix := ep.asked[n].Messages[0].Content[:350] // of the 380 characters that 100 tokens have
	for i, r := range ep.asked {
		if strings.HasPrefix(r.Messages[0].Content, prefix) != (i >= n) {
			t.Errorf("request %d of %d, of which 6 are the burst: %q", i, len(ep.asked), r.Messages[0].Content[:40])
		}
	}
	for _, r := range b.rows {
		if r.Dispatched != 0 || *r.Usage.PromptTokens < 196 || *r.Usage.PromptTokens > 204 {
			t.Errorf("%d tokens sent at %d", *r.Usage.PromptTokens, r.Dispatched)
		}
	}
}

// TestBench: each prompt in turn, after one short request.
func TestBench(t *testing.T) {
	ep := newEngine()
	ep.words = func(r llm.Request) string { return strings.Repeat("w ", r.Sampling.MaxTokens) }
	ep.took = func(int) time.Duration { return time.Second }
	doc := derive(t, only(everyKind(), "bench"), func() Endpoint { return ep }, nil)
	var names []string
	for _, c := range doc.Cells {
		names = append(names, c.Name)
	}
	if strings.Join(names, " ") != "code tool_call reasoning long_gen all" || doc.Cells[0].Attempted != 3 || doc.Cells[4].Attempted != 12 || doc.Cells[4].TokPerSec.N != 12 {
		t.Errorf("%v", names)
	}
	if w := ep.asked[0]; w.Sampling.MaxTokens != 32 || len(ep.asked) != 13 {
		t.Errorf("%d sent, the first with %+v", len(ep.asked), w.Sampling)
	}
	for i, r := range ep.asked[1:] {
		if limit := []int{512, 256, 384, 1024}[i%4]; r.Sampling.MaxTokens != limit || r.Sampling.Temperature != 0 || (r.Tools != nil) != (i%4 == 1) {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

// TestLadderStates: a rung that was in another state than its own says so.
func TestLadderStates(t *testing.T) {
	all := func(n int64) int64 { return n - 40 }
	few := func(int64) int64 { return templateOf }
	more := func(int64) int64 { return templateOf + 6 }
	for name, c := range map[string]struct {
		state string
		cache func(int64) int64
		count func(string) (int, error) // nil = by the usage of requests
		wrong bool
		says  string
	}{
		"cold":            {"cold", few, nil, false, ""},
		"cold and known":  {"cold", all, nil, true, "wrong-state: 3 of 3 prompts that were to be new"},
		"cold and more":   {"cold", more, nil, true, "wrong-state: 3 of 3 prompts that were to be new"},
		"warm":            {"warm", few, func(s string) (int, error) { return tokensOf(s), nil }, false, ""},
		"warm and more":   {"warm", more, func(s string) (int, error) { return tokensOf(s), nil }, true, "wrong-state: 3 of 3"},
		"warm and known":  {"warm", all, nil, true, "wrong-state: 3 of 3 prompts that were to be new"},
		"cached":          {"prefix-cached", all, nil, false, ""},
		"cached, unknown": {"prefix-cached", few, nil, true, "wrong-state: 3 of 3 prompts were not prefix-cached"},
		"silent":          {"prefix-cached", nil, nil, false, "nothing confirms"},
	} {
		ep := newEngine()
		ep.words, ep.cache, ep.Count = looksUp, c.cache, c.count
		w := only(everyKind(), "ladder")
		w.Measure["ladder"].Ladder.State = c.state
		cell := derive(t, w, func() Endpoint { return ep }, nil).Cells[0]
		doubts := strings.Join(slices.DeleteFunc(cell.Doubts, func(s string) bool { return strings.HasPrefix(s, "client-unchecked") }), "\n")
		if cell.WrongState != c.wrong || cell.WarmCache || !strings.Contains(doubts, c.says) || (c.says == "") != (doubts == "") {
			t.Errorf("%s: wrong state %v, %s", name, cell.WrongState, doubts)
		}
	}
}

// TestEffectiveContext: an engine that forgets what stands behind 5,000 tokens.
func TestEffectiveContext(t *testing.T) {
	ep := newEngine()
	fact := regexp.MustCompile(`K\d{12}`)
	ep.words = func(r llm.Request) string {
		text := r.Messages[0].Content
		if tokensOf(text) > 5000 {
			return "I do not know"
		}
		return fact.FindString(text)
	}
	c := only(everyKind(), "context")
	w := c.Measure["context"].EffectiveContext
	w.Buckets, w.Cases, w.Concurrency = []int{8192, 4096, 2048}, []string{"native-needle"}, 2
	doc := derive(t, c, func() Endpoint { return ep }, nil)
	if v := doc.Curve.Effective.Value; v == nil || *v < 4014 || *v > 4178 || doc.Curve.Baseline != 2048 || *doc.Curve.FirstDegradation.Value != 8192 || *doc.Cells[0].EffectiveContext.Value != *v {
		t.Fatalf("%+v", doc.Curve)
	}
	for _, p := range doc.Curve.Points {
		if got := *p.PromptTokens.Value / float64(p.Tokens); got < 0.97 || got > 1.02 || p.Attempted != 3 {
			t.Errorf("%+v", p)
		}
	}
}
